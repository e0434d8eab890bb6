"""The parameters of a model by kind: the kinds differ in how an engine splits and stores them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from kvplan.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensors:
    """Parameters of one kind: `count` of them in `stored_bytes` of the checkpoint, scales included.

    `format`: a dtype as torch names it, or a quantisation such as `int4, group 32`. Of a
    feed-forward part in blocks, `width` is the intermediate size, which tensor parallelism cuts, and
    `block_rows` and `block_columns` the size of a block, which must stay whole; else None.
    """

    count: int
    stored_bytes: int
    format: str
    width: int | None = None
    block_rows: int | None = None
    block_columns: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """What a checkpoint holds, over all layers; None where it has nothing of a kind.

    `embedding`: of the input, and the output head too where there is no `head`. `lookup_tables`: learned
    positions, and embeddings of each layer with their projections, which no head shares.
    `attention`: projections that are cut by heads, of recurrent layers too. `attention_kv`: projections
    of K and V. `attention_copied`: down-projections of latents and indexers, which have no heads.
    `mlp`: dense feed-forward layers. `router`: with projections into the width of the experts.
    `towers`: vision and audio. `draft`: MTP layers, loaded only for speculative decoding. `unused`: copies
    of embedding and head that come with them and are never loaded.
    `moe_layers` of the decoder layers have experts, `dense_layers` a dense feed-forward part.
    `routed_experts` of one layer, of which a router picks `experts_per_token`; None where not known.
    """

    embedding: Tensors | None = None
    lookup_tables: Tensors | None = None
    head: Tensors | None = None
    attention: Tensors | None = None
    attention_kv: Tensors | None = None
    attention_copied: Tensors | None = None
    mlp: Tensors | None = None
    experts: Tensors | None = None
    shared_experts: Tensors | None = None
    router: Tensors | None = None
    norms: Tensors | None = None
    towers: Tensors | None = None
    draft: Tensors | None = None
    unused: Tensors | None = None
    moe_layers: int = 0
    dense_layers: int = 0
    routed_experts: int | None = None
    experts_per_token: int | None = None

    def kinds(self) -> Iterator[tuple[str, Tensors]]:
        """Each kind that the checkpoint has, by name."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Tensors):
                yield field.name, value

    @property
    def count(self) -> int:
        """All parameters."""
        return sum(tensors.count for _, tensors in self.kinds())

    @property
    def stored_bytes(self) -> int:
        """Bytes of the whole checkpoint."""
        return sum(tensors.stored_bytes for _, tensors in self.kinds())
