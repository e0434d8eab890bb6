"""What the cases start from: real configs and model YAMLs, each as a mapping and as the text of its file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kvplan import plain_yaml

ROOT = Path(__file__).parents[2]
BUNDLED = ROOT / "configs"
UNSEEN = ROOT / "tests" / "data" / "unseen.jsonl"
# Lists of quantised modules make some files megabytes long; a mutation would hardly ever meet another key.
MAX_BYTES = 40_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """`name` ends in .json or .yaml, as the file of its text would; `quantization` lies beside a config."""

    name: str
    mapping: dict[str, Any]
    text: str
    quantization: dict[str, Any] | None = None


def seeds(corpus: Path | None = None) -> list[Seed]:
    """Bundled YAMLs and published configs, those below `corpus` as well where it is given."""
    found = [_of_yaml(path) for path in sorted(BUNDLED.glob("*.yaml"))]
    for line in UNSEEN.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if all("engine_version" in job["options"] for job in row["jobs"]):
            continue  # of an older release: the newest may refuse it
        found.append(_of_json(f"{row['name']}.json", json.dumps(row["config"], indent=2)))
    if corpus is not None:
        found += [
            _of_json(path.name, text, beside=corpus / "hf_quant" / path.name)
            for path in sorted((corpus / "hf").glob("*.json"))
            if len(text := path.read_text(encoding="utf-8")) <= MAX_BYTES
        ]
    return found


def _of_yaml(path: Path) -> Seed:
    text = path.read_text(encoding="utf-8")
    mapping: dict[str, Any] = plain_yaml.parse(text, file=path.name, problems=[])
    return Seed(name=path.name, mapping=mapping, text=text)


def _of_json(name: str, text: str, *, beside: Path | None = None) -> Seed:
    quantization = None
    if beside is not None and beside.is_file():
        quantization = json.loads(beside.read_text(encoding="utf-8"))
        if len(beside.read_bytes()) > MAX_BYTES:
            quantization = None
    return Seed(name=name, mapping=json.loads(text), text=text, quantization=quantization)
