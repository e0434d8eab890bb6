"""What a rule set says of a version of SGLang: one field for each list, default and switch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from kvplan.dtypes import KvFormat
from kvplan.frozen import dataclass
from kvplan.sglang.backend_defaults import BackendDefault
from kvplan.sglang.memory_tiers import MemoryTier


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rules:
    """What a version of SGLang does; see the instances in rules.py for the source of each value."""

    version: str
    registry: frozenset[str]
    formats: Mapping[str, KvFormat]
    fp4_flags: frozenset[str]
    hybrid_swa: frozenset[str]
    mla: frozenset[str]
    dsa: frozenset[str]
    multimodal: frozenset[str]
    multimodal_prefill_graph: frozenset[str]
    no_prefill_graph: frozenset[str]
    vision_unread: frozenset[str]
    drops_quant_config: frozenset[str]
    sized_for_all_stages: frozenset[str]
    kv_algo_methods: frozenset[str]
    trtllm_mha_pages: frozenset[int]
    fp4_mla_backends: tuple[str, ...]
    tiers: tuple[MemoryTier, ...]
    draft_headroom_mib: int
    running_requests_lower_graph_batch: bool
    no_prefill_graph_with: frozenset[str]
    a2a_backends: frozenset[str]
    a2a_with_prefill_graph: frozenset[str]
    deepep_buffers_mib: int
    a2a_needs_attention_dp: frozenset[str]
    megamoe_checks_gpu: bool
    dense_over_all_gpus: bool
    piecewise_multimodal: frozenset[str]
    dsa_cell_follows_row: bool
    glm_on_sm120_keeps_scales: bool
    plain_rows_for_tilelang: bool
    dsa_elides_shared_index: bool
    dsa_cell_pools_index: bool
    charges_state_padding_slot: bool
    draft_states_first: bool
    overlaps_draft_windows: bool
    plain_fp4_beside_states: bool
    draft_reserve_for_trees: bool
    draft_reserve_in_request_table: bool
    state_follows_pipeline_stage: bool
    draft_in_cell: bool
    counts_drafts_without_path: bool
    draft_in_swa_cell: bool
    drafts_read_as_mla: frozenset[str]
    drafts_slide: bool
    draft_indexes_apart: bool
    draft_on_host_too: bool
    extra_buffer_strategy: bool
    nemotron_by_drafts: bool
    extra_buffer: frozenset[str]
    radix_states: frozenset[str]
    states_at_single_tokens: frozenset[str]
    no_radix: frozenset[str]
    request_cap_for_swa: bool
    swa_layers_before_ratio: bool
    checks_swa_floor: bool
    dsv4_stage_layers: bool
    dsv4_states_per_request: bool
    dsv4_padded_pages: bool
    dsv4_padded_index_pages: bool
    dsv4_pads_low_ratios: bool
    dsv4_takes_bfloat16: bool
    dsv4_mega_kernel: bool
    dsv4_checks_window: bool
    requested_below_estimate: bool
    at_least_one_request: bool
    fa4_for_asymmetric: bool
    profile_rounds_to_float32: bool
    multimodal_reserve_mib: int
    fused_qkv_may_divide: bool
    trtllm_mha_before_blackwell: bool
    no_attention_dp: frozenset[str]
    no_pipeline: frozenset[str]
    pipeline: frozenset[str]
    no_dcp: frozenset[str]
    splits_context: bool
    fa4_sets_page: bool
    hisparse_for_index_blocks: bool
    backend_must_be_named: frozenset[str]
    backend_named_without_windows: bool
    qwen3_vl_on_hopper: bool
    one_head_dim: frozenset[str]
    sized_after_capture: frozenset[str]
    mixed_keeps_kv_algo: bool
    reads_bare_kv_algo: bool
    rope_dim_is_head_dim: frozenset[str]
    hisparse_in_dsa_cell: bool
    llama2_graph_cap: bool
    graph_tokens_within_context: bool
    prefill_graph_tokens: Mapping[str, int]
    stages_overlap: int
    minimum_over_stages: bool
    host_pool_above_device: bool
    host_v_as_wide_as_k: bool
    host_v4_page_first: bool
    dsv4_drafts: tuple[str, ...]
    states_unread: frozenset[str]
    takes_zero_v_head_dim: bool
    fp4_cell_rounds_once: bool
    fp4_workspace_in_every_cell: bool
    block_index_follows_kv: bool
    block_index_follows_kv_on_hopper: bool
    always_counts_global_heads: bool
    unloadable: tuple[str, ...]
    modelopt_needs_sm: Mapping[str, int]
    backends: Mapping[str, BackendDefault]
    triton_for_fp4_experts: frozenset[str]
    attention_backends: frozenset[str]
    accepted_backends: Mapping[str, frozenset[str]]
    rejected_backends: Mapping[str, tuple[str, str]]
    paged_tree_backends: tuple[str, ...]
    alias: Mapping[str, str] = field(default_factory=dict)
