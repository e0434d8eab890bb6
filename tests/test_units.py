"""Sizes and token counts mean what they say, and divisions round the way they are called."""

from __future__ import annotations

import pytest

from kvplan import units


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("4096", 4096),
        ("100k", 100_000),
        ("100Ki", 102_400),
        ("1M", 1_000_000),
        ("0.5k", 500),
        ("1_000", 1000),
    ],
)
def test_tokens(text: str, tokens: int) -> None:
    assert units.parse_tokens(text) == tokens


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1024", 1024),
        ("60GiB", 64_424_509_440),
        ("60 GB", 60_000_000_000),
        ("1.5GiB", 1_610_612_736),
        ("80g", 80_000_000_000),
        ("2TiB", 2_199_023_255_552),
        ("60.88GiB", 65_369_402_245),  # 60.88 x 1,073,741,824 = 65,369,402,245.12
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert units.parse_size(text) == size


@pytest.mark.parametrize("text", ["", "-1", "10zb", "1e6", "k", "0.0001k", "nan", "10 000", "1GB"])
def test_what_is_not_a_token_count_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="token"):
        units.parse_tokens(text)


@pytest.mark.parametrize("text", ["", "-1GiB", "60GiBs", "1e9", "0.3", "sixty"])
def test_what_is_not_a_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"size|whole number"):
        units.parse_size(text)


@pytest.mark.parametrize(
    ("value", "page", "down", "up"), [(0, 64, 0, 0), (63, 64, 0, 64), (64, 64, 64, 64), (65, 64, 64, 128)]
)
def test_pages_round_down_and_up(value: int, page: int, down: int, up: int) -> None:
    assert units.floor_to_page(value, page) == down
    assert units.ceil_to_page(value, page) == up


def test_figures_carry_their_unit() -> None:
    assert units.format_bytes_decimal(1_560_007_680) == "1.56 GB"
    assert units.format_bytes_decimal(999) == "999 B"
    assert units.format_gib(64_424_509_440) == "60.00 GiB"
