"""A short run of the cases that `python -m tests.fuzz` runs by the million."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kvplan import Deployment, KvplanError
from kvplan.errors import InputError, Problem
from tests.fuzz import structure, text
from tests.fuzz.cases import run_case
from tests.fuzz.oracle import check_error, check_figures, judge_mapping
from tests.fuzz.relations import check_doubled, check_order, check_plain, check_unknown_key
from tests.fuzz.seeds import Seed, seeds

SEEDS = seeds()
CASES = settings(
    max_examples=200,
    derandomize=True,  # the long run has other cases each time
    deadline=None,  # the time of a case is part of what is checked
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@given(random=st.randoms(use_true_random=False))
@CASES
def test_a_changed_config_gives_a_plan_or_one_clear_error(tmp_path: Path, random: Random) -> None:
    run_case(SEEDS, random, tmp_path)


@given(number=st.integers(0, 1 << 32))
@CASES
def test_so_does_every_numbered_case_of_the_long_run(tmp_path: Path, number: int) -> None:
    run_case(SEEDS, Random(f"suite:{number}"), tmp_path)


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.name)
def test_what_the_cases_start_from_keeps_every_relation(seed: Seed) -> None:
    """The published configs themselves, so that a relation can't hold by never being met."""
    native = "kvplan" in seed.mapping
    verdict = judge_mapping(seed.mapping, Deployment())
    assert verdict.kind == "plan"
    assert verdict.model is not None
    check_order(seed.mapping, verdict.model, Random(0))
    check_unknown_key(seed.mapping, verdict.model, 7, native=native)
    doubled = check_doubled(seed.mapping, verdict.model, native=native)
    assert doubled or not native  # a model YAML can always be repeated


def test_most_published_configs_can_be_doubled_and_some_are_plain() -> None:
    """Where it can't be, a schedule goes by the layer's number: the last one is full, the first two dense."""
    doubled, plain = 0, 0
    for seed in SEEDS:
        verdict = judge_mapping(seed.mapping, Deployment())
        if verdict.model is not None and verdict.plan is not None:
            doubled += check_doubled(seed.mapping, verdict.model, native="kvplan" in seed.mapping)
            plain += check_plain(seed.mapping, verdict.plan)
    assert doubled > 0.9 * len(SEEDS)
    assert plain >= 4


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"a": [{"b": -1}]}, ".a.b: -1"),
        ({"a": float("nan")}, "not JSON compliant"),
        ({"a": -0.5}, ".a: -0.5"),
    ],
)
def test_a_figure_that_can_not_be_is_noticed(document: dict[str, object], words: str) -> None:
    with pytest.raises((AssertionError, ValueError), match=words):
        check_figures(document)


@pytest.mark.parametrize(
    "error",
    [
        KvplanError([]),
        InputError(Problem(file="f", key="k", what=" ")),
        InputError(Problem(file="f", key="k", what="x" * 3_000)),
    ],
    ids=["no problem", "no words", "too many words"],
)
def test_an_error_that_says_nothing_or_too_much_is_noticed(error: KvplanError) -> None:
    with pytest.raises(AssertionError):
        check_error(error)


def test_the_same_number_makes_the_same_case() -> None:
    seed, other = SEEDS[0], SEEDS[-1]
    first = [structure.mutated(seed.mapping, other.mapping, Random(f"0:{n}")) for n in range(50)]
    again = [structure.mutated(seed.mapping, other.mapping, Random(f"0:{n}")) for n in range(50)]
    assert repr(first) == repr(again)
    assert any(one != seed.mapping for one in first)
    texts = [text.mutated(seed.text, other.text, Random(f"0:{n}")) for n in range(50)]
    assert len(set(texts)) > 40


def test_a_plan_that_contradicts_its_config_is_noticed() -> None:
    """The plan of 32 layers, held against configs of 31 and of twice as many KV heads."""
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "num_hidden_layers": 32,
        "hidden_size": 4096,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "torch_dtype": "bfloat16",
    }
    verdict = judge_mapping(config, Deployment())
    assert verdict.model is not None
    assert verdict.plan is not None
    assert check_plain(config, verdict.plan)
    with pytest.raises(AssertionError, match="131072, not 262144"):
        check_plain({**config, "num_key_value_heads": 16}, verdict.plan)
    with pytest.raises(AssertionError, match="another order of keys, another model"):
        check_order({**config, "num_hidden_layers": 31}, verdict.model, Random(0))
    with pytest.raises(AssertionError, match="an unknown key of a model YAML passes"):
        check_unknown_key(config, verdict.model, 7, native=True)
