"""Why the engine does not start although its pools can be sized: what it says while it loads the model.

Sources (SGLang 0.5.12 to 0.5.23, paths under sglang/srt/): layers/linear.py (QKVParallelLinear and the
projections divide heads without a rest, else they raise), layers/moe/fused_moe_triton/layer.py (experts are
dealt over EP, their intermediate size is cut by the rest of TP), layers/quantization/fp8.py, awq/, gptq/
and compressed_tensors/ (create_weights, validate_block_quant_shapes: a cut has to keep FP8 blocks whole),
model_executor/model_runner_components/moe_ep_setup.py (check_quantized_moe_compatibility: the same of
experts, before anything is loaded).
"""

from __future__ import annotations

from collections.abc import Iterator

from kvplan.architecture import state_of
from kvplan.layers import GatedDeltaNet, KimiDeltaAttention, LightningAttention, Mamba2, Recurrent
from kvplan.sglang.expert_names import DENSE_WHOLE, SHARED_APART, SHARED_WHOLE
from kvplan.sglang.model import uneven_kv_heads
from kvplan.sglang.settings import Settings
from kvplan.sglang.speculation import DSPARK
from kvplan.units import ceil_to_page
from kvplan.weights.choice import split_of
from kvplan.weights.records import Parameters, Tensors


def stops(settings: Settings) -> tuple[str, ...]:
    """Each reason in words, with what helps; empty where nothing is known that speaks against a start."""
    return (
        *_no_stages(settings),
        *_uneven_chunk(settings),
        *_whole_head(settings),
        *_uneven_heads(settings),
        *_uneven_states(settings),
        *_uneven_experts(settings),
        *_cut_rest(settings),
    )


def _no_stages(settings: Settings) -> Iterator[str]:
    if settings.deployment.pp > 1 and settings.model.name not in settings.rules.pipeline:
        yield (
            f"SGLang {settings.rules.version} does not start: {settings.model.name} takes no pipeline stages "
            "(--pp 1 with a larger --tp)"
        )


def _uneven_chunk(settings: Settings) -> Iterator[str]:
    # check_server_args; attention DP divides the chunk.
    chunk, page = settings.chunk, settings.page
    if chunk > 0 and chunk % page:
        whole = settings.attention_dp * ceil_to_page(chunk, page)
        yield (
            f"SGLang does not start: a prefill chunk of {chunk:,} tokens on each rank is no multiple of the "
            f"page of {page} (--chunked-prefill-size {whole})"
        )


def _whole_head(settings: Settings) -> Iterator[str]:
    asked = settings.deployment
    drafted = asked.speculative_algorithm == DSPARK and settings.attention_dp > 1
    if drafted and not asked.enable_dp_lm_head:
        yield "SGLang does not start: DSpark under DP attention asks for --enable-dp-lm-head as well"


def _uneven_heads(settings: Settings) -> Iterator[str]:
    heads, tp = settings.model.architecture.attention_heads, settings.attention_tp
    if heads is not None and heads % tp:
        yield _uneven(f"{heads} attention heads don't divide by {tp} GPUs")
        return
    for kv_heads in uneven_kv_heads(settings.model.groups, tp):
        yield _uneven(f"{kv_heads} KV heads can be neither divided by {tp} GPUs nor copied to them evenly")


def _uneven_states(settings: Settings) -> Iterator[str]:
    tp = settings.attention_tp
    states = (state_of(layer) for layer, _ in settings.model.groups)
    for heads in sorted({heads for state in states for heads in _state_heads(state)}):
        if heads % tp:
            yield _uneven(f"{heads} heads or groups of recurrent layers don't divide by {tp} GPUs")


def _state_heads(layer: Recurrent | None) -> tuple[int, ...]:
    match layer:
        case GatedDeltaNet():
            return layer.k_heads, layer.v_heads
        case KimiDeltaAttention() | LightningAttention():
            return (layer.heads,)
        case Mamba2():
            # One group is copied to each GPU (layers/attention/mamba/mamba.py); heads are checked before.
            return () if layer.groups == 1 else (layer.groups,)
        case _:
            return ()


