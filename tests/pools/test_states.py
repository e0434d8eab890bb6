"""Recurrent state that does not fit: the missing bytes are exact."""

from __future__ import annotations

import pytest

import kvplan
from kvplan.layers import FullAttention, Mamba1, ShortConv

# 64 layers; a slot of one holds 3 x 8192 x 2 bytes of convolution and 8192 x 16 x 4 of state.
FALCON_MAMBA = kvplan.Architecture(
    id="tiiuae/falcon-mamba-7b",
    architecture="FalconMambaForCausalLM",
    model_type="falcon_mamba",
    layers=(Mamba1(intermediate=8192, state_size=16, conv_kernel=4),) * 64,
    context_length=2048,
    dtype="bfloat16",
)
DRAFTS = {"speculative_algorithm": "EAGLE", "max_running_requests": 8}


# SGLang stops where the slots over those of a request (_calculate_mamba_ratio) give no request.
# Drafts of 0.5.12 need the radix cache off, where requests and not bytes decide the slots.
@pytest.mark.parametrize(
    ("engine_version", "options", "slots"),
    [("0.5.23", {}, 5), ("0.5.23", DRAFTS, 5), ("0.5.14", {}, 5), ("0.5.14", DRAFTS, 5), ("0.5.12", {}, 3)],
)
def test_the_missing_bytes_let_one_request_run_and_one_byte_less_lets_none(
    engine_version: str, options: dict[str, str | int], slots: int
) -> None:
    model = kvplan.load("qwen3.5-397b-a17b")

    def plan(available_bytes: int) -> kvplan.Plan:
        settings = {"available_bytes": available_bytes, "engine_version": engine_version, **options}
        return kvplan.plan(model, kvplan.Deployment(**settings))  # type: ignore[arg-type]  # a table of options

    with pytest.raises(kvplan.DoesNotFitError) as refusal:
        plan(1_000_000)
    enough = 1_000_000 + refusal.value.shortfall_bytes
    capacity = plan(enough).capacity
    assert (capacity.max_mamba_cache_size, capacity.max_running_requests) == (slots, 1)
    with pytest.raises(kvplan.DoesNotFitError, match="1 bytes are missing"):
        plan(enough - 1)


def test_slots_that_are_too_few_for_one_request_on_each_rank_are_refused() -> None:
    """9 // 2 = 4 slots a rank, 5 for a request: SGLang 0.5.23 computes 0 requests and stops."""
    model = kvplan.load("qwen3.5-397b-a17b")

    def plan(slots: int) -> kvplan.Plan:
        ranks = {"tp": 4, "dp": 2, "enable_dp_attention": True, "available_bytes": 8 << 30}
        return kvplan.plan(model, kvplan.Deployment(**ranks, max_mamba_cache_size=slots))  # type: ignore[arg-type]

    with pytest.raises(kvplan.RefusedError, match=r"is 9, of which each of 2 attention-DP ranks gets 4"):
        plan(9)
    assert plan(10).capacity.max_running_requests == 1


def test_more_slots_than_memory_holds_are_refused_where_no_token_takes_any() -> None:
    """(5000 + 1) x 64 x (49,152 + 524,288) = 183,537,500,160 of 60 GiB = 64,424,509,440."""
    asked = kvplan.Deployment(available_bytes=60 << 30, max_mamba_cache_size=5_000)
    with pytest.raises(kvplan.DoesNotFitError) as refusal:
        kvplan.plan(FALCON_MAMBA, asked)
    assert refusal.value.shortfall_bytes == 119_112_990_720
    assert str(refusal.value) == (
        "the recurrent states take 119,112,990,720 bytes per GPU more than there are for them "
        "(a smaller --max-mamba-cache-size or --max-running-requests, or a higher --tp)"
    )


def test_a_convolution_over_one_token_keeps_no_state_to_size() -> None:
    layers = (ShortConv(dim=2048, conv_kernel=1), FullAttention(kv_heads=8, head_dim=64, v_head_dim=64))
    model = kvplan.Architecture(id="m", architecture="Lfm2ForCausalLM", layers=layers, attention_heads=32)
    with pytest.raises(kvplan.RefusedError, match="a slot of recurrent state takes 0 bytes"):
        kvplan.plan(model, kvplan.Deployment(available_bytes=60 << 30))
