from __future__ import annotations

from adapter.aside import write_text, written_aside


def test_nothing_is_at_the_path_until_all_is_written(tmp_path):
    path = tmp_path / "a.txt"
    with written_aside(path) as file:
        file.write(b"half")
        assert not path.exists()
    assert path.read_bytes() == b"half"


def test_write_text(tmp_path):
    write_text("grün", tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_bytes() == "grün".encode()
