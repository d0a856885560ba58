"""Which column of a file is what: the label, the time, those to learn from."""

from collections.abc import Sequence
from dataclasses import dataclass
from reprlib import repr as brief

from driftline.errors import ConfigError, DataError
from driftline.streams.files.options import Numeral, Options
from driftline.utils.suggestions import close_names, did_you_mean


@dataclass(frozen=True, slots=True)
class Roles:
    """Positions of the columns in the file, by what they are for."""

    names: tuple[str, ...]
    features: tuple[int, ...]
    categorical: frozenset[int]
    label: int
    time: int | None

    @property
    def used(self) -> tuple[int, ...]:
        """The columns to read: those to learn from, the label, then the time if there is one."""
        return (*self.features, self.label) if self.time is None else (*self.features, self.label, self.time)


def assign(found: Sequence[str], options: Options, source: str) -> Roles:
    """Give the columns that were found in a file the roles that the user named."""
    names = different(found)
    if options.label is None:
        raise ConfigError(f"{source}: pass label= as the name or position of the label among {_listed(names)}")

    def position(wanted: str | int, role: str) -> int:
        return _position(wanted, found, names, f"{source}: {role}")

    label = position(options.label, "label")
    time = None if options.time is None else position(options.time, "time")
    ignored = frozenset(position(wanted, "ignore") for wanted in options.ignore)
    categorical = frozenset(position(wanted, "categorical") for wanted in options.categorical)
    named = [label, *(() if time is None else (time,)), *ignored, *(categorical - {label})]
    if len(set(named)) < len(named):
        twice = names[next(j for j in named if named.count(j) > 1)]
        raise ConfigError(f"column {twice!r} is named in two of label, time, ignore and categorical; name it in one")
    features = tuple(j for j in range(len(names)) if j not in ignored and j not in (label, time))
    if not features:
        raise DataError(f"{source}: no column is left to learn from besides the label {names[label]!r}")
    return Roles(names, features, categorical, label, time)


def different(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of which no two are the same and none is empty.

    Examples
    --------
    >>> different(["a", "", "a", "b"])
    ('a', 'x1', 'a.2', 'b')
    """
    taken: dict[str, int] = {}
    for j, name in enumerate(names):
        wanted = unique = name or f"x{j}"
        while unique in taken:
            taken[wanted] += 1
            unique = f"{wanted}.{taken[wanted]}"
        taken[unique] = 1
    return tuple(taken)


def _position(wanted: str | int, found: Sequence[str], names: Sequence[str], role: str) -> int:
    if isinstance(wanted, Numeral) and found.count(str(wanted)) == 1:
        return found.index(str(wanted))
    if isinstance(wanted, int):
        if -len(names) <= wanted < len(names):
            return wanted % len(names)
        raise DataError(f"{role}={wanted} is no position: there are {len(names)} columns, {_listed(names)}")
    if found.count(wanted) == 1:
        return found.index(wanted)
    if wanted in found:
        raise DataError(f"{role}={wanted!r} is the name of {found.count(wanted)} columns; pass the position instead")
    if wanted in names:
        return names.index(wanted)
    hint = did_you_mean(map(repr, close_names(wanted, names))) or f"; the columns are {_listed(names)}"
    raise DataError(f"{role}={wanted!r} is the name of no column{hint}")


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(brief(name) for name in names[:20]) or "none"
    return shown if len(names) <= 20 else f"{shown}, … ({len(names):,} in all)"
