"""Predicted beside logged: a plan of the deployment that a log describes, term by term."""

from __future__ import annotations

from kvplan.verify.comparing import verify
from kvplan.verify.deployment import Told, told_by
from kvplan.verify.records import DEFAULT_TOLERANCE, Check, Verification

__all__ = ["DEFAULT_TOLERANCE", "Check", "Told", "Verification", "told_by", "verify"]
