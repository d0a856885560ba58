"""Digest of the source code that a result depends on: it tells results of this code from results of other code."""

import ast
import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import driftline
from driftline import registry

COMMON_CODE = (
    "driftline.evaluation.evaluation_run",
    "driftline.evaluation.summary",
    "driftline.evaluation.tuning",
    "driftline.experiments.experiment_runs",
    "driftline.streams.derived",
    "driftline.streams.synthetic",
)
"""Modules and packages that every result depends on, for any classifier; their own imports are not followed."""
N_HEX_DIGITS = 12


@cache
def code_digest(model: str) -> str:
    """Return a digest of the code that determines the results of a classifier.

    Parameters
    ----------
    model : str
        The classifier's name in the registry.

    Returns
    -------
    str
        Hexadecimal digits; see `SourceTree.digest` for what counts.
    """
    entry = registry.describe(model)
    return _installed_source().digest(entry.module, entry.maker)


def is_stale(model: str, made: Mapping[str, Any]) -> bool:
    """Return whether a result of a classifier was made by other code than the present one, or by unknown code.

    Parameters
    ----------
    model : str
        The classifier's name in the registry.
    made : mapping
        What made the result, as in `KeptResult.made`.

    Returns
    -------
    bool
        True also if "code" is missing in `made`.
    """
    return made.get("code") != code_digest(model)


@cache
def _installed_source() -> "SourceTree":
    return SourceTree(Path(driftline.__file__).parent.parent)


class SourceTree:
    """The source files of driftline.

    Parameters
    ----------
    root : Path
        The folder that contains the package folder `driftline`.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._trees: dict[str, ast.Module] = {}
        self._digests: dict[str, str] = {}

    def digest(self, module: str, name: str) -> str:
        """Return a digest of the code that determines the results of a classifier.

        It covers the module that defines the classifier, every driftline module which that one imports, directly or
        indirectly, and `COMMON_CODE`. Comments, docstrings and formatting do not count, nor do the names and the
        folders of files: a module that is moved leaves the digest as it is. Every other change counts, even if it
        gives the same numbers. The digest does not depend on the version of Python.

        Parameters
        ----------
        module, name : str
            Where the classifier is imported from, and what it is called there.

        Returns
        -------
        str
            The first `N_HEX_DIGITS` digits of a SHA-256.
        """
        common = {each for part in COMMON_CODE for each in self.modules_in(part)}
        reached: set[str] = set()
        pending = {self._defining_module(module, name)}
        while pending:
            following = pending.pop()
            if following not in reached and self._path(following) is not None:
                reached.add(following)
                pending |= self._imports(following)
        contents = sorted(map(self._module_digest, common | reached))
        return hashlib.sha256("".join(contents).encode()).hexdigest()[:N_HEX_DIGITS]

    def modules_in(self, name: str) -> list[str]:
        """Return the names of a module, or of a package and all modules in it; none if there is no such thing."""
        folder = self._root.joinpath(*name.split("."))
        inside = (path.relative_to(self._root).with_suffix("").parts for path in folder.rglob("*.py"))
        names = {".".join(parts).removesuffix(".__init__") for parts in inside}
        return sorted(names | ({name} if self._path(name) else set()))

    def _path(self, module: str) -> Path | None:
        """Return the file of a module; None if it is not driftline's."""
        if not _is_own(module):
            return None
        base = self._root.joinpath(*module.split("."))
        candidates = (base.with_name(f"{base.name}.py"), base / "__init__.py")
        return next((path for path in candidates if path.is_file()), None)

    def _tree(self, module: str) -> ast.Module:
        if module not in self._trees:
            path = self._path(module)
            self._trees[module] = ast.parse(path.read_bytes() if path is not None else b"")
        return self._trees[module]

    def _imports(self, module: str) -> set[str]:
        """Return the modules of driftline that a module imports anywhere in its code."""
        imported = set()
        for node in ast.walk(self._tree(module)):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module is not None:
                imported |= {self._defining_module(node.module, alias.name) for alias in node.names}
        return imported

    def _defining_module(self, module: str, name: str) -> str:
        """Return the module that defines a name which another module, such as a package, may only pass on."""
        if self._path(f"{module}.{name}") is not None:
            return f"{module}.{name}"
        for node in self._tree(module).body:
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                original = next((alias.name for alias in node.names if (alias.asname or alias.name) == name), None)
                if original is not None:
                    return self._defining_module(node.module, original)
        return module

    def _module_digest(self, module: str) -> str:
        if module not in self._digests:
            text = "".join(_write(self._tree(module)))
            self._digests[module] = hashlib.sha256(text.encode()).hexdigest()
        return self._digests[module]


def _write(value: Any) -> Iterator[str]:
    """Yield the text of a syntax tree without docstrings and without the modules that names of driftline come from.

    `ast.dump` is not used because its text differs between versions of Python: fields that are empty are left out here.
    """
    if isinstance(value, list):
        yield "["
        for item in value:
            if not _is_docstring(item):
                yield from _write(item)
                yield ","
        yield "]"
    elif isinstance(value, ast.AST):
        yield f"{type(value).__name__}("
        for name, content in ast.iter_fields(value):
            is_own_module = isinstance(value, ast.ImportFrom) and name == "module" and _is_own(content)
            if content is not None and content != [] and not is_own_module:
                yield f"{name}="
                yield from _write(content)
                yield ","
        yield ")"
    else:
        yield repr(value)


def _is_own(module: str | None) -> bool:
    return module is not None and module.partition(".")[0] == "driftline"


def _is_docstring(node: Any) -> bool:
    """Return whether a statement is only a text: a docstring, or the description below a constant."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
