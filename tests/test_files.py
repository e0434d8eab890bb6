"""A config file is read as plain data or refused in one line that names it."""

from __future__ import annotations

import math
import os
import socket
from pathlib import Path

import pytest

from kvplan.errors import InputError, Problem
from kvplan.files import MAX_CONFIG_BYTES, printable, read_mapping


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_mapping(path, shown="FILE")
    return str(caught.value)


READ = "(kvplan reads a config.json or a model YAML)"
DEEP = "[" * 200_000
REFUSED = {
    "empty": ("a.json", "", f"FILE: is empty {READ}"),
    "only white space": ("a.yaml", " \n\n", f"FILE: is empty {READ}"),
    "a list": ("a.json", "[1]", f"FILE: holds a list, not a mapping of keys to values {READ}"),
    "null": ("a.json", "null", f"FILE: holds nothing, not a mapping of keys to values {READ}"),
    "a number": ("a.json", "3", f"FILE: holds a single value, not a mapping of keys to values {READ}"),
    "prose": ("README", "Read me.", f"FILE: holds plain text, not a mapping of keys to values {READ}"),
    "only a comment": ("a.yaml", "# x\n", f"FILE: holds nothing, not a mapping of keys to values {READ}"),
    "a page instead of JSON": (
        "config.json",
        "<!DOCTYPE html>",
        "FILE: is not valid JSON: Expecting value in line 1, column 1",
    ),
    "JSON that breaks off": (
        "config.json",
        '{"a": 1,\n "b"',
        "FILE: is not valid JSON: Expecting ':' delimiter in line 2, column 5",
    ),
    "JSON with another suffix": (
        "config.txt",
        '{"a"}',
        "FILE: is not valid JSON: Expecting ':' delimiter in line 1, column 5",
    ),
    "bytes": ("weights", b"GGUF\xff\x00", f"FILE: is not UTF-8 text (byte 4) {READ}"),
    "UTF-16": ("a.json", '{"a": 1}'.encode("utf-16"), f"FILE: is not UTF-8 text (byte 0) {READ}"),
    "deep JSON": ("a.json", DEEP, "FILE: nests too deeply for a config"),
    "deep YAML": ("a.yaml", "a: " + "[" * 100, "FILE: nests deeper than 32 levels"),
    "a JSON number without end": (
        "a.json",
        '{"a": ' + "9" * 5000 + "}",
        "FILE: holds a number that is too long",
    ),
    "half a surrogate pair": (
        "a.json",
        '{"model_type": "\\ud800"}',
        f"FILE: holds half of a surrogate pair, which is no text {READ}",
    ),
    "a YAML of a megabyte": (
        "a.yaml",
        "a: 1\n" * 200_000,
        "FILE: is larger than 512 KiB, far more than any model YAML",
    ),
    "a key twice": ("a.json", '{"b": {"a": 1, "a": 2}}', "FILE: a: is there twice (keep one)"),
    "a long key twice": (
        "a.json",
        f'{{"{"k" * 5000}": 1, "{"k" * 5000}": 2}}',
        f"FILE: {'k' * 200}...{'k' * 200}: is there twice (keep one)",
    ),
    "too large": (
        "a.yaml",
        b"#" * (MAX_CONFIG_BYTES + 1),
        f"FILE: is larger than 8 MiB, far more than any config {READ}",
    ),
}


@pytest.mark.parametrize(("name", "content", "line"), REFUSED.values(), ids=REFUSED)
def test_unusable_content_is_refused_in_one_line(
    tmp_path: Path, name: str, content: str | bytes, line: str
) -> None:
    assert refusal(written(tmp_path, name, content)) == line


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.json") == "FILE: no such file"


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    assert refusal(tmp_path) == "FILE: is a folder, not a file"


def test_a_fifo_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert refusal(tmp_path / "pipe") == f"FILE: is not a regular file {READ}"


def test_a_socket_is_refused(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        assert refusal(tmp_path / "s") == f"FILE: is not a regular file {READ}"


def test_a_device_is_refused() -> None:
    assert refusal(Path("/dev/zero")) == f"FILE: is not a regular file {READ}"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.json", '{"a": 1, "b": [true, null]}'),
        ("any.name", '\n {"a": 1, "b": [true, null]}'),
        ("no_suffix", "a: 1\nb: [true, null]\n"),
        ("model.YML", "a: 1\nb: [true, null]\n"),
        ("bom.json", b'\xef\xbb\xbf{"a": 1, "b": [true, null]}'),
        ("bom.yaml", b"\xef\xbb\xbfa: 1\nb: [true, null]\n"),
    ],
)
def test_json_and_yaml_are_told_apart_by_suffix_then_by_content(
    tmp_path: Path, name: str, content: str | bytes
) -> None:
    assert read_mapping(written(tmp_path, name, content), shown="FILE") == {"a": 1, "b": [True, None]}


def test_infinity_and_nan_are_read_as_published_configs_hold_them(tmp_path: Path) -> None:
    path = written(tmp_path, "config.json", '{"time_step_limit": [0.0, Infinity], "x": NaN}')
    data = read_mapping(path, shown="FILE")
    assert data["time_step_limit"] == [0.0, math.inf]
    assert math.isnan(data["x"])


def test_a_whole_surrogate_pair_is_text(tmp_path: Path) -> None:
    path = written(tmp_path, "config.json", '{"a": "\\ud83d\\ude42"}')
    assert read_mapping(path, shown="FILE") == {"a": "\U0001f642"}


def test_a_key_that_is_there_a_million_times_is_named_once(tmp_path: Path) -> None:
    path = written(tmp_path, "config.json", '{"b": 1' + ', "a": 1' * 900_000 + "}")
    assert refusal(path) == "FILE: a: is there twice (keep one)"


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.json", '{"a": 1, "a": 2}', Problem(file="F", key="a", what="is there twice", hint="keep one")),
        (
            "a.yaml",
            "a: 1\na: 2\n",
            Problem(file="F", key="a", what="is there twice, in line 1 and in line 2", hint="keep one"),
        ),
    ],
)
def test_a_duplicate_key_goes_to_the_given_problems(
    tmp_path: Path, name: str, content: str, problem: Problem
) -> None:
    problems: list[Problem] = []
    assert read_mapping(written(tmp_path, name, content), shown="F", problems=problems) == {"a": 2}
    assert problems == [problem]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("models/Qwen3 [1].json", "models/Qwen3 [1].json"),
        ("Ünï/x", "Ünï/x"),
        ("a\x1b[31m\nb", "a\\x1b[31m\\nb"),
        ("x" * 201, "x" * 200 + "..."),
    ],
)
def test_printable_leaves_one_harmless_line(text: str, shown: str) -> None:
    assert printable(text) == shown
