"""Options to deployments: one flag per field, all bad values at once, lists as combinations."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import pytest

from kvplan.cli.options import OPTIONS, deployment, deployments, lists, takes_deployment
from kvplan.deployment import Deployment
from kvplan.errors import InputError

FIELDS = [field.name for field in dataclasses.fields(Deployment)]


def given(**options: str | bool | None) -> dict[str, Any]:
    """What Typer hands over: every option, unset ones as None or False."""
    unset = {name: None if spec.parse else False for name, spec in OPTIONS.items()}
    return unset | options


def test_every_field_of_a_deployment_has_an_option_and_every_option_a_field() -> None:
    assert sorted(OPTIONS) == sorted(FIELDS)


def test_a_command_gets_one_parameter_per_field_in_the_place_of_its_options() -> None:
    @takes_deployment
    def command(model: str, **options: str) -> None:
        """Do nothing."""

    assert list(inspect.signature(command).parameters) == ["model", *OPTIONS]


def test_nothing_given_is_the_default_deployment() -> None:
    assert deployment(given()) == Deployment()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            {"tp": "8", "dp": "4", "enable_dp_attention": True},
            {"tp": 8, "dp": 4, "enable_dp_attention": True},
        ),
        ({"ctx": "100k"}, {"ctx": 100_000}),
        ({"ctx": "128Ki"}, {"ctx": 131_072}),
        ({"available_bytes": "60GiB"}, {"available_bytes": 64_424_509_440}),
        ({"available_bytes": "80GB"}, {"available_bytes": 80_000_000_000}),
        (
            {"pre_model_load_gib": "139.1", "free_gib": "98.4"},
            {"pre_model_load_gib": 139.1, "free_gib": 98.4},
        ),
        ({"kv_cache_dtype": " fp8_e4m3 "}, {"kv_cache_dtype": "fp8_e4m3"}),
        ({"max_total_tokens": "4M", "page_size": "64"}, {"max_total_tokens": 4_000_000, "page_size": 64}),
        ({"mamba_full_memory_ratio": "0.08"}, {"mamba_full_memory_ratio": 0.08}),
        ({"disable_radix_cache": True}, {"disable_radix_cache": True}),
    ],
)
def test_texts_become_values(options: dict[str, Any], expected: dict[str, Any]) -> None:
    assert deployment(given(**options)) == Deployment(**expected)


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ({"ctx": "10zb"}, ["--ctx: '10zb' is not a token count such as 4096, 100k or 128Ki"]),
        ({"ctx": "-1"}, ["--ctx: '-1' is not a token count such as 4096, 100k or 128Ki"]),
        ({"ctx": "0"}, ["--ctx: 0 is not a whole number of at least 1"]),
        ({"tp": "0"}, ["--tp: 0 is not a whole number of at least 1"]),
        ({"tp": "-2"}, ["--tp: -2 is not a whole number of at least 1"]),
        ({"tp": "two"}, ["--tp: 'two' is not a whole number"]),
        ({"tp": "1.5"}, ["--tp: '1.5' is not a whole number"]),
        ({"tp": "9" * 5_000}, [f"--tp: '{'9' * 5_000}' is not a whole number"]),
        ({"tp": "1,2"}, ["--tp: '1,2' is not a whole number"]),
        (
            {"available_bytes": "60 gigs"},
            ["--available-bytes: '60 gigs' is not a size such as 60GiB, 80GB or 1024 (bytes)"],
        ),
        ({"free_gib": "nan", "pre_model_load_gib": "1"}, ["--free-gib: 'nan' is not a number"]),
        ({"mamba_full_memory_ratio": "inf"}, ["--mamba-full-memory-ratio: 'inf' is not a number"]),
        ({"gpu": ""}, ["--gpu: is empty"]),
        (
            {"page_size": "x", "ctx": "y"},
            [
                "--page-size: 'x' is not a whole number",
                "--ctx: 'y' is not a token count such as 4096, 100k or 128Ki",
            ],
        ),
    ],
)
def test_bad_values_are_all_named_with_their_flags(options: dict[str, str], lines: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        deployment(given(**options))
    assert sorted(map(str, caught.value.problems)) == sorted(lines)


def test_lists_give_every_combination_once() -> None:
    found = deployments(lists(given(tp="1,2,2", kv_cache_dtype="bf16, fp8_e4m3")))
    assert found == (
        Deployment(tp=1, kv_cache_dtype="bf16"),
        Deployment(tp=1, kv_cache_dtype="fp8_e4m3"),
        Deployment(tp=2, kv_cache_dtype="bf16"),
        Deployment(tp=2, kv_cache_dtype="fp8_e4m3"),
    )


def test_an_empty_place_in_a_list_is_an_error() -> None:
    with pytest.raises(InputError, match=r"--tp: '' is not a whole number"):
        deployments(lists(given(tp="1,,2")))
