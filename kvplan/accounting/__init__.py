"""What the architecture itself costs, engine aside: alpha, gamma, exact bytes, reads, equivalents."""

from __future__ import annotations

from kvplan.accounting.bandwidth import decode_floor_ms
from kvplan.accounting.figures import Accounting, Workload, account
from kvplan.accounting.ledger import Groups, Ledger, Row, ledger

__all__ = ["Accounting", "Groups", "Ledger", "Row", "Workload", "account", "decode_floor_ms", "ledger"]
