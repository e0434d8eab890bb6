"""What one GPU loads of a checkpoint: kinds that the engine cuts, and kinds that it copies.

Sources (SGLang 0.5.23, paths under sglang/srt/): layers/vocab_parallel_embedding.py (embedding over the
attention group under DP attention; the head over all GPUs, with enable_dp_lm_head over that group);
models/deepseek_v2.py (fused_qkv_a_proj_with_mqa and kv_a_proj_with_mqa replicated, the other projections
over the attention group, w_kc and w_vc made beside kv_b_proj); layers/attention/dsa/dsa_indexer.py
(replicated); layers/moe/fused_moe_triton/layer.py (experts over TP x EP, which is the same share);
models/deepseek_v2.py (shared experts whole where tokens are sent to experts, dense layers whole with
moe_dense_tp_size 1); models/qwen3_vl.py (vision over the attention group); models/nemotron_h.py
(projections around experts replicated).
"""

from __future__ import annotations

from fractions import Fraction

from kvplan.architecture import Architecture
from kvplan.dtypes import BITS
from kvplan.frozen import dataclass
from kvplan.layers import LatentAttention
from kvplan.sglang.model import head_shape
from kvplan.units import ceil_div
from kvplan.weights.records import Parameters

FLOAT32 = "float32"
# Not in the checkpoint: made of kv_b_proj when it is loaded.
ABSORBED = "absorbed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """How a deployment lays weights out; `dtype` is what unquantised weights are loaded in.

    `attention_tp`: GPUs that share attention; `head_tp`, `dense_tp`, `shared_tp`: those that share the
    output head, a dense layer beside layers with experts, and shared experts. `redundant_experts`:
    copies of busy experts in each layer. `drafts`: whether MTP layers are loaded.
    """

    tp: int
    attention_tp: int
    head_tp: int
    dense_tp: int
    shared_tp: int
    redundant_experts: int = 0
    pp: int
    drafts: bool
    dtype: str


def shares(model: Architecture, parameters: Parameters, split: Split) -> dict[str, int]:
    """Bytes by kind on the GPU that holds most, the absorbed copies of MLA included.

    With pipeline stages each kind is that of the fullest stage, and of embedding and head the larger one.
    """
    factors = _factors(model, parameters, split)
    loaded = {
        kind: int(_loaded_bytes(tensors.stored_bytes, tensors.format, split.dtype) * factors[kind])
        for kind, tensors in parameters.kinds()
        if factors[kind]
    }
    if split.pp > 1 and "head" in loaded and "embedding" in loaded:
        loaded.pop(min("embedding", "head", key=lambda kind: loaded[kind]))
    absorbed = _absorbed(model, split)
    return loaded | ({ABSORBED: absorbed} if absorbed else {})


def _factors(model: Architecture, parameters: Parameters, split: Split) -> dict[str, Fraction]:
    layers = len(model.layers)
    stage = Fraction(_fullest(layers, layers, split.pp), layers)
    attention, everyone = Fraction(1, split.attention_tp), Fraction(1, split.tp)
    dense = everyone if parameters.experts is None else Fraction(1, split.dense_tp)
    return {
        "embedding": attention,
        "lookup_tables": attention,
        "head": Fraction(1, split.head_tp),
        "attention": attention * stage,
        "attention_kv": _kv_share(model, split.attention_tp) * stage,
        "attention_copied": stage,
        "mlp": dense * _part(parameters.dense_layers, layers, split.pp),
        "experts": everyone
        * _with_copies(parameters, split)
        * _part(parameters.moe_layers, layers, split.pp),
        "shared_experts": Fraction(1, split.shared_tp) * _part(parameters.moe_layers, layers, split.pp),
        "router": _part(parameters.moe_layers, layers, split.pp),
        "norms": stage,
        "towers": attention,
        "draft": everyone if split.drafts else Fraction(0),
        "unused": Fraction(0),
    }


def _with_copies(parameters: Parameters, split: Split) -> Fraction:
    held = parameters.routed_experts
    return Fraction(held + split.redundant_experts, held) if held else Fraction(1)


def _fullest(count: int, layers: int, pp: int) -> int:
    """Of `count` layers of a kind, the most that one stage can hold."""
    return min(count, ceil_div(layers, pp))


def _part(count: int, layers: int, pp: int) -> Fraction:
    return Fraction(_fullest(count, layers, pp), count) if count else Fraction(1)


def _kv_share(model: Architecture, attention_tp: int) -> Fraction:
    """KV heads are copied once there are more GPUs than heads."""
    heads = [shape.kv_heads for layer, _ in model.groups if (shape := head_shape(layer)) is not None]
    most = max(heads, default=attention_tp)
    return Fraction(max(1, most // attention_tp), most)


def _loaded_bytes(stored: int, stored_as: str, dtype: str) -> int:
    """Weights that are published in float32 are loaded in the model's 16-bit dtype."""
    return stored * BITS[dtype] // BITS[FLOAT32] if stored_as == FLOAT32 else stored


def _absorbed(model: Architecture, split: Split) -> int:
    """Copies of the latent's up-projections, which decode multiplies queries and outputs with."""
    heads = model.attention_heads or 0
    elements = sum(
        layer.kv_lora_rank * heads * (layer.head_dim + layer.v_head_dim) * count
        for layer, count in model.groups
        if isinstance(layer, LatentAttention)
    )
    stage = Fraction(_fullest(len(model.layers), len(model.layers), split.pp), len(model.layers))
    return int(elements * BITS[split.dtype] // 8 * stage / split.attention_tp)
