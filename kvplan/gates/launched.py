"""A gate whose server a launch line starts: which of the gate's options hold beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kvplan.gates.records import Gate
from kvplan.launch import Launch
from kvplan.launch.modelled import MODELLED

_FIELDS = frozenset(entry.field for entry in MODELLED.values())  # what a line can set


def beside_line(gate: Gate, line: Launch, *, defaults: Sequence[str], unset: Sequence[str]) -> Gate:
    """The gate with its launch line; what the gate itself says holds over the line, as in `size --launch`.

    `defaults`: options that the gate has from there while the line is its own. A line says all of how its
    server starts, so of these only what no line can say is kept, and a note names what the line leaves
    out. `unset`: options that the gate takes back, from the line too.
    """
    unheard = [name for name in gate.options if name in defaults and name in _FIELDS | line.settings.keys()]
    options = {name: value for name, value in gate.options.items() if name not in unheard}
    places = {name: place for name, place in gate.places.items() if name not in unheard}
    model = gate.model
    if line.model is not None and (not model or "model" in defaults):
        model, places["model"] = line.model, places["launch"]
    decided = {name: value for name, value in line.start.items() if name not in (*options, *unset)}
    return replace(
        gate,
        model=model,
        options=options,
        places=places,
        launch=replace(line, settings=decided),
        notes=tuple(
            f"{gate.places[name]} is not used: the launch line says all of how its server starts"
            for name in unheard
            if name not in line.settings
        ),
    )
