"""MHA: K and V of the KV heads for every layer, whatever its window; the last link, for all the rest."""

from __future__ import annotations

from kvplan.dtypes import element_bytes
from kvplan.layers import FullAttention, IndexedAttention
from kvplan.pools.default import TokenLink, draft_bytes, draft_term
from kvplan.records import Term
from kvplan.sglang.model import EngineModel, HeadShape, Stage, head_shape
from kvplan.sglang.settings import Settings

FP4_BLOCK = 16
MXFP8_BLOCK = 32


def verdict(model: EngineModel) -> tuple[bool, str]:
    """The last link takes what no earlier one took."""
    return True, "K and V of every layer in one pool"


def terms(settings: Settings, stage: Stage) -> tuple[Term, ...]:
    """K and V, index keys, scales and draft layers."""
    return head_terms(settings, stage, layers=stage.total)


LINK = TokenLink(name="MHA", verdict=verdict, terms=terms)


def head_terms(settings: Settings, stage: Stage, *, layers: int) -> tuple[Term, ...]:
    """Terms of a pool of KV heads over `layers` layers, all priced at one shape as the engine does."""
    shape = engine_shape(settings)
    if shape is None or layers == 0:
        return ()
    heads, head_dim, v_head_dim = heads_on_gpu(settings, shape.kv_heads), shape.head_dim, shape.v_head_dim
    if settings.flag in settings.rules.fp4_flags:
        terms = [_fp4_term(settings, heads, head_dim, v_head_dim, layers)]
    else:
        size, kept = element_bytes(settings.kv.dtype), layers + _host_copies(settings, stage)
        terms = [
            Term(
                name="K and V",
                bytes_per_token=heads * (head_dim + v_head_dim) * kept * size,
                formula=f"{heads} KV heads x ({head_dim} + {v_head_dim}) x {kept} layers x {size} B",
            )
        ]
    if settings.flag == "mxfp8" and "indexed" not in settings.model.architecture.kinds:
        scales = heads * (head_dim + v_head_dim) * layers // MXFP8_BLOCK
        terms.append(
            Term(
                name="scales",
                bytes_per_token=scales,
                formula=f"{heads} x ({head_dim} + {v_head_dim}) x {layers} / {MXFP8_BLOCK}",
            )
        )
    terms += _index_terms(settings, stage)
    draft = draft_bytes(settings, int(sum(term.bytes_per_token for term in terms)), layers)
    if draft:
        terms.append(draft_term(settings, draft, layers))
    return tuple(terms)


def engine_shape(settings: Settings) -> HeadShape | None:
    """The one head shape that the engine reads from the config for all layers."""
    generic = settings.model.architecture.config_heads
    shapes = [shape for layer, _ in settings.model.groups if (shape := head_shape(layer)) is not None]
    first = next((shape for shape in shapes if shape.kind != "sliding"), shapes[0] if shapes else None)
    if generic is None:
        return first
    return FullAttention(kv_heads=generic.kv_heads, head_dim=generic.head_dim, v_head_dim=generic.v_head_dim)


def heads_on_gpu(settings: Settings, total: int) -> int:
    """KV heads on one GPU: decode context parallelism splits tokens, not heads, within a group.

    The pool of MiniMax-M3 is sized without it (pool_configurator.py, the MiniMax-sparse branch).
    """
    dcp = 1 if "indexed" in settings.model.architecture.kinds else settings.deployment.dcp
    return max(1, total // (settings.attention_tp // dcp))


def _fp4_term(settings: Settings, heads: int, head_dim: int, v_head_dim: int, layers: int) -> Term:
    if settings.rules.fp4_cell_rounds_once:
        values = heads * (head_dim + v_head_dim) * layers // 2
    else:
        values = heads * (head_dim // 2) * layers * 2
    scales = _fp4_scales(settings, heads, head_dim, layers)
    formula = f"2 x {heads} KV heads x {layers} layers x {head_dim} x (1/2 + 1/{FP4_BLOCK} scales)"
    workspace = _fp4_workspace(settings, heads * head_dim * 2, scales)
    if workspace:
        formula += f" + {workspace} prefill workspace"
    return Term(name="K and V in FP4", bytes_per_token=values + scales + workspace, formula=formula)


def _fp4_workspace(settings: Settings, layer: int, scales: int) -> int:
    """An FP8 copy of one `layer` for prefill, and on SM100 its own layout of the scales beside decode's.

    Source: fp4_kv_cache_quant_method.py, NVFP4KVCacheMethod.compute_cell_size; the copy alone in
    pool_configurator.py of 0.5.16 to 0.5.20.
    """
    if settings.rules.fp4_workspace_in_every_cell:
        return layer
    if settings.rules.fp4_cell_rounds_once or settings.flag != "nvfp4":
        return 0
    if settings.prefill_backend != "flashinfer":
        return 0
    return layer + (scales if settings.gpu.is_sm100 else 0)


def _fp4_scales(settings: Settings, heads: int, head_dim: int, layers: int) -> int:
    """A byte per block of K and V; what is cut into blocks shows where the width is no multiple of 16."""
    if settings.rules.fp4_cell_rounds_once:
        return heads * head_dim * layers * 2 // FP4_BLOCK
    blocks = heads * (head_dim // FP4_BLOCK) if settings.flag == "nvfp4" else heads * head_dim // FP4_BLOCK
    return blocks * layers * 2


def block_indexed(stage: Stage) -> int:
    """Layers with a block index (MiniMax-M3)."""
    return sum(count for layer, count in stage.groups if isinstance(layer, IndexedAttention))


def _host_copies(settings: Settings, stage: Stage) -> int:
    """HiSparse moves K and V of the layers with an index to the host: the others span the host's slots."""
    indexed = block_indexed(stage)
    return (stage.attention - indexed) * (settings.hisparse_ratio - 1) if indexed else 0


def _index_terms(settings: Settings, stage: Stage) -> list[Term]:
    terms, ratio = [], settings.hisparse_ratio
    for layer, count in stage.groups:
        if isinstance(layer, IndexedAttention):
            size = index_element_bytes(settings, layer)
            terms.append(
                Term(
                    name="index",
                    bytes_per_token=layer.index_elements * size * count * ratio,
                    formula=f"{layer.index_elements} index elements x {count} layers x {size} B"
                    + (f" x {ratio}" if ratio > 1 else ""),
                )
            )
    return terms


def index_element_bytes(settings: Settings, layer: IndexedAttention) -> int:
    """fp8_e4m3 KV has an FP8 index with trtllm_mha on SM100, and in 0.5.23 on Hopper; all others keep bf16.

    Source: server_args.py, m3_fp8_attn_gemm_enabled; mem_cache/memory_pool.py,
    get_minimax_sparse_index_dtype.
    """
    if not settings.rules.block_index_follows_kv:
        return element_bytes(layer.index_dtype)
    gemm = settings.backend == "trtllm_mha" and settings.gpu.is_sm100
    hopper = settings.gpu.is_hopper and settings.rules.block_index_follows_kv_on_hopper
    fp8 = settings.flag == "fp8_e4m3" and (gemm or hopper)
    return 1 if fp8 else element_bytes(layer.index_dtype)
