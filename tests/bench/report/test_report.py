from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from understudy.bench.report import html_report
from understudy.bench.report.charts import Bar, panel

NASTY = "<script>alert('x')</script>&\"quoted\""


def row(agent: str, condition: str, metric: str, value: float | None, **more: Any) -> dict[str, Any]:
    spread = {"low": None, "high": None} if value is None else {"low": value - 0.05, "high": value + 0.05}
    return {"agent": agent, "condition": condition, "split": "valid", "trained_on": None, "metric": metric,
            "value": value, **spread, "n": 7801, "paper": None} | more  # fmt: skip


def document(**more: Any) -> dict[str, Any]:
    return {
        "rows": [
            row("tfidf", "none", "hits@1", 0.259, paper=0.214),
            row("tfidf", "none", "mrr", 0.374),
            row(NASTY, "none", "hits@1", 0.1, judged_by="its reply", trained_on="revised"),
            row(NASTY, "none", "mrr", None, low=None, reason="it had none"),
        ],
        "comparisons": [
            {"condition": "none", "metric": "hits@1", "agents": ["tfidf", NASTY], "difference": 0.159,
             "low": 0.1, "high": 0.2, "p_value": 0.0001, "p_adjusted": 0.0002, "n": 7801},
        ],
        "mistakes": [
            {"agent": "tfidf", "condition": "none", "item": "1.2", "persona": [NASTY], "partner": [], "speaker": "B",
             "history": [["A", NASTY], ["B", "well"]], "gold": NASTY, "gold_score": 0.0, "gold_rank": 20,
             "chosen": "no", "chosen_score": 0.66825, "candidates": 20},
        ],
        "manifest": {"bench": "personachat", "version": "9.9", "seed": 3, "data": {"valid.txt": "abc123"},
                     "settings": {"split": "valid", "paper": "test split, full training data"}},
    } | more  # fmt: skip


class Tags(HTMLParser):
    """Checks that what is opened is closed, and gathers tags and attributes."""

    EMPTY = frozenset({"meta", "br", "rect", "path"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in self.EMPTY or (tag in ("rect", "path") and not (self.get_starttag_text() or "").endswith("/>")):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def parsed(html: str) -> Tags:
    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    return tags


def test_one_file_that_asks_nothing_of_anybody() -> None:
    html = html_report(document(), "A title")
    tags = parsed(html)
    assert not {"script", "link", "img", "iframe"} & {tag for tag, _ in tags.seen}
    assert not [attrs for _, attrs in tags.seen if {"src", "href"} & set(attrs)]
    assert not re.search(r"https?:|url\(|@import", html)
    assert any(tag == "svg" for tag, _ in tags.seen)
    assert "prefers-color-scheme: dark" in html
    assert 'name="viewport"' in html


def test_figures_significance_mistakes_and_manifest_are_there() -> None:
    html = html_report(document(), "A title")
    for text in ("0.2590", "0.2140", "0.2090", "+0.1590", "&lt; 0.001", "differ", "20 of 20", "0.6683", "abc123"):
        assert text in html, text
    for text in ("test split, full training data", "trained on revised", "its reply", "7,801", "valid split"):
        assert text in html, text


def test_text_from_data_is_escaped_everywhere() -> None:
    html = html_report(document(), NASTY)
    assert "<script" not in html
    assert html.count("&lt;script&gt;") >= 7
    parsed(html)


def test_families_of_metrics_have_tables_of_their_own_without_those_who_have_no_figure() -> None:
    rows = [
        row("seq2seq", "none", "hits@1", 0.08, paper=0.092),
        row("seq2seq", "none", "perplexity", 41.2, paper=38.08),
        row("tfidf", "none", "hits@1", 0.259, paper=0.214),
        row("tfidf", "none", "perplexity", None, reason="no log-probabilities"),
        row("tfidf", "none", "bleu", None, reason="no replies"),
    ]
    html = html_report(document(rows=rows), "A title")
    parsed(html)
    assert "paper 38.08" in html
    assert "paper 0.2140" not in html  # ranking has a column for it
    assert "0.2140" in html
    assert "tfidf: no log-probabilities" in html
    assert "<th class=number>bleu" not in html  # nobody has it


def test_what_only_the_paper_tells_has_its_place() -> None:
    rows = [
        row("ours", "none", "perplexity", 41.2),
        row("GPT-2", "scene", "perplexity", None, paper=18.3, reason="told by the paper"),
        row("GPT-2", "scene", "dist-1", None, paper=0.0986, reason="told by the paper"),
        row("GPT-2", "scene", "fluency", None, paper=3.34, reason="told by the paper"),
        row("GPT-2", "scene", "relevance_scene", None, paper=1.68, reason="told by the paper"),
    ]
    html = html_report(document(rows=rows), "A title")
    parsed(html)
    for figure in ("18.30", "0.0986", "3.3400", "1.6800"):
        assert f"paper {figure}" in html


def test_replies_and_prompts_have_sections_of_their_own() -> None:
    samples = [
        {"agent": "llm", "condition": "none", "item": "1.1", "persona": ["i sail."], "partner": [], "speaker": "B",
         "history": [], "gold": "yes", "reply": NASTY, "f1": 0.25},
    ]  # fmt: skip
    content = document(reply_samples=samples)
    content["manifest"]["agents"] = {
        "tfidf": None,
        "llm": {"prompt": [{"role": "system", "content": f"You are B.\n{NASTY}"}]},
    }
    html = html_report(content, "A title")
    parsed(html)
    assert "Replies in their own words" in html
    assert "F1 0.250" in html
    assert "<pre>You are B.\n&lt;script&gt;" in html
    assert html.count("You are B.") == 1
    assert "<script" not in html


@pytest.mark.parametrize("missing", ["comparisons", "mistakes"])
def test_a_bench_without_some_parts_has_a_report_too(missing: str) -> None:
    content = document()
    del content[missing]
    parsed(html_report(content, "A title"))
    assert "Manifest" in html_report({"rows": [], "manifest": {}}, "Nothing")


def test_bars_are_as_long_as_their_values() -> None:
    drawn = panel("none", [Bar("a", 0.2, 0.1, 0.3, 0.25, 0), Bar("b", 0.4, None, None, None, 9)], 0.4)
    widths = [float(width) for width in re.findall(r'<rect class="c\d" [^>]*width="([\d.]+)"', drawn)]
    assert widths[1] == pytest.approx(2 * widths[0], abs=0.2)
    assert drawn.count('class="paper"') == drawn.count('class="interval"') == 1
    assert 'class="c1"' in drawn
