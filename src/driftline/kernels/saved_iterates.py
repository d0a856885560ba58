"""Two saved iterates of Alg. 4, from which the best one is computed again at the end.

Most iterates are better than all before, and to copy each of them would cost too much. So they are overwritten, one is
saved now and then, and the best is found again by repeating the steps from the last saved one before it.
"""

from typing import NamedTuple

from driftline._jit import inner_kernel
from driftline.kernels.search_workspace import SearchWorkspace
from driftline.kernels.vectors import accelerated_step
from driftline.types import Matrix


class SavedIterates(NamedTuple):
    """Which iterates are in the two places of `SearchWorkspace.iterates`."""

    place: int
    """Where the last saved iterate is. The other place has one from which the best iterate can be found again, unless
    that came after the last saved one."""
    last: int
    """Number of the iterate in `place`."""
    other: int
    """Number of the iterate in the other place."""


@inner_kernel
def free_place(saved: SavedIterates, best: int) -> SavedIterates:
    """Return the record with the place that is not needed to find iterate number `best` again as `place`."""
    if best >= saved.last:
        return SavedIterates(1 - saved.place, saved.last, saved.last)
    return saved


@inner_kernel
def save_current(work: SearchWorkspace, saved: SavedIterates, number: int) -> SavedIterates:
    """Save the current iterate in `place`; return the record with its number."""
    for j in range(work.x.size):
        work.iterates[saved.place, 0, j] = work.x[j]
        work.iterates[saved.place, 1, j] = work.bar[j]
    return SavedIterates(saved.place, number, saved.other)


@inner_kernel
def find_best_again(work: SearchWorkspace, saved: SavedIterates, best: int, steps: Matrix) -> SavedIterates:
    """Repeat the steps up to iterate number `best`, and leave it in the place that is then not `place`."""
    saved = free_place(saved, best)
    iterate = work.iterates[1 - saved.place]
    for l in range(saved.other, best):  # noqa: E741  # the paper's letter
        accelerated_step(iterate[0], iterate[1], work.pulls, work.used[l], work.lam, steps[l, 0], steps[l, 1])
    return SavedIterates(saved.place, saved.last, best)
