"""Data sets of images in files: a folder for each label, or a list of files with their labels."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from torch.utils.data import Dataset

from adapter.data.labels import Labels, distinct_labels
from adapter.errors import ConfigError, Problem, nearest
from adapter.registry import DATASETS

if TYPE_CHECKING:
    from PIL.Image import Image

ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".pgm", ".ppm", ".tif", ".tiff", ".webp")
SHOWN = 5  # files that an error names


class ImageDataset(Dataset[dict[str, Any]]):
    """Images in files as samples ``{"image": PIL image (RGB), "label": number}``.

    Args:
        paths: The files.
        values: The label of each, as the data have it; None for images without, whose number is a stand-in, 0.
        source: What the data are, for error messages.
        labels: Every label, in the order of their numbers; None when ``values`` are their numbers.
        skip_unreadable: Leave out images that cannot be read, and log their names; every image is read for that before
            training. Otherwise the first one that is met ends the run.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        values: Sequence[Any] | None,
        source: str | Path,
        labels: Labels | None = None,
        skip_unreadable: bool = False,
    ) -> None:
        if values is None:
            values, labels = [0] * len(paths), None
        numbers = list(values) if labels is None else labels.encode(values, str(source), "labels")
        self.labels = labels
        self.samples = list(zip(map(str, paths), numbers, strict=True))
        self._values = list(values)
        if skip_unreadable:
            self._leave_out(self._unreadable())

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> dict[str, Any]:
        path, number = self.samples[index]
        return {"image": read_image(path), "label": number}

    def label_values(self) -> list[Any]:
        """The distinct labels of the data, as they have them; where they are numbers, every one up to the largest."""
        return list(dict.fromkeys(self._values)) if self.labels else [*range(max(self._values) + 1)]

    def _unreadable(self) -> dict[int, str]:
        """Sample number to reason of each image that cannot be read."""
        reasons = {}
        for index, (path, _) in enumerate(self.samples):
            try:
                read_image(path)
            except ConfigError as error:
                reasons[index] = error.problems[0].found
        return reasons

    def _leave_out(self, reasons: Mapping[int, str]) -> None:
        for reason in reasons.values():
            logging.getLogger("adapter").warning("left out: %s", reason)
        if len(reasons) == len(self.samples):
            raise ConfigError(Problem("", f"none of the {len(reasons)} images can be read", kind="file"))
        kept = [index for index in range(len(self.samples)) if index not in reasons]
        self.samples = [self.samples[index] for index in kept]
        self._values = [self._values[index] for index in kept]


@DATASETS.register_module(module_name="image-folder")
class ImageFolder(ImageDataset):
    """Images in a folder for each label.

    Args:
        root: The folder of folders; images at any depth below a label's belong to it.
        labels: Every label, in the order of their numbers; by default the folders' names, sorted.
        skip_unreadable: Leave out images that cannot be read. Every image is read for that before training.
        base_dir: Folder that a relative ``root`` starts from; the current one by default.
        unlabeled: Take every image at any depth, and none of the folders for a label.

    Raises:
        ConfigError: No such folder, one without images, or a folder that is not in the list of labels.
    """

    def __init__(
        self,
        root: str,
        labels: Sequence[Any] | None = None,
        skip_unreadable: bool = False,
        base_dir: str | Path | None = None,
        unlabeled: bool = False,
    ) -> None:
        place = _existing(Path(base_dir or ".", root), "root")
        if unlabeled:
            super().__init__(_images_below(place), None, place, None, skip_unreadable)
            return
        folders = sorted(path for path in place.iterdir() if path.is_dir() and not path.name.startswith("."))
        found = [(path, folder.name) for folder in folders for path in _images_below(folder)]
        if not found:
            allowed = f"a folder for each label, with {', '.join(ENDINGS)} below"
            raise ConfigError(Problem("root", f"there are no images in the folders of {place}", allowed, kind="file"))
        known = Labels(tuple(labels)) if labels is not None else Labels(tuple(folder.name for folder in folders))
        super().__init__([path for path, _ in found], [name for _, name in found], place, known, skip_unreadable)


