"""The classification of SGLang's flags: each stands in one table, with a reason."""

from __future__ import annotations

import dataclasses

from kvplan.deployment import Deployment
from kvplan.errors import option_flag
from kvplan.launch.arguments import known_flags
from kvplan.launch.ignored import IGNORED
from kvplan.launch.modelled import ALIASES, MODELLED
from kvplan.launch.unmodelled import UNMODELLED, UNMODELLED_VARIABLES

# Spellings in SGLang's own parsers: 561 in 0.5.23, of which -h and --help start nothing, 32 that only
# 0.5.12 has, and 5 that only releases between them have; --tp, --dp and --pp stand for themselves here, and
# for their beginnings there.
SPELLINGS = 561 - 2 + 32 + 5 + 3


def ignored_flags() -> list[str]:
    return [
        option_flag(name)
        for group in IGNORED
        for names in (group.values, group.switches, group.lists)
        for name in names.split()
    ]


def test_every_flag_of_every_release_is_classified() -> None:
    assert len({*known_flags(), *ALIASES}) == SPELLINGS


def test_no_flag_is_in_two_tables() -> None:
    flags = [*MODELLED, *UNMODELLED, *ignored_flags()]
    assert sorted(flags) == sorted(set(flags))
    assert set(ALIASES) & set(known_flags()) == set()


def test_every_alias_leads_to_a_flag() -> None:
    assert set(ALIASES.values()) <= set(known_flags())


def test_every_modelled_flag_sets_a_field_of_a_deployment() -> None:
    fields = {field.name for field in dataclasses.fields(Deployment)}
    assert {entry.field for entry in MODELLED.values()} <= fields


def test_every_exception_has_a_reason() -> None:
    reasons = [one.reason for one in (*UNMODELLED.values(), *UNMODELLED_VARIABLES.values())]
    reasons += [group.reason for group in IGNORED]
    assert all(len(reason.split()) >= 2 for reason in reasons)
