"""Variables of a launch script: values are split where a POSIX shell splits them, and nowhere else."""

from __future__ import annotations

import pytest

from kvplan.errors import InputError
from kvplan.launch import parse
from kvplan.launch.lines import commands

ARGS = 'ARGS="--tp 4  --kv-cache-dtype\tfp8_e4m3"\n'


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        (ARGS + "sglang serve m $ARGS", ("m", "--tp", "4", "--kv-cache-dtype", "fp8_e4m3")),
        (ARGS + "sglang serve m ${ARGS} --x", ("m", "--tp", "4", "--kv-cache-dtype", "fp8_e4m3", "--x")),
        (ARGS + 'sglang serve m "$ARGS"', ("m", "--tp 4  --kv-cache-dtype\tfp8_e4m3")),
        (ARGS + 'sglang serve m "${ARGS}"', ("m", "--tp 4  --kv-cache-dtype\tfp8_e4m3")),
        ("A=' 1 2 '\nsglang serve m x${A}y", ("m", "x", "1", "2", "y")),
        ("A='1 2'\nsglang serve m $A$A", ("m", "1", "21", "2")),
        ("A='1 2'\nsglang serve m $A\"$A 3\"", ("m", "1", "21 2 3")),
        ("A='1\n2'\nsglang serve m $A", ("m", "1", "2")),
        ("A=\nsglang serve m $A --x", ("m", "--x")),
        ('A=\nsglang serve m "$A" --x', ("m", "", "--x")),
        ("A=' '\n$A\nsglang serve m", ("m",)),
        ("A='1 2'\nB=$A\nexport C=$B\nsglang serve m \"$C\" $C", ("m", "1 2", "1", "2")),
        ("A='--tp 2'\nB=\"$A --dp 2\"\nsglang serve m $B", ("m", "--tp", "2", "--dp", "2")),
        ("sglang serve m ${A:---tp 4} x", ("m", "--tp", "4", "x")),
        ('sglang serve m "${A:---tp 4}" x', ("m", "--tp 4", "x")),
        ('sglang serve m ${A:-"--tp 4"} x', ("m", "--tp 4", "x")),
        ("CMD='python3 -m sglang.launch_server --tp 2'\nnohup $CMD --x &", ("--tp", "2", "--x")),
        ("A='--tp 2'\nbash -c 'sglang serve m $A'", ("m", "--tp", "2")),
        ("A='--tp 2'\nbash -c \"sglang serve m $A\"", ("m", "--tp", "2")),
        ("sglang serve m $UNSET --x", ("m", "$UNSET", "--x")),
    ],
)
def test_a_value_outside_quotes_is_split_at_its_blanks(text: str, arguments: tuple[str, ...]) -> None:
    assert commands(text, "f")[0].arguments == arguments


def test_flags_in_a_variable_are_planned() -> None:
    launch = parse(f"MODEL=org/m\n{ARGS}python3 -m sglang.launch_server --model-path $MODEL $ARGS")
    assert (launch.model, launch.settings) == ("org/m", {"tp": 4, "kv_cache_dtype": "fp8_e4m3"})
    assert launch.warnings(launch.deployment) == ()


def test_a_default_outside_quotes_is_named_as_written() -> None:
    launch = parse("sglang serve org/m ${EXTRA:---tp 4}")
    assert launch.settings == {"tp": 4}
    assert launch.warnings(launch.deployment) == ("${EXTRA:---tp 4}: its default in the text",)


@pytest.mark.parametrize("last", ["$V39", '"$V39"', "${V39}"])
def test_values_that_are_split_may_not_grow_without_end(last: str) -> None:
    doubled = "".join(f'V{number}="$V{number - 1} "$V{number - 1}\n' for number in range(1, 40))
    with pytest.raises(InputError, match="its variables grow it by more than 65,536 characters"):
        commands(f"V0=xxxxxxxx\n{doubled}sglang serve {last}", "f")
