"""Gates as JUnit XML, the dialect that CI systems load: one suite, a case for each gate."""

from __future__ import annotations

from xml.etree import ElementTree

from kvplan.gates.records import Outcome, Result
from kvplan.render.gates import failures, moved, told
from kvplan.render.text import visible

_SUITE = "kvplan"


def render(outcome: Outcome) -> str:
    """The document in ASCII, with a final newline. Characters that XML can't hold are shown as escapes."""
    counts = {"tests": str(len(outcome.results)), "failures": str(len(outcome.failed)), "errors": "0"}
    root = ElementTree.Element("testsuites", {"name": _SUITE, **counts})
    suite = ElementTree.SubElement(
        root, "testsuite", {"name": visible(outcome.file), **counts, "skipped": "0"}
    )
    for result in outcome.results:
        _case(suite, result, outcome.file)
    if outcome.notes:
        ElementTree.SubElement(suite, "system-out").text = "\n".join(map(visible, outcome.notes))
    ElementTree.indent(root)
    document: bytes = ElementTree.tostring(root, encoding="us-ascii", xml_declaration=True)
    return document.decode() + "\n"


def _case(suite: ElementTree.Element, result: Result, file: str) -> None:
    case = ElementTree.SubElement(
        suite,
        "testcase",
        {
            "classname": f"{_SUITE}.gates",
            "name": visible(result.gate.name),
            "file": visible(file),
            "line": str(result.gate.line),
            "time": "0",
        },
    )
    reasons = [visible(line) for line in failures(result)]
    if reasons:
        failure = ElementTree.SubElement(case, "failure", {"message": reasons[0], "type": "gate"})
        failure.text = "\n".join(reasons)
    lines = [
        *(told(finding) for finding in result.findings),
        *(f"{change.figure}: {moved(change)}" for change in result.changes),
        *result.causes,
        *(f"assumed: {text}" for text in result.assumed),
        *(f"warning: {text}" for text in result.warnings),
    ]
    if lines:
        ElementTree.SubElement(case, "system-out").text = "\n".join(map(visible, lines))