def _uneven(what: str) -> str:
    return (
        f"{what}: the sizing goes through, but the server may stop when it loads the model "
        "(another --tp, or --enable-dp-attention)"
    )


def _uneven_experts(settings: Settings) -> Iterator[str]:
    found, asked = settings.model.architecture.parameters, settings.deployment
    if found is None or found.experts is None:
        return
    held, ep, copies = found.routed_experts, asked.expert_parallel, split_of(settings).redundant_experts
    if held is not None and (held + copies) % ep:
        hint = "--ep-num-redundant-experts" if copies or asked.exchanges_experts else "a smaller --ep-size"
        what = f"{held} experts and {copies} copies" if copies else f"{held} experts"
        yield f"SGLang does not start: {what} don't divide by {ep} GPUs ({hint}, or another --tp)"
    # On ROCm its kernels pad what they get of experts.
    if settings.gpu.is_rocm or _keeps_blocks(found.experts, asked.tp // ep):
        return
    better = _expert_parallel(found.experts, held, asked.tp)
    hint = "a smaller --tp" if better is None else f"--ep-size {better}, or a smaller --tp"
    yield _cut("experts", found.experts, asked.tp // ep, hint)


def _cut_rest(settings: Settings) -> Iterator[str]:
    found, split = settings.model.architecture.parameters, split_of(settings)
    if found is None:
        return
    dense_tp = split.tp if found.experts is None else split.dense_tp
    if found.mlp is not None and not _keeps_blocks(found.mlp, dense_tp):
        whole = found.experts is not None and settings.model.name in DENSE_WHOLE
        hint = "--moe-dense-tp-size 1, or a smaller --tp" if whole else "a smaller --tp"
        yield _cut("dense feed-forward parts", found.mlp, dense_tp, hint)
    shared = found.shared_experts
    if shared is None or _keeps_blocks(shared, split.shared_tp) or _may_be_fused(settings, found):
        return
    whole = settings.model.name in SHARED_WHOLE
    hint = "--moe-a2a-backend deepep, or a smaller --tp" if whole else "a smaller --tp"
    yield _cut("shared experts", shared, split.shared_tp, hint)


def _may_be_fused(settings: Settings, found: Parameters) -> bool:
    """Whether shared experts may run as routed ones, cut as those are: if they are as wide as one of them."""
    if found.experts is None or found.shared_experts is None or settings.model.name in SHARED_APART:
        return False
    return found.experts.width == found.shared_experts.width


def _keeps_blocks(tensors: Tensors, cuts: int) -> bool:
    """Whether each of `cuts` parts of the intermediate size holds whole blocks, rows and columns."""
    if tensors.width is None or tensors.block_rows is None or tensors.block_columns is None:
        return True
    part, rest = divmod(tensors.width, cuts)
    whole_columns = cuts == 1 or part % tensors.block_columns == 0
    return rest == 0 and part % tensors.block_rows == 0 and whole_columns


def _expert_parallel(experts: Tensors, held: int | None, tp: int) -> int | None:
    """The smallest number of GPUs to deal experts over at which their blocks stay whole, if there is one."""
    sizes = (ep for ep in range(1, tp + 1) if tp % ep == 0 and (held or 0) % ep == 0)
    return next((ep for ep in sizes if _keeps_blocks(experts, tp // ep)), None)


def _cut(name: str, tensors: Tensors, cuts: int, hint: str) -> str:
    rows, columns = tensors.block_rows, tensors.block_columns
    whole = f"groups of {columns}" if rows == 1 else f"blocks of {rows} x {columns}"
    return (
        f"SGLang does not start: {name} of width {tensors.width:,} on {cuts} GPUs don't keep their {whole} "
        f"whole ({hint})"
    )
