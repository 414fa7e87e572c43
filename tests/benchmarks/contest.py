"""Run the contestants of a workload in turns, and print medians and ratios as a table.

    ADAPTER_REAL_PYTHON=VENV/bin/python python contest.py [WORKLOAD ...] [--runs 5] [--only hand real ours]

``ADAPTER_REAL_PYTHON`` names a Python that has modelscope; without it the real trainer is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from workloads import FULL_SIZE

HERE = Path(__file__).parent


def time_once(contestant: str, workload: str, size: int) -> dict[str, float]:
    """The times one contestant prints, from a process of its own on one thread."""
    python = os.environ["ADAPTER_REAL_PYTHON"] if contestant == "real" else sys.executable
    path = os.pathsep.join(filter(None, [str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")]))
    os.sync()  # or what the last contestant left to be written would slow this one
    done = subprocess.run(
        [python, str(HERE / f"{contestant}.py"), workload, str(size)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{contestant} failed on {workload}:\n{done.stderr[-2000:]}")
    return json.loads(next(line for line in reversed(done.stdout.splitlines()) if line.startswith("{")))


def contest(workload: str, contestants: list[str], runs: int) -> dict[str, dict[str, float]]:
    """Medians of every measure by contestant; they take turns, so that a slow spell hits all of them."""
    rows: dict[str, list[dict[str, float]]] = {name: [] for name in contestants}
    for _ in range(runs):
        for name in contestants:
            rows[name].append(time_once(name, workload, FULL_SIZE[workload]))
    return {
        name: {key: statistics.median(row[key] for row in found) for key in found[0]} for name, found in rows.items()
    }


def table(workload: str, medians: dict[str, dict[str, float]]) -> str:
    """A line a measure: each contestant's median, and ours over the others'."""
    names = list(medians)
    others = [name for name in names if name != "ours"] if "ours" in names else []
    lines = ["".join([f"{workload:18}", *(f"{n:>12}" for n in names), *(f"{'ours/' + n:>12}" for n in others)])]
    for key in dict.fromkeys(key for row in medians.values() for key in row):
        cells = [f"{medians[n][key]:12.4g}" if key in medians[n] else f"{'':12}" for n in names]
        for other in others:
            base = medians[other].get(key)
            cells.append(f"{medians['ours'][key] / base:12.2f}" if base else f"{'':12}")
        lines.append("".join([f"  {key:16}", *cells]))
    return "\n".join(lines)


def main() -> None:
    """Run the workloads named on the command line, all of them by default."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("workloads", nargs="*", default=list(FULL_SIZE), metavar="WORKLOAD")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", nargs="+", default=["hand", "real", "ours"], choices=["hand", "real", "ours"])
    options = parser.parse_args()
    contestants = [name for name in options.only if name != "real" or os.environ.get("ADAPTER_REAL_PYTHON")]
    if contestants != options.only:
        print("real is left out: ADAPTER_REAL_PYTHON names no Python that has modelscope")
    for workload in options.workloads:
        print(table(workload, contest(workload, contestants, options.runs)), flush=True)


if __name__ == "__main__":
    main()
