"""One rule set per SGLang version: lists, defaults and switches. A further version is one more entry.

Paths in comments are under sglang/srt/ of that version.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kvplan.dtypes import KvFormat
from kvplan.errors import bad_option
from kvplan.sglang import backend_names, families, model_classes, registry
from kvplan.sglang.backend_defaults import BACKENDS_0_5_12, BACKENDS_0_5_13, BACKENDS_0_5_23
from kvplan.sglang.memory_tiers import memory_tiers
from kvplan.sglang.releases import names
from kvplan.sglang.rule_set import Rules

BF16 = KvFormat(dtype="bfloat16")
FP8_E4M3 = KvFormat(dtype="float8_e4m3fn")
FP8_E5M2 = KvFormat(dtype="float8_e5m2")
# One scale byte per 16 FP4 values (layers/quantization/fp4_kv_cache_quant_method.py).
FP4_BLOCK_16 = KvFormat(dtype="float4_e2m1fn_x2", scale_block=16, scale_bytes=1)
# One scale byte per 32 FP8 values (model_executor/pool_configurator.py, scale_block_size).
MXFP8 = KvFormat(dtype="float8_e4m3fn", scale_block=32, scale_bytes=1)

# configs/internvl.py has no class for such a text model.
_INTERNVL_TEXT = "llm_config.architectures: "

_COMMON_FORMATS = {"bf16": BF16, "bfloat16": BF16, "fp8_e4m3": FP8_E4M3, "fp8_e5m2": FP8_E5M2}


def _lists(release: str) -> dict[str, Any]:
    """The lists of model classes that grow from release to release."""
    return {
        "registry": names(registry.CLASSES, release),
        "hybrid_swa": names(families.HYBRID_SWA, release),
        "mla": names(families.MLA, release),
        "dsa": names(families.DSA, release),
        "attention_backends": names(backend_names.ATTENTION_BACKENDS, release),
        "drops_quant_config": names(model_classes.DROPS_QUANT_CONFIG, release),
        "sized_for_all_stages": names(model_classes.SIZED_FOR_ALL_STAGES, release)
        - names(model_classes.KEEPS_A_RANGE, release),
        "multimodal": names(model_classes.MULTIMODAL, release),
        "multimodal_prefill_graph": names(model_classes.MULTIMODAL_PREFILL_GRAPH, release),
    }


def _next(before: Rules, release: str, **changes: Any) -> Rules:
    """The rules of a release: those of an earlier one, and what changed since."""
    return replace(before, version=release, **{**_lists(release), **changes})


V0_5_12 = Rules(
    version="0.5.12",
    **_lists("0.5.12"),
    formats={**_COMMON_FORMATS, "fp4_e2m1": FP4_BLOCK_16},
    fp4_flags=frozenset({"fp4_e2m1"}),
    no_prefill_graph=families.NO_PREFILL_GRAPH_0_5_12,
    vision_unread=frozenset(),
    kv_algo_methods=frozenset({"modelopt"}),
    trtllm_mha_pages=frozenset({16, 32, 64}),
    fp4_mla_backends=("cutlass_mla", "flashinfer", "trtllm_mla", "flashmla"),
    tiers=memory_tiers((2048, 24, 80)),
    draft_headroom_mib=4 * 1024,
    running_requests_lower_graph_batch=False,
    no_prefill_graph_with=frozenset({"pp", "attention dp", "multimodal"}),
    dsa_cell_follows_row=False,
    dsa_elides_shared_index=False,
    dsa_cell_pools_index=False,
    charges_state_padding_slot=False,
    draft_states_first=True,
    overlaps_draft_windows=False,
    plain_fp4_beside_states=True,
    draft_reserve_in_request_table=False,
    state_follows_pipeline_stage=False,
    draft_in_cell=False,
    extra_buffer_strategy=False,
    nemotron_by_drafts=False,
    extra_buffer=frozenset(),
    radix_states=frozenset(),
    states_at_single_tokens=families.RADIX_STATE_0_5_12,
    no_radix=families.NO_RADIX_0_5_12,
    request_cap_for_swa=False,
    checks_swa_floor=False,
    dsv4_stage_layers=False,
    dsv4_states_per_request=False,
    dsv4_padded_pages=False,
    dsv4_pads_low_ratios=False,
    requested_below_estimate=True,
    fa4_for_asymmetric=False,
    profile_rounds_to_float32=False,
    multimodal_reserve_mib=0,
    fused_qkv_may_divide=False,
    trtllm_mha_before_blackwell=False,
    class_parallel_limits=False,
    # server_args.py looks at --prefill-attention-backend alone.
    fa4_sets_page=False,
    hisparse_for_index_blocks=False,
    # server_args.py checks the backend before it has a default.
    backend_must_be_named=frozenset({"Exaone4ForCausalLM", "ExaoneMoEForCausalLM"}),
    backend_named_without_windows=False,
    qwen3_vl_on_hopper=False,
    one_head_dim=frozenset({"Gemma4ForCausalLM"}),
    sized_after_capture=frozenset(),
    # ModelOptMixedPrecisionConfig does not pass kv_cache_quant_algo on.
    mixed_keeps_kv_algo=False,
    # modelopt_quant.py of that time reads kv_cache_scheme alone.
    reads_bare_kv_algo=False,
    # transformers' GlmMoeDsaConfig of that time maps head_dim to qk_rope_head_dim (attribute_map).
    rope_dim_is_head_dim=frozenset({"GlmMoeDsaForCausalLM"}),
    hisparse_in_dsa_cell=False,
    llama2_graph_cap=False,
    prefill_graph_tokens={},
    # model_runner.py, adjust_hybrid_swa_layers_for_pp: range(start_layer, end_layer + 1).
    stages_overlap=1,
    minimum_over_stages=False,
    # mem_cache/memory_pool_host.py, HostKVCache and MHATokenToKVPoolHost: asserted, and K's width for V.
    host_pool_above_device=True,
    host_v_as_wide_as_k=True,
    host_v4_page_first=False,
    dsv4_drafts=("EAGLE",),
    # model_runner.py, hybrid_gdn_config, knows its own config classes alone: the text part of Qwen3.5 on
    # its own is read by that of transformers, and MiniCPM's mixers by nobody.
    states_unread=frozenset({"MiniCPMForCausalLM", "qwen3_5_moe_text", "qwen3_5_text"}),
    takes_zero_v_head_dim=True,
    fp4_cell_rounds_once=True,
    fp4_workspace_in_every_cell=False,
    block_index_follows_kv=False,
    always_counts_global_heads=True,
    # None is added to a width in pool_configurator.py, _compute_cell_size; the transformers of that time
    # has no such layer type.
    unloadable=(
        *("layer_types: deepseek_sparse_attention", "head_dim: null", "v_head_dim: null"),
        _INTERNVL_TEXT,
    ),
    # layers/quantization/modelopt_quant.py, get_min_capability.
    modelopt_needs_sm={"FP4": 100, "FP8": 89},
    backends=BACKENDS_0_5_12,
    triton_for_fp4_experts=frozenset(),
    accepted_backends=backend_names.ACCEPTED_0_5_12,
    rejected_backends=backend_names.REJECTED_0_5_12,
    paged_tree_backends=("flashinfer", "fa3"),
    alias={
        "Olmo3ForCausalLM": "Olmo2ForCausalLM",
        **families.DEEPSEEK_VL,
        **families.LONGCAT,
    },
)

V0_5_13 = _next(
    V0_5_12,
    "0.5.13",
    no_prefill_graph=families.NO_PREFILL_GRAPH_0_5_12 - {"DeepseekV32ForCausalLM", "GlmMoeDsaForCausalLM"},
    # The config class of its vision part names no sizes.
    vision_unread=frozenset({"Gemma4UnifiedForConditionalGeneration"}),
    rope_dim_is_head_dim=frozenset(),
    backends=BACKENDS_0_5_13,
    # Its Gemma-4 with FP4 experts runs on triton.
    triton_for_fp4_experts=backend_names.GEMMA4,
    accepted_backends=backend_names.ACCEPTED_0_5_13,
    states_at_single_tokens=families.RADIX_STATE_0_5_12 | {"NemotronHPuzzleForCausalLM"},
    # BailingMoeV2_5 keeps its radix cache since.
    no_radix=frozenset({"KimiLinearForCausalLM"}),
    # transformers gives models without windows a pattern too.
    backend_named_without_windows=True,
    dsv4_stage_layers=True,
    draft_states_first=False,
    modelopt_needs_sm={"FP4": 80, "FP8": 89},
)

V0_5_14 = _next(
    V0_5_13,
    "0.5.14",
    unloadable=("layer_types: deepseek_sparse_attention", _INTERNVL_TEXT),
    triton_for_fp4_experts=frozenset(),
    draft_headroom_mib=0,
    draft_in_cell=True,
    request_cap_for_swa=True,
    extra_buffer_strategy=True,
    extra_buffer=families.EXTRA_BUFFER_0_5_23,
    radix_states=families.RADIX_STATE_0_5_23,
    states_at_single_tokens=frozenset(),
    no_radix=families.NO_RADIX_0_5_23,
    multimodal_prefill_graph=frozenset({"Cohere2VisionForConditionalGeneration"}),
)

V0_5_15 = _next(
    V0_5_14,
    "0.5.15",
    # Breakable prefill graphs take the place of piecewise ones.
    no_prefill_graph=frozenset(),
    no_prefill_graph_with=frozenset({"attention dp", "multimodal", "mla", "dsv4"}),
    unloadable=(_INTERNVL_TEXT,),
    mixed_keeps_kv_algo=True,
    dsv4_states_per_request=True,
)

V0_5_20 = _next(
    V0_5_15,
    "0.5.20",
    formats={**_COMMON_FORMATS, "mxfp8": MXFP8, "nvfp4": FP4_BLOCK_16, "fp4_mx_block16": FP4_BLOCK_16},
    fp4_flags=frozenset({"nvfp4", "fp4_mx_block16"}),
    # It has KDA layers.
    no_prefill_graph=frozenset({"Glm5NextForConditionalGeneration"}),
    kv_algo_methods=frozenset({"modelopt", "compressed-tensors", "fp8"}),
    trtllm_mha_pages=frozenset({16, 32, 64, 128}),
    fp4_mla_backends=("flashinfer", "trtllm_mla"),
    tiers=memory_tiers((4096, 48, 160)),
    draft_headroom_mib=0,
    no_prefill_graph_with=frozenset({"pp", "dcp", "multimodal", "dsv4", "kda"}),
    dsa_cell_follows_row=True,
    dsa_elides_shared_index=True,
    charges_state_padding_slot=True,
    overlaps_draft_windows=True,
    plain_fp4_beside_states=False,
    draft_reserve_in_request_table=True,
    state_follows_pipeline_stage=True,
    draft_in_cell=True,
    extra_buffer_strategy=True,
    nemotron_by_drafts=True,
    vision_unread=frozenset(),
    extra_buffer=families.EXTRA_BUFFER_0_5_23,
    radix_states=families.RADIX_STATE_0_5_23,
    states_at_single_tokens=frozenset(),
    no_radix=families.NO_RADIX_0_5_23,
    request_cap_for_swa=True,
    checks_swa_floor=True,
    dsv4_stage_layers=True,
    dsv4_states_per_request=True,
    requested_below_estimate=False,
    fa4_for_asymmetric=True,
    # The minimum over ranks is reduced as float32 (utils/common.py, get_available_gpu_memory).
    profile_rounds_to_float32=True,
    # Embedding cache of a multimodal server, SGLANG_VLM_CACHE_SIZE_MB (mm_runtime_reservation_gb).
    multimodal_reserve_mib=100,
    fused_qkv_may_divide=True,
    trtllm_mha_before_blackwell=True,
    class_parallel_limits=True,
    fa4_sets_page=True,
    hisparse_for_index_blocks=True,
    qwen3_vl_on_hopper=True,
    # arg_groups/muse_spark_hook.py turns post-capture sizing on.
    sized_after_capture=frozenset({"MuseSparkForConditionalGeneration"}),
    mixed_keeps_kv_algo=True,
    reads_bare_kv_algo=True,
    rope_dim_is_head_dim=frozenset(),
    hisparse_in_dsa_cell=True,
    llama2_graph_cap=True,
    # arg_groups/cuda_graph_hook.py, apply_muse_glimmer_prefill_cuda_graph_max_bs_default.
    prefill_graph_tokens={"MuseGlimmerForCausalLM": 512, "MuseGlimmerForConditionalGeneration": 512},
    minimum_over_stages=True,
    # mem_cache/pool_host/base.py warns; mha.py has a pool for K and V of different widths.
    host_pool_above_device=False,
    host_v_as_wide_as_k=False,
    host_v4_page_first=True,
    dsv4_drafts=("EAGLE", "DSPARK"),
    states_unread=frozenset(),
    takes_zero_v_head_dim=False,
    fp4_workspace_in_every_cell=True,
    always_counts_global_heads=False,
    # transformers 5.19, modeling_rope_utils.py, _check_received_keys.
    unloadable=(_INTERNVL_TEXT, "rope_scaling: yarn without"),
    backends=BACKENDS_0_5_23,
    attention_backends=names(backend_names.ATTENTION_BACKENDS, "0.5.20") - backend_names.GONE_IN_0_5_20,
    accepted_backends=backend_names.ACCEPTED_0_5_23,
    rejected_backends=backend_names.REJECTED_0_5_23,
    paged_tree_backends=("flashinfer", "fa3", "triton"),
    alias={
        "Olmo3ForCausalLM": "Olmo2ForCausalLM",
        **families.DEEPSEEK_VL,
        **families.LONGCAT,
    },
)

V0_5_21 = _next(
    V0_5_20,
    "0.5.21",
    attention_backends=V0_5_20.attention_backends,
    fp4_cell_rounds_once=False,
    fp4_workspace_in_every_cell=False,
    block_index_follows_kv=True,
    dsv4_padded_pages=True,
    stages_overlap=0,
    alias={**V0_5_20.alias, "DeepseekV41ForCausalLM": "DeepseekV4ForCausalLM"},
)

V0_5_22 = _next(
    V0_5_21,
    "0.5.22",
    attention_backends=V0_5_21.attention_backends | {"llada2_cfg_flashinfer"},
    no_prefill_graph=frozenset(),
    running_requests_lower_graph_batch=True,
    dsa_cell_pools_index=True,
    backend_must_be_named=frozenset(),
)

V0_5_23 = _next(
    V0_5_22,
    "0.5.23",
    attention_backends=V0_5_22.attention_backends,
    dsv4_pads_low_ratios=True,
)

RULE_SETS: dict[str, Rules] = {
    rules.version: rules for rules in (V0_5_12, V0_5_13, V0_5_14, V0_5_15, V0_5_20, V0_5_21, V0_5_22, V0_5_23)
}


def rules_for(version: str) -> Rules:
    """The rule set of a version; InputError for one that kvplan does not have."""
    found = RULE_SETS.get(version)
    if found is None:
        known = ", ".join(RULE_SETS)
        raise bad_option("engine_version", f"no rules for SGLang {version!r}", f"known: {known}")
    return found
