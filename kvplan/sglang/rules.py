"""One rule set per SGLang version: lists, defaults and switches. A further version is one more entry.

Paths in comments are under sglang/srt/ of that version.
"""

from __future__ import annotations

from kvplan.dtypes import KvFormat
from kvplan.errors import bad_option
from kvplan.sglang import families, model_classes, registry
from kvplan.sglang.backend_defaults import BACKENDS_0_5_12, BACKENDS_0_5_23
from kvplan.sglang.memory_tiers import memory_tiers
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


V0_5_12 = Rules(
    version="0.5.12",
    registry=registry.REGISTRY_0_5_12,
    formats={**_COMMON_FORMATS, "fp4_e2m1": FP4_BLOCK_16},
    fp4_flags=frozenset({"fp4_e2m1"}),
    hybrid_swa=families.HYBRID_SWA_0_5_12,
    mla=families.MLA_0_5_12,
    dsa=families.DSA_0_5_12,
    multimodal=model_classes.MULTIMODAL_0_5_12,
    multimodal_prefill_graph=frozenset(),
    no_prefill_graph=families.NO_PREFILL_GRAPH_0_5_12,
    drops_quant_config=frozenset(),
    sized_for_all_stages=frozenset(),
    kv_algo_methods=frozenset({"modelopt"}),
    trtllm_mha_pages=frozenset({16, 32, 64}),
    fp4_mla_backends=("cutlass_mla", "flashinfer", "trtllm_mla", "flashmla"),
    tiers=memory_tiers((2048, 24, 80)),
    draft_headroom_mib=4 * 1024,
    mla_prefill_graph_tokens=2048,
    running_requests_lower_graph_batch=False,
    prefill_graph_with_attention_dp=False,
    dsa_cell_follows_row=False,
    dsa_elides_shared_index=False,
    charges_state_padding_slot=False,
    overlaps_draft_windows=False,
    plain_fp4_beside_states=True,
    draft_reserve_in_request_table=False,
    state_follows_pipeline_stage=False,
    draft_in_cell=False,
    extra_buffer_strategy=False,
    request_cap_for_swa=False,
    checks_swa_floor=False,
    dsv4_fixed_states=False,
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
    alias={
        "Olmo3ForCausalLM": "Olmo2ForCausalLM",
        **families.DEEPSEEK_VL,
        **families.LONGCAT,
    },
)

V0_5_23 = Rules(
    version="0.5.23",
    registry=registry.REGISTRY_0_5_23,
    formats={**_COMMON_FORMATS, "mxfp8": MXFP8, "nvfp4": FP4_BLOCK_16, "fp4_mx_block16": FP4_BLOCK_16},
    fp4_flags=frozenset({"nvfp4", "fp4_mx_block16"}),
    hybrid_swa=families.HYBRID_SWA_0_5_23,
    mla=families.MLA_0_5_23,
    dsa=families.DSA_0_5_23,
    multimodal=model_classes.MULTIMODAL_0_5_23,
    multimodal_prefill_graph=model_classes.MULTIMODAL_PREFILL_GRAPH_0_5_23,
    no_prefill_graph=frozenset(),
    drops_quant_config=model_classes.DROPS_QUANT_CONFIG_0_5_23,
    sized_for_all_stages=model_classes.SIZED_FOR_ALL_STAGES_0_5_23,
    kv_algo_methods=frozenset({"modelopt", "compressed-tensors", "fp8"}),
    trtllm_mha_pages=frozenset({16, 32, 64, 128}),
    fp4_mla_backends=("flashinfer", "trtllm_mla"),
    tiers=memory_tiers((4096, 48, 160)),
    draft_headroom_mib=0,
    mla_prefill_graph_tokens=8192,
    running_requests_lower_graph_batch=True,
    prefill_graph_with_attention_dp=True,
    dsa_cell_follows_row=True,
    dsa_elides_shared_index=True,
    charges_state_padding_slot=True,
    overlaps_draft_windows=True,
    plain_fp4_beside_states=False,
    draft_reserve_in_request_table=True,
    state_follows_pipeline_stage=True,
    draft_in_cell=True,
    extra_buffer_strategy=True,
    request_cap_for_swa=True,
    checks_swa_floor=True,
    dsv4_fixed_states=True,
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
    backend_must_be_named=frozenset(),
    qwen3_vl_on_hopper=True,
    one_head_dim=frozenset({"Gemma4ForCausalLM"}),
    # arg_groups/muse_spark_hook.py turns post-capture sizing on.
    sized_after_capture=frozenset({"MuseSparkForConditionalGeneration"}),
    mixed_keeps_kv_algo=True,
    reads_bare_kv_algo=True,
    rope_dim_is_head_dim=frozenset(),
    hisparse_in_dsa_cell=True,
    llama2_graph_cap=True,
    # arg_groups/cuda_graph_hook.py, apply_muse_glimmer_prefill_cuda_graph_max_bs_default.
    prefill_graph_tokens={"MuseGlimmerForCausalLM": 512, "MuseGlimmerForConditionalGeneration": 512},
    stages_overlap=0,
    minimum_over_stages=True,
    # mem_cache/pool_host/base.py warns; mha.py has a pool for K and V of different widths.
    host_pool_above_device=False,
    host_v_as_wide_as_k=False,
    host_v4_page_first=True,
    dsv4_drafts=("EAGLE", "DSPARK"),
    states_unread=frozenset(),
    takes_zero_v_head_dim=False,
    fp4_cell_rounds_once=False,
    always_counts_global_heads=False,
    # transformers 5.19, modeling_rope_utils.py, _check_received_keys.
    unloadable=(_INTERNVL_TEXT, "rope_scaling: yarn without"),
    modelopt_needs_sm={"FP4": 80, "FP8": 89},
    backends=BACKENDS_0_5_23,
    alias={
        "Olmo3ForCausalLM": "Olmo2ForCausalLM",
        "DeepseekV41ForCausalLM": "DeepseekV4ForCausalLM",
        **families.DEEPSEEK_VL,
        **families.LONGCAT,
    },
)

RULE_SETS: dict[str, Rules] = {rules.version: rules for rules in (V0_5_12, V0_5_23)}


def rules_for(version: str) -> Rules:
    """The rule set of a version; InputError for one that kvplan does not have."""
    found = RULE_SETS.get(version)
    if found is None:
        known = ", ".join(RULE_SETS)
        raise bad_option("engine_version", f"no rules for SGLang {version!r}", f"known: {known}")
    return found
