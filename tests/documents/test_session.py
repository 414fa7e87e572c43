"""A page with something wrong in it does not pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.documents.page import read, sides
from tests.documents.session import Session
from tests.documents.shell import agrees

START = """<!-- file: start.yaml -->
```yaml
model: {type: mlp-classifier, in_features: 4, num_classes: 3}
train: {max_epochs: 1, optimizer: {type: SGD, lr: 0.1}}
```
"""
OLD, NEW = "  hooks: [{type: TextLoggerHook, interval: 4}]", "  logging: {interval: 5}"


def do(folder: Path, page: str) -> None:
    path = folder / "page.md"
    path.write_text(page)
    Session(read(path), folder / "session").read()


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("```text\nanything\n```", "line 1: a block 'text' with the comment '' cannot be tested"),
        ("Some words.\n\n    adapter --version\n", "line 3: a block 'indented'"),
        ("```yaml\na: 1\n```", "a block 'yaml'"),
        ("- a list\n\n  ```\n  code\n  ```\n", "line 3: a block 'indented'"),
        (START, r"page\.md: files that nothing uses, with their lines: {'start.yaml': 2}"),
        ("```bash\nadapter --version\nadapter nonsense\n```", "`adapter nonsense` ended with status 2:\nusage"),
        ("```bash\nadapter --version  # exit status 2\n```", "`adapter --version` ended with status 0"),
        ("```bash\nmake all\n```", "a program that no test runs: make"),
        ("```bash\npip install '.[visions]'\n```", r"\['visions'\]"),
        ("```bash\npip install deepsped && pytest\n```", r"\['deepsped'\]"),
        ("```python\nprint(1)\n```\n\n```console\n2\n```", "printed\n1\n\nwhere the page has\n2"),
        ("```python\nraise SystemExit(3)\n```", "ended with status 3"),
        (f"{START}\n<!-- fit: over start.yaml -->\n```yaml\ntrain: {{}}\n```", "config.yaml` ended with status 2"),
        (f"{START}\n<!-- fit: over start.yaml -->\n```diff\n train:\n-{OLD}\n+{NEW}\n```", "adapter migrate gives"),
        ("Files: `epoch_N.pth`.", r"line 1: not written: \['epoch_N.pth'\]"),
    ],
)  # fmt: skip
def test_a_page_that_is_wrong(page: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=said):
        do(tmp_path, page)


def test_a_page_that_is_right(tmp_path: Path) -> None:
    shown = "$ adapter fit start.yaml  # exit status 2\n...\n  dataset.train: there is no ...\n..."
    do(tmp_path, f"{START}\n```console\n{shown}\n```")


@pytest.mark.parametrize(
    ("shown", "printed", "expected"),
    [
        ("one\ntwo", "one\ntwo\n", True),
        ("one", "one\ntwo\n", False),
        ("one\n...", "one\ntwo\nthree\n", True),
        ("...\nthree", "one\ntwo\nthree\n", True),
        ("found ..., not 3", "found 1, 2, not 3", True),
        ("found ..., not 4", "found 1, 2, not 3", False),
        ("adapter - INFO - done", "2026-01-02 03:04:05,678 - adapter - INFO - done\n", True),
    ],
)
def test_what_is_shown_of_what_is_printed(shown: str, printed: str, expected: bool) -> None:
    assert agrees(shown, printed) is expected


def test_sides_of_a_diff() -> None:
    assert sides(" a\n-b\n+c\n\n d\n") == ("a\nb\n\nd\n", "a\nc\n\nd\n")