@DATASETS.register_module(module_name="image-list")
class ImageList(ImageDataset):
    """Images that list files name, a line each: the file, white space, the label.

    Args:
        list_file: The list, or several, read one after the other.
        root: Folder that the names of images start from; that of the list by default.
        labels: Every label, in the order of their numbers; by default labels that are whole numbers stand for
            themselves, and others are sorted.
        skip_unreadable: Leave out images that cannot be read, or are not there. Every image is read for that before
            training.
        base_dir: Folder that a relative ``list_file`` and ``root`` start from; the current one by default.
        unlabeled: Lines may be files alone, and what stands after them is no label.

    Raises:
        ConfigError: No such list or folder, a line without a label, images that are not there, or a label that is not
            in the list of labels.
    """

    def __init__(
        self,
        list_file: str | Sequence[str],
        root: str | None = None,
        labels: Sequence[Any] | None = None,
        skip_unreadable: bool = False,
        base_dir: str | Path | None = None,
        unlabeled: bool = False,
    ) -> None:
        lists = [Path(base_dir or ".", name) for name in ([list_file] if isinstance(list_file, str) else list_file)]
        folder = None if root is None else _existing(Path(base_dir or ".", root), "root")
        rows = [row for path in lists for row in _rows_of(_existing(path, "list_file"), folder, unlabeled)]
        if not rows:
            raise ConfigError(Problem("list_file", f"{lists[0]} names no images", kind="file"))
        paths, values = [path for path, _ in rows], [value for _, value in rows]
        absent = [] if skip_unreadable else [path for path in paths if not path.is_file()]
        if absent:
            found = f"{len(absent)} of {len(paths)} images are not there: {', '.join(map(str, absent[:SHOWN]))}"
            raise ConfigError(Problem("list_file", found, fix="check root, or correct the list", kind="file"))
        if unlabeled:
            super().__init__(paths, None, lists[0], None, skip_unreadable)
            return
        numbered = labels is None and all(value.isdecimal() for value in values)
        known = None if numbered else Labels(tuple(labels)) if labels is not None else distinct_labels(values)
        truths = [int(value) for value in values] if numbered else values
        super().__init__(paths, truths, lists[0], known, skip_unreadable)


@DATASETS.register_module()
class ClsDataset(ImageList):
    """ImageList in EasyCV's spelling.

    Args:
        data_source: ``{type: ClsSourceImageList, list_file, root, class_list}``; ``class_list`` is every label.
        labels: Every label, in the order of their numbers; see ``ImageList``.
        skip_unreadable: Leave out images that cannot be read, or are not there.
        base_dir: Folder that a relative ``list_file`` and ``root`` start from; the current one by default.
        unlabeled: See ``ImageList``.

    Raises:
        ConfigError: As ``ImageList``, or another source.
    """

    SOURCE = "ClsSourceImageList"
    KEYS = ("list_file", "root", "class_list")

    def __init__(
        self,
        data_source: Mapping[str, Any],
        labels: Sequence[Any] | None = None,
        skip_unreadable: bool = False,
        base_dir: str | Path | None = None,
        unlabeled: bool = False,
    ) -> None:
        source = dict(data_source)
        kind = source.pop("type", self.SOURCE)
        problems = [
            Problem(f"data_source.{key}", "nothing reads this key", ", ".join(self.KEYS), nearest(key, self.KEYS))
            for key in source
            if key not in self.KEYS
        ]
        if kind != self.SOURCE:
            fix = "type: image-folder reads a folder for each label"
            problems.append(Problem("data_source.type", f"found '{kind}'", self.SOURCE, fix=fix, kind="name"))
        if not source.get("list_file"):
            problems.append(Problem("data_source.list_file", "not given", "a file", kind="missing"))
        if problems:
            raise ConfigError(problems)
        given = labels if labels is not None else source.get("class_list")
        super().__init__(source["list_file"], source.get("root"), given, skip_unreadable, base_dir, unlabeled)


def read_image(path: str | Path) -> Image:
    """The image of a file, in RGB.

    Raises:
        ConfigError: It is not there, or cannot be decoded; names the file.
    """
    from PIL import Image

    try:
        with Image.open(path) as image:
            return _eight_bits(image).convert("RGB")
    except Exception as error:  # decoders raise many kinds
        fix = "correct or remove it, or set skip_unreadable: true for the data set"
        raise ConfigError(Problem("dataset", f"cannot read the image {path}: {error}", fix=fix, kind="file")) from error


def _eight_bits(image: Image) -> Image:
    """A gray image of 16 bits by its upper 8, which keeps what is seen: Pillow would make all beyond 255 white."""
    if not image.mode.startswith("I"):  # I;16, I;16B, and I for formats that Pillow reads into more bits
        return image
    from PIL.Image import fromarray

    return fromarray((np.asarray(image).clip(0, 0xFFFF) >> 8).astype(np.uint8))


def _rows_of(path: Path, root: Path | None, unlabeled: bool) -> list[tuple[Path, str]]:
    """File and label of each line that is not empty; a line that is a file has none where none is needed."""
    rows, folder = [], root or path.parent
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), 1):
        words = line.rsplit(maxsplit=1)
        if unlabeled and (len(words) == 1 or (folder / line.strip()).is_file()):
            words = [line, ""]
        if len(words) == 1:
            found = f"line {number} of {path} is {line.strip()!r}"
            raise ConfigError(Problem("list_file", found, allowed="a file, white space, and its label"))
        if words:
            rows.append((folder / words[0].strip(), words[1]))
    return rows


def _images_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() in ENDINGS and path.is_file())


def _existing(path: Path, key: str) -> Path:
    """A folder (``root``) or a file that has to be there."""
    there = path.is_dir() if key == "root" else path.is_file()
    if not there:
        names = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
        what = "folder" if key == "root" else "file"
        fix = "check the name; a relative one starts from the config file's folder"
        problem = Problem(key, f"no such {what}: {path}", nearest=nearest(path.name, names), fix=fix, kind="file")
        raise ConfigError(problem)
    return path
