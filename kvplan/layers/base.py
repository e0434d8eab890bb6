"""What every layer kind answers: bytes on one GPU for a request, split into slope and intercept.

The ledger (engine-neutral): a layer keeps `copies x entries(S) x bytes per entry + fixed state`, so a
request of S tokens costs `alpha * S + gamma` once S is above every window.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Protocol, runtime_checkable

from kvplan.dtypes import KvFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """How a deployment stores a layer on one GPU.

    `attention_tp`: GPUs that share one request's attention heads. `kv`: format of K, V and latents.
    `state_dtype`: replaces the dtype of recurrent states where the user set one.
    """

    attention_tp: int = 1
    kv: KvFormat = field(default_factory=lambda: KvFormat(dtype="bfloat16"))
    state_dtype: str | None = None

    def heads(self, total: int) -> int:
        """KV heads on one GPU: they are split, and copied once there are more GPUs than heads."""
        return max(1, total // self.attention_tp)


@runtime_checkable
class LayerKind(Protocol):
    """One frozen record per attention design; `kind` is its name in YAML and JSON."""

    kind: ClassVar[str]

    def token_bytes(self, storage: Storage) -> Fraction:
        """Alpha: bytes that one more token adds on one GPU, above every window."""
        ...

    def fixed_bytes(self, storage: Storage) -> int:
        """Gamma: bytes on one GPU that a request takes whatever its length (full windows, states)."""
        ...

    def request_bytes(self, tokens: int, storage: Storage) -> int:
        """Exact bytes on one GPU for a request of `tokens` tokens."""
        ...


@runtime_checkable
class StateKind(LayerKind, Protocol):
    """A layer kind whose cache is a recurrent state, kept per request and split over the heads."""

    @property
    def state_dtype(self) -> str:
        """Dtype of the recurrent state."""
        ...

    @property
    def conv_dtype(self) -> str:
        """Dtype of the convolution state."""
        ...

    def state_elements(self, attention_tp: int) -> tuple[int, int]:
        """Elements on one GPU of (convolution state, recurrent state)."""
        ...

    def undivided(self, attention_tp: int) -> str | None:
        """What can't be split over `attention_tp` GPUs, or None when everything can."""
        ...
