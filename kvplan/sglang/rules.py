"""One rule set per release of SGLang: what it changed of the release before.

A further release is one more entry here, and its new model classes in the lists (registry, families,
model_classes). Paths in comments are under sglang/srt/ of the release.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kvplan.errors import bad_option
from kvplan.sglang import backend_defaults as backends
from kvplan.sglang import backend_names, families, model_classes
from kvplan.sglang.kv_formats import COMMON_FORMATS, FP4_BLOCK_16, MXFP8
from kvplan.sglang.memory_tiers import memory_tiers
from kvplan.sglang.rule_set import Rules
from kvplan.sglang.rules_first import INTERNVL_TEXT, V0_5_12, class_lists


def _next(before: Rules, release: str, **changes: Any) -> Rules:
    """The rules of a release: those of the one before, the classes it added, and what else changed."""
    return replace(before, version=release, **{**class_lists(release), **changes})


V0_5_13 = _next(
    V0_5_12,
    "0.5.13",
    a2a_needs_attention_dp=frozenset({"flashinfer", "flashinfer_megamoe"}),
    dense_over_all_gpus=True,
    no_prefill_graph=families.NO_PREFILL_GRAPH_0_5_12 - {"DeepseekV32ForCausalLM", "GlmMoeDsaForCausalLM"},
    # The config class of its vision part names no sizes.
    vision_unread=frozenset({"Gemma4UnifiedForConditionalGeneration"}),
    rope_dim_is_head_dim=frozenset(),
    backends=backends.BACKENDS_0_5_13,
    # Its Gemma-4 with FP4 experts runs on triton.
    triton_for_fp4_experts=backend_names.GEMMA4,
    accepted_backends=backend_names.ACCEPTED_0_5_13,
    paged_tree_backends=("flashinfer", "fa3", "triton"),
    states_at_single_tokens=families.RADIX_STATE_0_5_12 | {"NemotronHPuzzleForCausalLM"},
    # BailingMoeV2_5 keeps its radix cache since.
    no_radix=frozenset({"KimiLinearForCausalLM"}),
    # transformers gives models without windows a pattern too.
    backend_named_without_windows=True,
    dsv4_stage_layers=True,
    draft_states_first=False,
    draft_reserve_for_trees=True,
    host_v4_page_first=True,
    modelopt_needs_sm={"FP4": 80, "FP8": 89},
    llama2_graph_cap=True,
    graph_tokens_within_context=True,
    # The least free memory of the ranks is reduced as float32 (utils/common.py, get_available_gpu_memory).
    profile_rounds_to_float32=True,
    # model_runner_kv_cache_mixin.py, _apply_token_constraints.
    minimum_over_stages=True,
)

V0_5_14 = _next(
    V0_5_13,
    "0.5.14",
    unloadable=("layer_types: deepseek_sparse_attention", INTERNVL_TEXT),
    triton_for_fp4_experts=frozenset(),
    draft_headroom_mib=0,
    draft_in_cell=True,
    requested_below_estimate=False,
    request_cap_for_swa=True,
    extra_buffer_strategy=True,
    states_at_single_tokens=frozenset(),
    no_radix=frozenset(),
    overlaps_draft_windows=True,
    piecewise_multimodal=model_classes.PIECEWISE_MULTIMODAL_0_5_14,
    # mem_cache/memory_pool_host.py has a pool for K and V of different widths.
    host_v_as_wide_as_k=False,
    dsv4_takes_bfloat16=True,
)

V0_5_15 = _next(
    V0_5_14,
    "0.5.15",
    # Breakable prefill graphs take the place of piecewise ones.
    no_prefill_graph=frozenset(),
    piecewise_multimodal=frozenset(),
    no_prefill_graph_with=frozenset({"attention dp", "multimodal", "mla", "dsv4"}),
    deepep_buffers_mib=2 * 1024,
    unloadable=(INTERNVL_TEXT,),
    mixed_keeps_kv_algo=True,
    reads_bare_kv_algo=True,
    draft_in_swa_cell=True,
    dsv4_states_per_request=True,
    fa4_sets_page=True,
    accepted_backends=backend_names.ACCEPTED_0_5_15,
    # mem_cache/pool_host/base.py warns.
    host_pool_above_device=False,
)

V0_5_16 = _next(
    V0_5_15,
    "0.5.16",
    formats={**COMMON_FORMATS, "mxfp8": MXFP8, "nvfp4": FP4_BLOCK_16, "fp4_mx_block16": FP4_BLOCK_16},
    fp4_flags=frozenset({"nvfp4", "fp4_mx_block16"}),
    fp4_mla_backends=("cutlass_mla", "flashinfer", "trtllm_mla"),
    fp4_workspace_in_every_cell=True,
    plain_fp4_beside_states=False,
    vision_unread=frozenset(),
    no_prefill_graph_with=frozenset({"attention dp", "dcp", "multimodal", "mla", "dsv4"}),
    piecewise_multimodal=model_classes.PIECEWISE_MULTIMODAL_0_5_16,
    draft_reserve_in_request_table=True,
    checks_swa_floor=True,
    dsv4_drafts=("EAGLE", "DSPARK"),
    backends=backends.BACKENDS_0_5_16,
)

V0_5_17 = _next(
    V0_5_16,
    "0.5.17",
    no_prefill_graph_with=frozenset({"dcp", "multimodal", "mla without index", "nemotron", "dsv4"}),
    a2a_with_prefill_graph=frozenset({"deepep", "megamoe", "flashinfer"}),
    graph_tokens_within_context=False,
    dsa_cell_follows_row=True,
    glm_on_sm120_keeps_scales=True,
    hisparse_in_dsa_cell=True,
    charges_state_padding_slot=True,
    state_follows_pipeline_stage=True,
    trtllm_mha_pages=frozenset({16, 32, 64, 128}),
    fa4_for_asymmetric=True,
    fused_qkv_may_divide=True,
    # configs/__init__.py registers the text parts of Qwen3.5.
    states_unread=frozenset({"MiniCPMForCausalLM"}),
    backends=backends.BACKENDS_0_5_17,
    rejected_backends=backend_names.REJECTED_0_5_17,
)

V0_5_18 = _next(
    V0_5_17,
    "0.5.18",
    no_prefill_graph_with=frozenset({"dcp", "multimodal", "dsv4"}),
    # arg_groups/cuda_graph_hook.py, apply_muse_glimmer_prefill_cuda_graph_max_bs_default.
    prefill_graph_tokens={"MuseGlimmerForCausalLM": 512, "MuseGlimmerForConditionalGeneration": 512},
    dsa_elides_shared_index=True,
    draft_indexes_apart=True,
    kv_algo_methods=frozenset({"modelopt", "fp8"}),
    # Embedding cache of a multimodal server, SGLANG_VLM_CACHE_SIZE_MB (mm_runtime_reservation_gb).
    multimodal_reserve_mib=100,
)

V0_5_19 = _next(
    V0_5_18,
    "0.5.19",
    no_prefill_graph_with=frozenset({"pp", "dcp", "multimodal", "dsv4"}),
    piecewise_multimodal=model_classes.PIECEWISE_MULTIMODAL_0_5_19,
    kv_algo_methods=frozenset({"modelopt", "fp8", "compressed-tensors"}),
    drafts_slide=True,
    no_radix=families.NO_RADIX_0_5_19,
    states_unread=frozenset(),
    takes_zero_v_head_dim=False,
    trtllm_mha_before_blackwell=True,
    nemotron_by_drafts=True,
    backends=backends.BACKENDS_0_5_19,
    rejected_backends=backend_names.REJECTED_0_5_19,
)

V0_5_20 = _next(
    V0_5_19,
    "0.5.20",
    tiers=memory_tiers((4096, 48, 160)),
    # It has KDA layers.
    no_prefill_graph=frozenset({"Glm5NextForConditionalGeneration"}),
    no_prefill_graph_with=frozenset({"pp", "dcp", "multimodal", "dsv4", "kda"}),
    fp4_mla_backends=("flashinfer", "trtllm_mla"),
    counts_drafts_without_path=True,
    dsv4_checks_window=True,
    qwen3_vl_on_hopper=True,
    backends=backends.BACKENDS_0_5_20,
    attention_backends=class_lists("0.5.20")["attention_backends"] - backend_names.GONE_IN_0_5_20,
)

V0_5_21 = _next(
    V0_5_20,
    "0.5.21",
    megamoe_checks_gpu=True,
    attention_backends=V0_5_20.attention_backends,
    drafts_read_as_mla=frozenset(),
    fp4_cell_rounds_once=False,
    fp4_workspace_in_every_cell=False,
    block_index_follows_kv=True,
    hisparse_for_index_blocks=True,
    dsv4_padded_pages=True,
    stages_overlap=0,
    backends=backends.BACKENDS_0_5_21,
    accepted_backends=backend_names.ACCEPTED_0_5_21,
    alias={**V0_5_20.alias, "DeepseekV41ForCausalLM": "DeepseekV4ForCausalLM"},
)

V0_5_22 = _next(
    V0_5_21,
    "0.5.22",
    attention_backends=V0_5_21.attention_backends | {"llada2_cfg_flashinfer"},
    no_prefill_graph=frozenset(),
    piecewise_multimodal=frozenset(),
    running_requests_lower_graph_batch=True,
    dsa_cell_pools_index=True,
    plain_rows_for_tilelang=True,
    draft_on_host_too=True,
    swa_layers_before_ratio=True,
    splits_context=True,
    dsv4_padded_index_pages=True,
    always_counts_global_heads=False,
    # transformers 5.19, modeling_rope_utils.py, _check_received_keys.
    unloadable=(INTERNVL_TEXT, "rope_scaling: yarn without"),
    backend_must_be_named=frozenset(),
    backends=backends.BACKENDS_0_5_22,
    accepted_backends=backend_names.ACCEPTED_0_5_22,
)

V0_5_23 = _next(
    V0_5_22,
    "0.5.23",
    attention_backends=V0_5_22.attention_backends,
    at_least_one_request=True,
    block_index_follows_kv_on_hopper=True,
    dsv4_pads_low_ratios=True,
    dsv4_mega_kernel=True,
    # arg_groups/muse_spark_hook.py turns post-capture sizing on.
    sized_after_capture=frozenset({"MuseSparkForConditionalGeneration"}),
    backends=backends.BACKENDS_0_5_23,
)

RULE_SETS: dict[str, Rules] = {
    rules.version: rules
    for rules in (
        V0_5_12,
        V0_5_13,
        V0_5_14,
        V0_5_15,
        V0_5_16,
        V0_5_17,
        V0_5_18,
        V0_5_19,
        V0_5_20,
        V0_5_21,
        V0_5_22,
        V0_5_23,
    )
}


def rules_for(version: str) -> Rules:
    """The rule set of a version; InputError for one that kvplan does not have."""
    found = RULE_SETS.get(version)
    if found is None:
        first, *_, last = RULE_SETS
        known = f"known: each release from {first} to {last}; a post-release has the rules of its release"
        raise bad_option("engine_version", f"no rules for SGLang {version!r}", known)
    return found
