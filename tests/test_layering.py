"""Who may import whom, read from the source of every module, imports inside functions included."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import kvplan

PACKAGE = Path(kvplan.__file__).parent

# From the bottom to the top: a module imports from its own layer and from those below it.
LAYERS = {
    "base": "frozen errors units config",
    "model": "dtypes layers weights.records architecture accounting",
    "engine": "deployment hardware memory choices weights.sharding weights.reads decode records sglang pools "
    "stages",
    "plan": "",  # whatever stands in no other layer: what combines those below into answers
    "render": "render",
    "cli": "cli __main__",
}
RANKS = {name: rank for rank, name in enumerate(LAYERS)}
PREFIXES = {prefix: layer for layer, names in LAYERS.items() for prefix in names.split()}

# From a reference to an Architecture and back; an engine is nothing to them.
INPUTS = [
    *(
        "config",
        "readers",
        "sources",
        "loading",
        "catalog",
        "files",
        "local",
        "hub",
        "hub_cache",
        "hub_errors",
    ),
    *("plain_yaml", "export", "schema"),
]
# How a mapping of a config looks in the code.
MAPPINGS = {
    "kvplan.config.Config",
    "kvplan.sources.Document",
    "kvplan.files.read_mapping",
    "kvplan.plain_yaml.parse",
}

# The modules that may use a library; a package stands for all its modules.
LIBRARIES = {
    "typer": ["cli"],
    "click": [],  # Typer brings its own, a clean install has none
    "rich": ["cli", "render"],
    "yaml": ["plain_yaml", "export"],
    "huggingface_hub": ["hub", "hub_errors"],
    "torch": [],
    "transformers": [],
}


def name_of(path: Path) -> str:
    """`pools/__init__.py` -> `pools`, `pools/mla.py` -> `pools.mla`; the package itself is `""`."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def imported(module: str, *, at_import: bool = False) -> Iterator[str]:
    """Full names of what a module imports, for `from a import b` as `a.b`.

    `at_import`: only what is imported when the module is, not by functions or type checkers.
    """
    tree = tree_of(module)
    for node in tree.body if at_import else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} has a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def modules_imported(module: str, *, at_import: bool = False) -> set[str]:
    """The modules of kvplan that a module imports."""
    found = set()
    for name in imported(module, at_import=at_import):
        if name == "kvplan" or name.startswith("kvplan."):
            inner = name.removeprefix("kvplan").removeprefix(".")
            # The name of a function is no module: what holds it is.
            found.add(inner if inner in MODULES else inner.rpartition(".")[0])
    return found - {module}


def belongs(module: str, prefix: str) -> bool:
    return module == prefix or module.startswith(f"{prefix}.")


def layer_of(module: str) -> str:
    fitting = [prefix for prefix in PREFIXES if belongs(module, prefix)]
    return PREFIXES[max(fitting, key=len)] if fitting else "plan"


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_from_its_layer_and_below(module: str) -> None:
    # The package's own names are lazy; its version is all that others take from it.
    above = {
        other: layer_of(other)
        for other in modules_imported(module) - {""}
        if RANKS[layer_of(other)] > RANKS[layer_of(module)]
    }
    assert module == "" or above == {}


def test_every_named_module_exists() -> None:
    named = {*PREFIXES, *INPUTS, *(name for names in LIBRARIES.values() for name in names)}
    assert [name for name in named if not any(belongs(module, name) for module in MODULES)] == []
    assert {layer_of(module) for module in MODULES} == set(LAYERS)


def test_no_module_needs_itself_to_be_imported() -> None:
    order = TopologicalSorter({name: modules_imported(name, at_import=True) - {""} for name in MODULES})
    assert set(order.static_order()) >= set(MODULES)  # a cycle raises CycleError


@pytest.mark.parametrize("module", [name for name in MODULES if any(belongs(name, own) for own in INPUTS)])
def test_readers_and_sources_know_no_engine(module: str) -> None:
    known = {*INPUTS, "frozen", "errors", "units", "dtypes", "layers", "architecture", "weights"}
    others = {
        name
        for name in modules_imported(module) - {""}
        if not any(belongs(name, prefix) for prefix in known) or belongs(name, "sglang")
    }
    assert others == set()


# `whatif` reads changes to a model that the user types, in the terms of a model YAML; gates and their
# baselines are files of their own, no configs of models.
OTHER_FILES = ("whatif", "gates.reading", "gates.entry", "gates.lock")


@pytest.mark.parametrize(
    "module", [name for name in MODULES if not any(belongs(name, own) for own in (*INPUTS, *OTHER_FILES))]
)
def test_nothing_behind_the_readers_sees_a_config(module: str) -> None:
    assert MAPPINGS & set(imported(module)) == set()


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_library_is_used_in_its_place_alone(library: str) -> None:
    users = {module for module in MODULES for name in imported(module) if name.partition(".")[0] == library}
    assert {user for user in users if not any(belongs(user, own) for own in LIBRARIES[library])} == set()


@pytest.mark.parametrize("library", ["huggingface_hub", "yaml"])
def test_what_takes_long_to_import_waits_until_it_is_used(library: str) -> None:
    eager = {
        module
        for module in MODULES
        for name in imported(module, at_import=True)
        if name.partition(".")[0] == library
    }
    # plain_yaml is imported by a function itself, when the file is YAML.
    assert eager <= {"plain_yaml"}
    importers = {module for module in MODULES if "plain_yaml" in modules_imported(module, at_import=True)}
    assert importers == set()


def test_no_module_runs_code_from_a_file() -> None:
    unsafe = {"load", "load_all", "unsafe_load", "full_load", "unsafe_load_all", "full_load_all"}
    calls = [
        (module, node.func.attr)
        for module in MODULES
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and (node.func.value.id, node.func.attr) in {("yaml", name) for name in unsafe}
    ]
    builtins = [
        (module, node.func.id)
        for module in MODULES
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("eval", "exec", "__import__")
    ]
    assert calls + builtins == []
