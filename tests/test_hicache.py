"""Host pools: sizes, shapes in every layout, and refusals."""

from __future__ import annotations

from typing import Any

import pytest

from kvplan.architecture import Architecture
from kvplan.deployment import Deployment
from kvplan.errors import InputError, RefusedError
from kvplan.hicache import HostPool, HostRequest, host_pools
from kvplan.hisparse import hisparse_pool
from kvplan.planning import plan
from kvplan.records import Plan
from tests.models import DEEPSEEK_V3, DEEPSEEK_V32, GPT_OSS, LLAMA_8B, QWEN_35, V4_FLASH
from tests.test_transfer import MIMO_V2


def planned(model: Architecture, version: str = "0.5.12", **options: Any) -> Plan:
    given = {"gpu": "h200", "available_bytes": 60 << 30, "engine_version": version, **options}
    return plan(model, Deployment(**given))


def pools(model: Architecture, version: str = "0.5.12", ratio: float = 2.0, gb: int = 0) -> list[HostPool]:
    made = planned(model, version, page_size=64)
    return list(host_pools(made, HostRequest(ratio=ratio, size_gb=gb)))


def shapes(pool: HostPool) -> dict[str, list[tuple[int, ...]]]:
    return {layout: [buffer.shape for buffer in buffers] for layout, buffers in pool.layouts}


def test_a_ratio_counts_device_slots_and_a_page_comes_on_top() -> None:
    # floor(60 x 2^30 / 131,072 / 64) x 64 = 491,520 device slots; (983,040 / 64 + 1) x 64
    (found,) = pools(LLAMA_8B)
    assert (found.device_slots, found.slots, found.pages) == (491_520, 983_104, 15_361)
    # 983,104 x 131,072
    assert found.bytes == 128_857_407_488


def test_a_size_counts_decimal_gigabytes() -> None:
    # floor(100 x 10^9 / 131,072) = 762,939; (762,939 // 64 + 1) x 64 = 762,944
    (found,) = pools(LLAMA_8B, gb=100)
    assert found.slots == 762_944


def test_heads_in_all_four_layouts() -> None:
    (found,) = pools(LLAMA_8B)
    assert shapes(found) == {
        "layer_first": [(2, 32, 983_104, 8, 128)],
        "page_first": [(2, 983_104, 32, 8, 128)],
        "page_first_direct": [(2, 15_361, 32, 64, 8, 128)],
        "page_head": [(2, 15_361, 8, 64, 32, 128)],
    }


def test_latents_in_three_layouts() -> None:
    # floor(60 x 2^30 / 70,272 / 64) x 64 = 916,736 device slots, 1,833,536 on the host
    (found,) = pools(DEEPSEEK_V3)
    assert shapes(found) == {
        "layer_first": [(61, 1_833_536, 1, 576)],
        "page_first": [(1_833_536, 61, 1, 576)],
        "page_first_direct": [(28_649, 61, 64, 1, 576)],
    }


def test_index_keys_follow_the_latents_with_a_page_of_padding() -> None:
    latents, index = pools(DEEPSEEK_V32)
    assert (index.slots, index.pages) == (latents.slots, latents.pages)
    assert shapes(index)["layer_first"] == [(61, latents.pages + 1, 8448)]
    assert shapes(index)["page_first"] == [(latents.pages + 1, 61, 1, 8448)]
    # 64 x 132 x 61
    assert index.page_bytes == 515_328


def test_states_have_pages_of_one_slot() -> None:
    states = pools(QWEN_35)[0]
    assert (states.page, states.slots) == (1, 2 * states.device_slots + 1)
    assert shapes(states)["layer_first"] == [
        (45, states.slots, 12_288, 3),
        (45, states.slots, 64, 128, 128),
    ]
    assert shapes(states)["page_first"] == [
        (states.slots, 45, 1, 12_288, 3),
        (states.slots, 45, 1, 64, 128, 128),
    ]
    # one request's state of all layers
    assert states.page_bytes == 192_061_440


def test_full_and_window_layers_have_a_host_pool_each_of_the_whole_size() -> None:
    full, window = pools(GPT_OSS, gb=100)
    assert (full.name, window.name) == ("KV", "window")
    # 18 layers x 8 x 128 x 2 = 36,864 a slot, on both; (floor(10^11 / 36,864) // 64 + 1) x 64
    assert full.slots == window.slots == 2_712_704


