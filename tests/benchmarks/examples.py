"""What each example in configs/ reaches when it is run as it stands, and what a simple method reaches on the same data.

    pip install '.[test]'
    python tests/benchmarks/examples.py [NAMES] [--work-dir DIR]

makes the data of the examples, trains each in a process of its own by ``adapter fit``, and prints the metric after the
last epoch, the time, and the same metric of a baseline from scikit-learn. Status 1 when one stays below its promise.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
if __name__ == "__main__":  # run as a file, only its own folder is on the path
    sys.path.insert(0, str(ROOT))

from tests.benchmarks import baselines  # noqa: E402  found by the line above

TEXT, MNIST, DIGITS = "configs/text/make_data.py", "configs/images/make_images.py", "configs/run/project.py"
PLACES = {TEXT: "text", MNIST: "mnist", DIGITS: "digit_images"}


@dataclass(frozen=True)
class Example:
    """A config below configs/, the metric that counts, and what it promises.

    Attributes:
        config: The file.
        metric: Its name in the log.
        promise: The least that it reaches; the most for perplexity.
        baseline: From the folder of the examples' data to the same metric.
        script: What makes the data; empty when they come with the project.
    """

    config: str
    metric: str
    promise: float
    baseline: Callable[[Path], float]
    script: str = ""


EXAMPLES = {
    "quickstart": Example("quickstart.yaml", "accuracy", 0.95, baselines.digits),
    "features": Example("regression.yaml", "R2Score", 0.45, baselines.diabetes),
    "words": Example("text/classification.yaml", "accuracy", 0.9, baselines.sentiment, TEXT),
    "lora": Example("text/lora.yaml", "accuracy", 0.85, baselines.sentiment, TEXT),
    "valence": Example("text/regression.yaml", "R2Score", 0.6, baselines.valence, TEXT),
    "pairs": Example("text/pairs.yaml", "accuracy", 0.85, baselines.pairs, TEXT),
    "parameters": Example("text/parameters.yaml", "f1", 0.5, baselines.parameters, TEXT),
    "docstrings": Example("text/generation.yaml", "ppl", 120, baselines.docstrings, TEXT),
    "mnist": Example("images/mnist.yaml", "accuracy", 0.97, baselines.mnist, MNIST),
    "digits": Example("images/digits.yaml", "accuracy", 0.95, baselines.digits, DIGITS),
    "easycv": Example("images/easycv.yaml", "accuracy", 0.9, baselines.digits, DIGITS),
}


def made(folder: Path, script: str) -> Path:
    """The data of a script, made once."""
    place = folder / PLACES[script]
    if not place.exists():
        subprocess.run([sys.executable, str(ROOT / script), str(place)], check=True, cwd=ROOT)
    return place


def run(example: Example, folder: Path, name: str) -> tuple[float, float]:
    """The metric after the last epoch, and the seconds of the command; logs stay below ``folder/runs/NAME``."""
    path, text = ROOT / "configs" / example.config, (ROOT / "configs" / example.config).read_text(encoding="utf-8")
    if example.script:
        place = made(folder, example.script)
        path = folder / f"{name}.yaml"
        path.write_text(text.replace(f"../../work_dir/{place.name}", str(place)), encoding="utf-8")
    work = folder / "runs" / name
    began = time.monotonic()
    subprocess.run([sys.executable, "-m", "adapter", "fit", str(path), "--work-dir", str(work)], check=True, cwd=ROOT)
    seconds = time.monotonic() - began
    (log,) = work.glob("*.log.json")
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["mode"] == "eval"][-1][f"evaluation/{example.metric}"], seconds


def main() -> int:
    """Read the command line, run, print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(EXAMPLES)}; all by default")
    parser.add_argument("--work-dir", type=Path, help="a new folder; a temporary one by default")
    args = parser.parse_args()
    broken = False
    with tempfile.TemporaryDirectory() as aside:
        folder = (args.work_dir or Path(aside)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        lines = [f"{'':12}{'metric':>10}{'reached':>10}{'baseline':>10}{'time, s':>10}"]  # other lines come between
        for name in args.names or EXAMPLES:
            example = EXAMPLES[name]
            value, seconds = run(example, folder, name)
            lines.append(
                f"{name:12}{example.metric:>10}{value:>10.3f}{example.baseline(folder):>10.3f}{seconds:>10.0f}"
            )
            broken |= value > example.promise if example.metric == "ppl" else value < example.promise
    print("\n".join(lines))
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
