"""JSON: one document, plain text."""

from __future__ import annotations

import json


def render(document: object) -> str:
    """Any JSON value, indented, in ASCII (control characters are escaped), with a final newline.

    Raises ValueError for NaN and infinities, which JSON does not have.
    """
    return json.dumps(document, indent=2, allow_nan=False) + "\n"
