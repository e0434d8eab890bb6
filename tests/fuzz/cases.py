"""One case: a seed, changed and planned, and the relations that its plan has to keep."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

from kvplan.export import to_yaml
from kvplan.files import MAX_YAML_CHARACTERS
from kvplan.readers.native import is_native
from tests.fuzz import structure, text
from tests.fuzz.deployments import DEPLOYMENTS
from tests.fuzz.oracle import Verdict, check_rendered, judge_file, judge_mapping
from tests.fuzz.relations import check_doubled, check_order, check_plain, check_unknown_key
from tests.fuzz.seeds import Seed

# Shares of the cases that get what takes long; every relation is met thousands of times in a long run.
OF_TEXT = 0.1
RELATED = 0.06
EXPORTED = 0.01
RENDERED = 0.004


def run_case(seeds: Sequence[Seed], random: Random, folder: Path) -> tuple[Verdict, list[str]]:
    """Run one case with files in `folder`; the verdict, and the relations that were checked.

    Raises AssertionError for a wrong outcome, and whatever kvplan raises that is no error of its own.
    """
    seed, other = random.choice(seeds), random.choice(seeds)
    deployment = random.choice(DEPLOYMENTS)
    if random.random() < OF_TEXT:
        path = folder / f"model{seed.name[-5:]}"
        path.write_bytes(text.mutated(seed.text, other.text, random))
        verdict, checked = judge_file(path, deployment), ["text"]
        return verdict, checked + _presented(verdict, random, folder)
    mapping = structure.mutated(seed.mapping, other.mapping, random)
    beside = seed.quantization
    if beside is not None and random.random() < 0.5:
        beside = structure.mutated(beside, other.mapping, random)
    verdict = judge_mapping(mapping, deployment, beside=beside)
    checked = ["structure"]
    if verdict.plan is not None and beside is None and check_plain(mapping, verdict.plan):
        checked.append("plain formula")
    if verdict.model is not None and beside is None and random.random() < RELATED:
        native = is_native(mapping)
        check_order(mapping, verdict.model, random)
        check_unknown_key(mapping, verdict.model, random.choice(structure.VALUES), native=native)
        checked += ["order of keys", "unknown key"]
        if check_doubled(mapping, verdict.model, native=native):
            checked.append("doubled layers")
    return verdict, checked + _presented(verdict, random, folder)


def _presented(verdict: Verdict, random: Random, folder: Path) -> list[str]:
    """Sometimes draw the plan, sometimes write the model as a YAML that has to give the same plan."""
    checked = []
    if verdict.plan is not None and random.random() < RENDERED:
        check_rendered(verdict.plan)
        checked.append("rendered")
    written = to_yaml(verdict.plan.architecture) if verdict.plan and random.random() < EXPORTED else ""
    if verdict.plan is not None and 0 < len(written) <= MAX_YAML_CHARACTERS:
        path = folder / "exported.yaml"
        path.write_text(written, encoding="utf-8")
        again = judge_file(path, verdict.plan.deployment)
        assert again.plan is not None, "the exported YAML gives no plan"
        assert again.plan.capacity == verdict.plan.capacity, "the exported YAML gives another capacity"
        assert again.plan.request == verdict.plan.request, "the exported YAML gives another request"
        assert again.plan.pool == verdict.plan.pool, "the exported YAML gives another pool"
        checked.append("exported")
    return checked
