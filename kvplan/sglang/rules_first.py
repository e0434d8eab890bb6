"""The rules of SGLang 0.5.12, the first that kvplan has; later ones are told as changes in rules.py.

Paths in comments are under sglang/srt/ of that version.
"""

from __future__ import annotations

from typing import Any

from kvplan.sglang import backend_names, families, model_classes, parallel_names, registry
from kvplan.sglang.backend_defaults import BACKENDS_0_5_12
from kvplan.sglang.kv_formats import COMMON_FORMATS, FP4_BLOCK_16
from kvplan.sglang.memory_tiers import memory_tiers
from kvplan.sglang.releases import names
from kvplan.sglang.rule_set import Rules

# configs/internvl.py has no class for such a text model.
INTERNVL_TEXT = "llm_config.architectures: "


def class_lists(release: str) -> dict[str, Any]:
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
        "extra_buffer": names(families.EXTRA_BUFFER, release),
        "radix_states": names(families.RADIX_STATE, release),
        "a2a_backends": names(parallel_names.A2A_BACKENDS, release),
        "no_attention_dp": names(parallel_names.NO_ATTENTION_DP, release),
        "no_pipeline": names(parallel_names.NO_PIPELINE, release)
        - names(parallel_names.SPLITS_SINCE, release),
        "pipeline": names(parallel_names.PIPELINE, release),
        "no_dcp": names(parallel_names.NO_DCP, release),
        "multimodal": names(model_classes.MULTIMODAL, release),
        "multimodal_prefill_graph": names(model_classes.MULTIMODAL_PREFILL_GRAPH, release),
    }


V0_5_12 = Rules(
    version="0.5.12",
    **class_lists("0.5.12"),
    formats={**COMMON_FORMATS, "fp4_e2m1": FP4_BLOCK_16},
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
    a2a_with_prefill_graph=frozenset(),
    deepep_buffers_mib=0,
    a2a_needs_attention_dp=frozenset(),
    megamoe_checks_gpu=False,
    dense_over_all_gpus=False,
    piecewise_multimodal=frozenset(),
    dsa_cell_follows_row=False,
    glm_on_sm120_keeps_scales=False,
    plain_rows_for_tilelang=False,
    dsa_elides_shared_index=False,
    dsa_cell_pools_index=False,
    charges_state_padding_slot=False,
    draft_states_first=True,
    overlaps_draft_windows=False,
    plain_fp4_beside_states=True,
    draft_reserve_for_trees=False,
    draft_reserve_in_request_table=False,
    state_follows_pipeline_stage=False,
    draft_in_cell=False,
    counts_drafts_without_path=False,
    draft_in_swa_cell=False,
    # configs/model_config.py, _derive_model_shapes: every draft of Bailing is taken for one with MLA.
    drafts_read_as_mla=frozenset({"BailingMoeForCausalLM", "BailingMoeV2ForCausalLM"}),
    drafts_slide=False,
    draft_indexes_apart=False,
    draft_on_host_too=False,
    extra_buffer_strategy=False,
    nemotron_by_drafts=False,
    states_at_single_tokens=families.RADIX_STATE_0_5_12,
    no_radix=families.NO_RADIX_0_5_12,
    request_cap_for_swa=False,
    swa_layers_before_ratio=False,
    checks_swa_floor=False,
    dsv4_stage_layers=False,
    dsv4_states_per_request=False,
    dsv4_padded_pages=False,
    dsv4_padded_index_pages=False,
    dsv4_pads_low_ratios=False,
    dsv4_takes_bfloat16=False,
    dsv4_mega_kernel=False,
    dsv4_checks_window=False,
    requested_below_estimate=True,
    at_least_one_request=False,
    fa4_for_asymmetric=False,
    profile_rounds_to_float32=False,
    multimodal_reserve_mib=0,
    fused_qkv_may_divide=False,
    trtllm_mha_before_blackwell=False,
    splits_context=False,
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
    # It has this cap by the path, too; but the results that 0.5.12 is compared with were made without it.
    llama2_graph_cap=False,
    graph_tokens_within_context=False,
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
    block_index_follows_kv_on_hopper=False,
    always_counts_global_heads=True,
    # None is added to a width in pool_configurator.py, _compute_cell_size; the transformers of that time
    # has no such layer type.
    unloadable=(
        *("layer_types: deepseek_sparse_attention", "head_dim: null", "v_head_dim: null"),
        INTERNVL_TEXT,
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
