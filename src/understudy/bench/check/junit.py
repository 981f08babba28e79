"""Results as JUnit XML, which CI systems show: a test case for each test, its failing replies in the failure's text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from understudy.bench.check.running import CheckRepeat, CheckResult

__all__ = ["junit_xml"]

NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, not even escaped."""


def junit_xml(name: str, results: Sequence[CheckResult]) -> bytes:
    errors = sum(result.is_error and not result.passed for result in results)
    failures = sum(not result.passed and not result.is_error for result in results)
    seconds = sum(result.seconds for result in results)
    counts = {"tests": str(len(results)), "failures": str(failures), "errors": str(errors), "time": f"{seconds:.3f}"}
    root = Element("testsuites", {"name": _clean(name), **counts})
    suite = SubElement(root, "testsuite", {"name": _clean(name), **counts, "skipped": "0"})
    for result in results:
        keys = {"classname": _clean(result.test.kind or name), "name": _clean(result.test.name)}
        case = SubElement(suite, "testcase", keys | {"time": f"{result.seconds:.3f}"})
        if not result.passed:
            failed = result.failed()
            first = next((repeat.error or "; ".join(repeat.reasons) for repeat in failed), "")
            message = f"passed {result.share.value:.0%} of {len(result.repeats)}: {first}"
            problem = SubElement(case, "error" if result.is_error else "failure", {"message": _clean(message)})
            problem.text = _clean("\n\n".join(_conversation_text(result, repeat) for repeat in failed))
    indent(root)
    return bytes(tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _conversation_text(result: CheckResult, repeat: CheckRepeat) -> str:
    lines = [f"- {reason}" for reason in (repeat.error, *repeat.reasons) if reason]
    for turn, reply in zip(result.test.turns, repeat.replies):
        lines += [f"user: {turn}", f"bot: {reply}"]
    return "\n".join(lines)


def _clean(text: str) -> str:
    return NOT_IN_XML.sub("\ufffd", text)
