"""Small images in files, for the tests of image data."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

COLORS = {"blue": (20, 30, 220), "green": (30, 200, 40), "red": (230, 20, 10)}


def draw(folder: Path, each: int = 2, size: int = 12) -> Path:
    """`each` images of every color below `folder`, in folders of its name; no two are alike."""
    for name, color in COLORS.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        for number in range(each):
            image = Image.new("RGB", (size, size), color)
            image.putpixel((number % size, number // size), (0, 0, 0))
            image.save(folder / name / f"{number}.png")
    return folder


def listed(folder: Path, labels: dict[str, object]) -> Path:
    """A list file of the images below `folder`, with these labels of the colors."""
    lines = [f"{path.relative_to(folder)} {labels[path.parent.name]}" for path in sorted(folder.rglob("*.png"))]
    (folder / "list.txt").write_text("\n".join(lines) + "\n")
    return folder / "list.txt"
