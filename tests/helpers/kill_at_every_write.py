"""Kill an evaluation before and after its writes, and resume it: python kill_at_every_write.py FOLDER STEP.

Of all these points every STEP-th is tried: all of them if STEP is 1.

Every run is a fork of this process, which starts no threads: a library's threads would not survive a fork.
"""

import os
import shutil
import signal
import sys
from itertools import count
from pathlib import Path

import numpy as np

from driftline import PaperAMRC
from driftline.evaluation import TimeDelay, evaluate, evaluation_run, read_records, records, scheduling
from driftline.streams import ArrayStream, RotatingGaussians

N_ROWS = 40


class FixedLength:
    """Slices of four rows, so that the run is saved often."""

    rows = 4

    def update(self, rows, seconds):
        """No-op: the length is fixed."""


X, y = RotatingGaussians().sample(N_ROWS, seed=3)
TIMES = np.cumsum(np.random.default_rng(3).exponential(size=N_ROWS))


def new_model():
    options = {"features": "linear", "scaling": "running", "deterministic": False}
    return PaperAMRC(**options, n_iterations=20, n_subgradients=10)


def run(folder):
    stream = ArrayStream(X, np.where(y == 1, "one", "other"), TIMES)
    evaluate(new_model(), stream, delay=TimeDelay(3.0), checkpoint=folder, resume=True, progress=False)


def run_until_killed(folder, at):
    """Run, and kill this process before or after the call number `at` among those that write, rename or remove."""
    calls = 0

    def fatal(function):
        def call(*arguments, **options):
            nonlocal calls
            for when in ("before", "after"):
                calls += 1
                if calls == at:
                    os.kill(os.getpid(), signal.SIGKILL)
                if when == "before":
                    result = function(*arguments, **options)
            return result

        return call

    os.replace, os.fsync, Path.unlink = fatal(os.replace), fatal(os.fsync), fatal(Path.unlink)
    run(folder)


def compare(folder, whole):
    resumed, expected = (read_records(each).drop_columns(list(records.TIMINGS)) for each in (folder, whole))
    leftovers = [path for path in [*folder.iterdir(), *(folder / "records").iterdir()] if path.name.startswith(".")]
    assert resumed.equals(expected), "records differ"
    assert [path.name for path in leftovers] == [".lock"], leftovers


def forked(function, *arguments):
    """Call the function in a forked process; return its exit code, which is negative if it was killed."""
    child = os.fork()
    if child == 0:
        try:
            function(*arguments)
        except BaseException as error:
            sys.stderr.write(f"{error!r}\n")
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(folder, step):
    scheduling.SAVE_INTERVAL_SECONDS, scheduling.MAX_CHECKPOINT_SHARE, records.FILES_PER_MERGE = 0.0, np.inf, 3
    evaluation_run.SliceLength = FixedLength
    records.arrow()  # loaded here, and kernels too, so that no fork has to
    new_model().partial_fit(X, y)
    whole, killed = folder / "whole", folder / "killed"
    assert forked(run, whole) == 0
    for at in count(1, step):
        code = forked(run_until_killed, killed, at)
        if code == 0:
            break
        assert code == -signal.SIGKILL
        forked(run_until_killed, killed, at * 7 % 40 + 1)
        assert forked(run, killed) == 0, f"not resumed after being killed at {at}"
        assert forked(compare, killed, whole) == 0, f"not the same after being killed at {at}"
        shutil.rmtree(killed)
    sys.stdout.write(f"{at - step}\n")  # the last point at which it was killed


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
