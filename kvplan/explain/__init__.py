"""The derivation behind a plan: each formula in symbols, with its numbers, and the result."""

from __future__ import annotations

from kvplan.explain.derivation import explain
from kvplan.explain.lines import Explanation, Line, Section

__all__ = ["Explanation", "Line", "Section", "explain"]
