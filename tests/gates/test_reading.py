"""The gate file: what is read from it, and every way in which it can be wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from kvplan.cli.gating import vocabulary
from kvplan.errors import InputError, Problem
from kvplan.gates.reading import read_gates
from kvplan.gates.records import Gate


def read(folder: Path, text: str) -> tuple[list[Gate], list[str]]:
    """The gates of a file and its problems, without the name of the file."""
    path = folder / "gates.yaml"
    path.write_text(text, encoding="utf-8")
    problems: list[Problem] = []
    gates = read_gates(str(path), vocabulary(), problems)
    return gates, [str(problem).removeprefix(f"{path}: ") for problem in problems]


FILE = """\
# capacity of the chat cluster
defaults:
  gpu: h200
  ctx: 32k
  require:
    request.bytes: "<= 3.3GB"
    cell_size: "<= 1M"

gates:
  small:
    model: meta-llama/Llama-3.1-8B
    --tp-size: [1, 2]
    enable-dp-attention: [true, false]
    mem_fraction_static: 0.88
    ctx: null
    set: [kv_heads=4, window=512]
    require:
      pool.cell_size: ["> 1", "<= 131072"]
  qwen3.5:
    model: [a/b@v1, a/c]
    source: cache
"""


def test_defaults_reach_every_gate_and_lists_make_one_gate_for_each_value(tmp_path: Path) -> None:
    gates, problems = read(tmp_path, FILE)
    assert problems == []
    assert [(gate.name, gate.line, gate.model, gate.source) for gate in gates] == [
        ("small[tp=1,enable_dp_attention=true]", 10, "meta-llama/Llama-3.1-8B", None),
        ("small[tp=1,enable_dp_attention=false]", 10, "meta-llama/Llama-3.1-8B", None),
        ("small[tp=2,enable_dp_attention=true]", 10, "meta-llama/Llama-3.1-8B", None),
        ("small[tp=2,enable_dp_attention=false]", 10, "meta-llama/Llama-3.1-8B", None),
        ("qwen3.5[model=a/b@v1]", 19, "a/b@v1", "cache"),
        ("qwen3.5[model=a/c]", 19, "a/c", "cache"),
    ]
    assert gates[0].options == {
        "gpu": "h200",
        "tp": "1",
        "enable_dp_attention": True,
        "mem_fraction_static": "0.88",
    }
    assert gates[4].options == {"gpu": "h200", "ctx": "32k"}
    assert gates[0].changes == ("kv_heads=4", "window=512")


def test_a_gate_replaces_what_the_defaults_require_of_the_same_figure(tmp_path: Path) -> None:
    gates, _ = read(tmp_path, FILE)
    required = [[f"{one.figure} {one}" for one in gate.conditions] for gate in (gates[0], gates[4])]
    assert required == [
        ["request.bytes <= 3.3GB", "pool.cell_size > 1", "pool.cell_size <= 131072"],
        ["request.bytes <= 3.3GB", "pool.cell_size <= 1M"],
    ]


def test_null_takes_a_default_back(tmp_path: Path) -> None:
    text = (
        "defaults: {model: b, source: hub, set: kv_heads=4, tp: 4, disable_radix_cache: true}\n"
        "gates:\n"
        "  a: {source: null, set: null, tp: null, disable_radix_cache: null}\n"
        "  b: {model: null}\n"
        "  c: {}\n"
    )
    gates, problems = read(tmp_path, text)
    assert [(gate.name, gate.source, gate.changes, dict(gate.options)) for gate in gates] == [
        ("a", None, (), {}),
        ("c", "hub", ("kv_heads=4",), {"tp": "4", "disable_radix_cache": True}),
    ]
    assert problems == ["gates.b.model: is missing"]


def test_a_name_alone_is_a_gate_with_the_defaults(tmp_path: Path) -> None:
    gates, problems = read(tmp_path, "defaults: {model: b, tp: 4}\ngates:\n  a:\n")
    assert ([(gate.name, gate.line, gate.options) for gate in gates], problems) == (
        [("a", 3, {"tp": "4"})],
        [],
    )


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("{}", ["gates: holds no gate (a name for each, with a model below)"]),
        ("gates:", ["gates: holds no gate (a name for each, with a model below)"]),
        ("gates: 5", ["gates: 5 is not a mapping"]),
        (
            "gate: {a: {model: b}}",
            [
                "gate: unknown key (did you mean gates?)",
                "gates: holds no gate (a name for each, with a model below)",
            ],
        ),
        ("gates: {a: {tp: 4}}", ["gates.a.model: is missing"]),
        ("gates: {a: }", ["gates.a.model: is missing"]),
        ("gates: {a: b}", ["gates.a: 'b' is not a mapping"]),
        ("gates: {a: {model: b, tpp: 4}}", ["gates.a.tpp: unknown key (did you mean tp?)"]),
        (
            "gates: {a: {model: b, tp: 1, tp-size: 2}}",
            ["gates.a.tp-size: is given twice, also as gates.a.tp (keep one)"],
        ),
        ("gates: {a: {model: b, tp: [4, 4]}}", ["gates.a.tp: lists a value twice"]),
        ("gates: {a: {model: b, tp: []}}", ["gates.a.tp: is an empty list"]),
        ("gates: {a: {model: b, tp: {c: 4}}}", ["gates.a.tp: {'c': 4} is not a single value"]),
        ("gates: {a: {model: b, tp: true}}", ["gates.a.tp: True is not a single value"]),
        (
            "gates: {a: {model: b, disable_radix_cache: 1}}",
            ["gates.a.disable_radix_cache: 1 is not true or false"],
        ),
        (
            "gates: {a: {model: b, require: {cell_size: ['>= 9', '< 9']}}}",
            ["gates.a.require.pool.cell_size: >= 9 and < 9 can't hold together"],
        ),
        (
            "gates: {a: {model: b, require: {cell_size: '> 9', pool.cell_size: 9}}}",
            ["gates.a.require.pool.cell_size: > 9 and == 9 can't hold together"],
        ),
        (
            "{defaults: {require: {cell_size: 9}}, gates: {a: {model: b, require: }}}",
            ["gates.a.require: holds no condition (leave it out, or name a figure below)"],
        ),
        (
            "gates: {a: {model: b, tp: [1, 2]}, 'a[tp=1]': {model: b}}",
            ["gates: 2 gates are named a[tp=1] (give each a name of its own)"],
        ),
        (
            "gates: {a: {model: b}, a: {model: c}}",
            ["gates.a: is there twice, in line 1 and in line 1 (keep one)"],
        ),
        (
            "{defaults: {tpp: 1}, gates: {a: {model: b, require: {cell_size: {}}}}}",
            [
                "defaults.tpp: unknown key (did you mean tp?)",
                "gates.a.require.cell_size: has nothing to compare with (write >= 4M, <= 3.3GB or a value)",
            ],
        ),
    ],
)
def test_everything_that_is_wrong_is_named_at_its_place(
    tmp_path: Path, text: str, problems: list[str]
) -> None:
    assert read(tmp_path, text)[1] == problems


def test_a_matrix_that_explodes_is_refused(tmp_path: Path) -> None:
    values = ", ".join(f"{name}: [1, 2, 3, 4]" for name in ("tp", "dp", "pp", "dcp", "ep"))
    gates, problems = read(tmp_path, f"gates: {{a: {{model: b, {values}}}}}")
    assert (gates, problems) == ([], ["gates.a: makes more than 1,000 gates"])


def test_a_file_with_too_many_gates_is_refused(tmp_path: Path) -> None:
    gates, problems = read(tmp_path, "gates:\n" + "".join(f"  g{i}: {{model: b}}\n" for i in range(1_001)))
    assert (gates, problems) == ([], ["gates: makes more than 1,000 gates"])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "is empty (gates are YAML: defaults, then gates by their names)"),
        ("# nothing\n", "holds nothing, not a mapping of keys to values"),
        ("- a\n", "holds a list, not a mapping of keys to values"),
        ("gates: &x {a: *x}\n", "gates: YAML anchors and aliases are not read (write the value out)"),
        ("gates: !!python/object:os.system {}\n", "is not read (leave the tag out)"),
        ("gates: {", "is not valid YAML"),
    ],
)
def test_a_file_that_can_not_be_read_is_one_line(tmp_path: Path, text: str, line: str) -> None:
    with pytest.raises(InputError) as raised:
        read(tmp_path, text)
    assert line in str(raised.value)
    assert "\n" not in str(raised.value)
