"""The completion scripts, run in the shell they are for."""

from __future__ import annotations

import contextlib
import shutil
import subprocess

import pytest

from adapter.cli.completion import SHELLS
from adapter.cli.main import find_commands, main

# what `_init_completion`-free bash does when Tab is pressed after the words
COMPLETE = """source {script}
COMP_WORDS=(adapter {words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
_shtab_adapter 2>/dev/null; printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("completion") / "adapter.bash"

    with path.open("w") as file, contextlib.redirect_stdout(file):
        assert main(["completion", "bash"]) == 0
    return path


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("''", set(find_commands())),
        ("val", {"validate"}),
        ("fit --wor", {"--work-dir"}),
        ("fit --s", {"--seed", "--strict"}),
        ("validate --ck", {"--ckpt"}),
        ("export --be", {"--best"}),
        ("completion ''", set(SHELLS)),
    ],
)
def test_bash_offers(words, offered, script):
    bash = shutil.which("bash")
    assert bash
    text = COMPLETE.format(script=script, words=words)
    done = subprocess.run([bash, "-c", text], capture_output=True, text=True, check=True)
    assert {line.strip() for line in done.stdout.splitlines() if line.strip()} == offered


def test_bash_offers_files_for_a_config(script, tmp_path):
    (tmp_path / "quick.yaml").touch()
    text = COMPLETE.format(script=script, words="fit qui")
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "quick.yaml" in done.stdout


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_has_every_command(shell, capsys):
    assert main(["completion", shell]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in find_commands())
