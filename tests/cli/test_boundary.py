"""The error boundary, around commands that fail in every way there is."""

from __future__ import annotations

import pytest
import typer
from typer.testing import CliRunner

from kvplan.cli.boundary import BoundaryGroup
from kvplan.errors import DoesNotFitError, InputError, Problem, refused

FAILURES: dict[str, BaseException] = {
    "input": InputError(
        [
            Problem(
                file="m.yaml", key="layers[0].kind", what="unknown value 'fulll'", hint="did you mean 'full'?"
            ),
            Problem(file="m.yaml", key="dtype", what="'x' is not a dtype"),
        ]
    ),
    "refused": refused("3 GPUs do not divide 32 heads", "use --tp 2 or --tp 4"),
    "unfit": DoesNotFitError(Problem(file="", key="", what="12 bytes are missing"), shortfall_bytes=12),
    "hostile": InputError(Problem(file="[red]\x1b[31m\n", key="", what="no such file")),
    "endless": InputError([Problem(file="m.yaml", key=str(n), what="wrong") for n in range(1_000)]),
    "bug": ZeroDivisionError("division by zero"),
    "interrupt": KeyboardInterrupt(),
}


def application() -> typer.Typer:
    """A command that prints its argument, or fails as it is told."""
    app = typer.Typer(cls=BoundaryGroup, rich_markup_mode=None)

    @app.callback()
    def options(debug: bool = typer.Option(False, "--debug")) -> None:
        """Accept --debug."""

    @app.command()
    def run(failure: str, count: int = 0) -> None:
        """Fail, or say that nothing failed."""
        if failure in FAILURES:
            raise FAILURES[failure]
        typer.echo(f"{failure} {count}")

    return app


@pytest.mark.parametrize(
    ("arguments", "code", "lines"),
    [
        (
            ["run", "input"],
            2,
            [
                "kvplan: error: m.yaml: layers[0].kind: unknown value 'fulll' (did you mean 'full'?)",
                "kvplan: error: m.yaml: dtype: 'x' is not a dtype",
            ],
        ),
        (
            ["run", "refused"],
            3,
            [
                "kvplan: error: SGLang would stop: 3 GPUs do not divide 32 heads (use --tp 2 or --tp 4)",
            ],
        ),
        (["run", "unfit"], 3, ["kvplan: error: 12 bytes are missing"]),
        (["run", "hostile"], 2, [r"kvplan: error: [red]\x1b[31m\n: no such file"]),
        (
            ["run", "bug"],
            1,
            [
                "kvplan: error: internal: ZeroDivisionError: division by zero "
                "(a bug of kvplan; --debug shows the traceback)"
            ],
        ),
        (["run", "interrupt"], 130, []),
    ],
)
def test_failures_are_lines_on_stderr_and_an_exit_code(
    arguments: list[str], code: int, lines: list[str]
) -> None:
    result = CliRunner().invoke(application(), arguments, prog_name="kvplan")
    assert (result.exit_code, result.stdout, result.stderr.splitlines()) == (code, "", lines)


def test_success_passes_through() -> None:
    result = CliRunner().invoke(application(), ["run", "fine", "--count", "3"])
    assert (result.exit_code, result.stdout, result.stderr) == (0, "fine 3\n", "")


def test_debug_shows_the_traceback_before_the_line() -> None:
    result = CliRunner().invoke(application(), ["--debug", "run", "bug"])
    lines = result.stderr.splitlines()
    assert (result.exit_code, lines[0]) == (1, "Traceback (most recent call last):")
    assert lines[-2] == "ZeroDivisionError: division by zero"
    assert lines[-1].startswith("kvplan: error: internal: ZeroDivisionError: division by zero (")


def test_debug_shows_nothing_that_a_terminal_would_obey() -> None:
    result = CliRunner().invoke(application(), ["--debug", "run", "hostile"])
    assert result.exit_code == 2
    assert "\x1b" not in result.stderr
    assert result.stderr.splitlines()[-1] == r"kvplan: error: [red]\x1b[31m\n: no such file"


def test_a_file_of_endless_problems_is_told_in_part() -> None:
    result = CliRunner().invoke(application(), ["run", "endless"])
    lines = result.stderr.splitlines()
    assert (result.exit_code, len(lines)) == (2, 201)
    assert lines[199:] == ["kvplan: error: m.yaml: 199: wrong", "kvplan: error: and 800 problems more"]
