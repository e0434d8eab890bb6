"""Why the engine does not start although its pools can be sized: what it says while it loads the model.

Sources (SGLang 0.5.12 to 0.5.23, paths under sglang/srt/): layers/linear.py (QKVParallelLinear and the
projections divide heads without a rest, else they raise), layers/moe/fused_moe_triton/layer.py (experts
are dealt over EP, their intermediate size is cut by the rest of TP), layers/quantization/fp8.py and
compressed_tensors/ (create_weights, validate_block_quant_shapes: a cut has to keep FP8 blocks whole),
model_executor/model_runner_components/moe_ep_setup.py (check_quantized_moe_compatibility: the same of
experts, before anything is loaded).
"""

from __future__ import annotations

from collections.abc import Iterator

from kvplan.sglang.model import head_shape
from kvplan.sglang.settings import Settings
from kvplan.units import ceil_to_page
from kvplan.weights.choice import split_of
from kvplan.weights.records import Tensors

# check_quantized_moe_compatibility knows moe_intermediate_size, which the config of this class does not name,
# and on data-centre Blackwell its kernels (flashinfer_trtllm) pad what they get.
_PADDED_ON_SM100 = frozenset({"MiniMaxM2ForCausalLM"})


def stops(settings: Settings) -> tuple[str, ...]:
    """Each reason in words, with what helps; empty where nothing is known that speaks against a start."""
    return (
        *_no_stages(settings),
        *_uneven_chunk(settings),
        *_uneven_heads(settings),
        *_uneven_experts(settings),
        *_uneven_rest(settings),
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


def _uneven_heads(settings: Settings) -> Iterator[str]:
    heads, tp = settings.model.architecture.attention_heads, settings.attention_tp
    if heads is not None and heads % tp:
        yield (
            f"{heads} attention heads don't divide by {tp} GPUs: the sizing goes through, but the server "
            "may stop when it loads the model"
        )
        return
    shapes = (head_shape(layer) for layer, _ in settings.model.groups)
    for heads in sorted({shape.kv_heads for shape in shapes if shape is not None}):
        if heads % tp and tp % heads:
            yield (
                f"{heads} KV heads neither divide by {tp} GPUs nor the other way round: the sizing goes "
                "through, but the server may stop when it loads the model"
            )


def _uneven_experts(settings: Settings) -> Iterator[str]:
    found, asked = settings.model.architecture.parameters, settings.deployment
    if found is None or found.experts is None:
        return
    held, ep = found.routed_experts, asked.expert_parallel
    if held is not None and held % ep:
        yield f"SGLang does not start: {held} experts don't divide by {ep} GPUs (a smaller --ep-size)"
    cuts = asked.tp // ep
    padded = settings.gpu.is_sm100 and settings.model.name in _PADDED_ON_SM100
    if settings.gpu.is_rocm or padded or _keeps_blocks(found.experts, cuts):
        return
    better = _expert_parallel(found.experts, held, asked.tp)
    hint = "a smaller --tp" if better is None else f"--ep-size {better}, or a smaller --tp"
    yield _cut("experts", found.experts, cuts, hint)


def _uneven_rest(settings: Settings) -> Iterator[str]:
    found, split = settings.model.architecture.parameters, split_of(settings)
    if found is None or settings.gpu.is_rocm:
        return
    dense_tp = split.tp if found.experts is None else split.dense_tp
    if found.mlp is not None and not _keeps_blocks(found.mlp, dense_tp):
        hint = "a smaller --tp" if found.experts is None else "--moe-dense-tp-size 1, or a smaller --tp"
        yield _cut("dense feed-forward parts", found.mlp, dense_tp, hint)
    shared = found.shared_experts
    if shared is not None and not _keeps_blocks(shared, split.shared_tp):
        yield _cut("shared experts", shared, split.shared_tp, "a --moe-a2a-backend, or a smaller --tp")


def _keeps_blocks(tensors: Tensors, cuts: int) -> bool:
    """Whether each of `cuts` parts of the intermediate size holds whole blocks, rows and columns."""
    if tensors.width is None or tensors.block_rows is None or tensors.block_columns is None:
        return True
    part, rest = divmod(tensors.width, cuts)
    whole_columns = cuts == 1 or part % tensors.block_columns == 0
    return rest == 0 and part % tensors.block_rows == 0 and whole_columns


def _expert_parallel(experts: Tensors, held: int | None, tp: int) -> int | None:
    """The smallest number of GPUs to deal experts over at which their blocks stay whole."""
    sizes = (ep for ep in range(1, tp + 1) if tp % ep == 0 and (held or 0) % ep == 0)
    return next((ep for ep in sizes if _keeps_blocks(experts, tp // ep)), None)


def _cut(name: str, tensors: Tensors, cuts: int, hint: str) -> str:
    return (
        f"SGLang does not start: {name} of width {tensors.width:,} on {cuts} GPUs don't keep their FP8 "
        f"blocks of {tensors.block_rows} x {tensors.block_columns} whole ({hint})"
    )