def test_k_and_v_of_different_widths() -> None:
    old, new = pools(MIMO_V2)[0], pools(MIMO_V2, "0.5.23")[0]
    # 0.5.12 takes the width of K for both: 2 x 4 x 192 x 2 x 9; 0.5.23: 4 x (192 + 128) x 2 x 9
    assert (old.page_bytes, new.page_bytes) == (64 * 27_648, 64 * 23_040)
    assert shapes(old)["layer_first"] == [(2, 9, old.slots, 4, 192)]
    assert shapes(new) == {
        "page_first": [(new.slots, 9, 4, 192), (new.slots, 9, 4, 128)],
        "page_first_direct": [(new.pages, 9, 64, 4, 192), (new.pages, 9, 64, 4, 128)],
    }


def test_v4_mirrors_pages_of_its_pools() -> None:
    made = planned(V4_FLASH)
    found = {pool.name: pool for pool in host_pools(made, HostRequest())}
    # 4,037,632 full tokens are 15,772 pages of 256, the window's 403,712 are 1,577
    assert {name: (pool.pages, pool.page_bytes) for name, pool in found.items()} == {
        "window": (3154, 43 * 149_760),
        "C4 entries": (31_544, 21 * 37_440),
        "C4 index keys": (31_544, 21 * 8448),
        "C4 states": (3154, 21 * 65_536),
        "C128 entries": (31_544, 20 * 1728),
        "C128 states": (3154, 20 * 524_288),
        "C4 index states": (3154, 21 * 16_384),
    }
    assert shapes(found["window"]) == {"layer_first": [(3154, 149_760)]}


def test_v4_in_0_5_23_has_more_layouts_and_rebuilds_c128_states() -> None:
    found = {pool.name: pool for pool in host_pools(planned(V4_FLASH, "0.5.23"), HostRequest())}
    assert "C128 states" not in found
    pages = found["C4 entries"].pages
    assert shapes(found["C4 entries"]) == {
        "layer_first": [(pages, 37_440)],
        "page_first": [(pages, 21, 37_440)],
        "page_first_direct": [(pages, 21, 1, 37_440)],
    }


def test_all_layouts_of_a_pool_hold_the_same_bytes() -> None:
    for model in (LLAMA_8B, DEEPSEEK_V32, QWEN_35, GPT_OSS):
        for pool in pools(model):
            assert len({sum(buffer.bytes for buffer in buffers) for _, buffers in pool.layouts}) == 1


def test_v4_has_no_size() -> None:
    with pytest.raises(RefusedError, match="no --hicache-size"):
        host_pools(planned(V4_FLASH), HostRequest(size_gb=100))


def test_0_5_12_refuses_a_host_pool_below_the_device_pool_and_0_5_23_does_not() -> None:
    with pytest.raises(RefusedError, match="not larger than the device pool of 491,520"):
        pools(LLAMA_8B, ratio=0.5)
    (found,) = pools(LLAMA_8B, "0.5.23", ratio=0.5)
    assert found.slots < found.device_slots


@pytest.mark.parametrize("ratio", [0.0, -1.0, float("inf")])
def test_a_ratio_is_positive(ratio: float) -> None:
    with pytest.raises(InputError, match="--hicache-ratio"):
        pools(LLAMA_8B, ratio=ratio)


def test_kv_with_scales_has_no_host_pool() -> None:
    made = planned(LLAMA_8B, kv_cache_dtype="fp4_e2m1", attention_backend="triton")
    assert host_pools(made, HostRequest()) == ()


def test_hisparse_keeps_the_latents_of_all_tokens_on_the_host() -> None:
    old = hisparse_pool(planned(DEEPSEEK_V32, enable_hisparse=True, disable_radix_cache=True))
    assert old is not None
    # 0.5.12: a slot on top; pages of one token of 61 x 1,152 bytes
    assert (old.slots, old.page_bytes) == (2 * old.device_slots + 1, 70_272)
    assert shapes(old) == {"layer_first": [(61, old.slots, 1, 576)]}
    new = hisparse_pool(
        planned(DEEPSEEK_V32, "0.5.23", enable_hisparse=True, disable_radix_cache=True, hisparse_ratio=4)
    )
    assert new is not None
    # 0.5.23: pages of 64 and one on top
    assert new.slots == 4 * new.device_slots + 64


def test_there_is_no_hisparse_pool_unless_it_is_enabled() -> None:
    assert hisparse_pool(planned(DEEPSEEK_V32)) is None
