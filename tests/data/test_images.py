import logging

import numpy as np
import pytest

from adapter.data.build import build_dataset
from adapter.data.images import ClsDataset, ImageFolder, ImageList, read_image
from adapter.errors import ConfigError
from tests.data.pictures import COLORS, draw, listed

NUMBERS = {"blue": 0, "green": 1, "red": 5}


def labels_of(dataset):
    return [dataset[i]["label"] for i in range(len(dataset))]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [(None, [0, 0, 1, 1, 2, 2]), (["red", "green", "blue"], [2, 2, 1, 1, 0, 0])],
)
def test_a_folder_for_each_label(tmp_path, labels, expected):
    draw(tmp_path / "train")
    dataset = build_dataset({"train": {"type": "image-folder", "root": "train"}}, "train", base_dir=tmp_path)
    assert dataset.label_values() == list(COLORS)
    dataset = ImageFolder("train", labels, base_dir=tmp_path)
    assert labels_of(dataset) == expected
    assert list(dataset.labels.names) == (labels or list(COLORS))
    image = dataset[0]["image"]
    assert (image.mode, image.size, image.getpixel((5, 5))) == ("RGB", (12, 12), COLORS["blue"])


@pytest.mark.parametrize(
    ("written", "labels", "expected"),
    [
        ({name: name for name in COLORS}, None, [0, 0, 1, 1, 2, 2]),
        ({name: name for name in COLORS}, ["red", "green", "blue"], [2, 2, 1, 1, 0, 0]),
        (NUMBERS, None, [0, 0, 1, 1, 5, 5]),
        (NUMBERS, [5, 1, 0], [2, 2, 1, 1, 0, 0]),
    ],
)
@pytest.mark.parametrize("cls", [ImageList, ClsDataset])
def test_a_list_of_images(tmp_path, cls, written, labels, expected):
    draw(tmp_path / "my images")
    listed(tmp_path / "my images", written).rename(tmp_path / "list.txt")
    where = {"list_file": "list.txt", "root": "my images"}
    if cls is ClsDataset:
        dataset = cls({"type": "ClsSourceImageList", "class_list": labels, **where}, base_dir=tmp_path)
    else:
        dataset = cls(labels=labels, base_dir=tmp_path, **where)
    assert labels_of(dataset) == expected
    numbered = written is NUMBERS and not labels
    assert dataset.label_values() == ([0, 1, 2, 3, 4, 5] if numbered else [str(name) for name in written.values()])
    assert dataset[0]["image"].getpixel((5, 5)) == COLORS["blue"]


def test_images_without_labels_to_predict(tmp_path):
    draw(tmp_path / "new", each=1)
    (tmp_path / "list.txt").write_text("new/red/0.png\nnew/blue/0.png something\n")
    named = {"type": "image-list", "list_file": "list.txt"}
    for section, count in (({"type": "image-folder", "root": "new"}, 3), (named, 2)):
        data = build_dataset({"val": section}, "val", base_dir=tmp_path, labels=["red", "green"], unlabeled=True)
        assert labels_of(data) == [0] * count
    assert data[0]["image"].getpixel((5, 5)) == COLORS["red"]
    with pytest.raises(ConfigError, match=r"line 1 of .*list\.txt is 'new/red/0\.png'"):
        build_dataset({"val": named}, "val", base_dir=tmp_path)


def test_an_image_named_with_spaces_and_several_lists(tmp_path):
    draw(tmp_path / "a b", each=1)
    for name in ("one", "two"):
        (tmp_path / f"{name}.txt").write_text(f"a b/red/0.png\t{name}\n\n")
    dataset = ImageList(["one.txt", "two.txt"], base_dir=tmp_path)
    assert labels_of(dataset) == [0, 1]


def damage(folder):
    """One image is cut short, another is text."""
    cut = folder / "green" / "1.png"
    cut.write_bytes(cut.read_bytes()[:50])
    (folder / "red" / "0.png").write_text("not an image")
    return [str(folder / "green" / "1.png"), str(folder / "red" / "0.png")]


def test_an_image_that_cannot_be_read(tmp_path, caplog):
    damaged = damage(draw(tmp_path))
    dataset = ImageFolder(str(tmp_path))
    for index, path in zip((3, 4), damaged, strict=True):
        with pytest.raises(ConfigError, match="skip_unreadable") as caught:
            dataset[index]
        assert f"cannot read the image {path}" in str(caught.value)
    with caplog.at_level(logging.WARNING, "adapter"):
        kept = ImageFolder(str(tmp_path), skip_unreadable=True)
    assert labels_of(kept) == [0, 0, 1, 2]
    assert all(path in message for path, message in zip(damaged, caplog.messages, strict=True))


def test_images_that_are_not_there_are_skipped_when_asked(tmp_path):
    path = listed(draw(tmp_path), NUMBERS)
    (tmp_path / "blue" / "0.png").unlink()
    assert labels_of(ImageList(str(path), skip_unreadable=True)) == [0, 1, 1, 5, 5]
    (tmp_path / "list.txt").write_text("nowhere.png 0\n")
    with pytest.raises(ConfigError, match="none of the 1 images can be read"):
        ImageList(str(path), skip_unreadable=True)


FOLDER = {"type": "image-folder", "root": "train"}
LIST = {"type": "image-list", "list_file": "train/list.txt"}
SOURCE = {"list_file": "train/list.txt", "root": "train"}


@pytest.mark.parametrize(
    ("entry", "key", "texts"),
    [
        ({**FOLDER, "root": "trian"}, "root", ["no such folder", "Did you mean 'train'?"]),
        ({**FOLDER, "root": "train/red"}, "root", ["no images in the folders of", "a folder for each label"]),
        ({**FOLDER, "labels": ["red", "blue"]}, "labels", ["'green'", "red, blue"]),
        ({**LIST, "list_file": "train/lst.txt"}, "list_file", ["no such file", "'list.txt'"]),
        ({**LIST, "root": "tran"}, "root", ["no such folder", "'train'"]),
        ({**LIST, "root": "train/red"}, "list_file", ["6 of 6 images are not there", "red/blue/0.png", "check root"]),
        ({**LIST, "list_file": "train/odd.txt"}, "list_file", ["line 2 of", "'only.png'"]),
        ({**LIST, "list_file": "train/empty.txt"}, "list_file", ["names no images"]),
        ({**LIST, "labels": [0, 1]}, "labels", ["'5'", "row 5"]),
        ({"type": "ClsDataset", "data_source": {"type": "ClsSourceCifar10"}}, "data_source.type", ["image-folder"]),
        ({"type": "ClsDataset", "data_source": {"root": "train"}}, "data_source.list_file", ["not given"]),
        ({"type": "ClsDataset", "data_source": {**SOURCE, "rot": 1}}, "data_source.rot", ["'root'"]),
    ],
)
def test_bad_input(tmp_path, entry, key, texts):
    draw(tmp_path / "train")
    listed(tmp_path / "train", NUMBERS)
    (tmp_path / "train" / "odd.txt").write_text("red/0.png 1\nonly.png\n")
    (tmp_path / "train" / "empty.txt").write_text("\n")
    with pytest.raises(ConfigError) as caught:
        build_dataset({"train": entry}, "train", base_dir=tmp_path)
    assert caught.value.problems[0].key == f"dataset.train.{key}"
    assert all(text in str(caught.value) for text in texts)


def test_gray_images_get_three_channels(tmp_path):
    from PIL import Image

    Image.new("L", (3, 3), 7).save(tmp_path / "gray.png")
    assert read_image(tmp_path / "gray.png").getpixel((0, 0)) == (7, 7, 7)


@pytest.mark.parametrize("ending", ["png", "tif", "pgm"])
def test_images_of_16_bits_keep_their_shades(tmp_path, ending):
    from PIL import Image

    shades = np.array([[0, 255, 256], [32767, 32768, 65535]], dtype=np.uint16)
    Image.fromarray(shades).save(tmp_path / f"deep.{ending}")
    assert np.asarray(read_image(tmp_path / f"deep.{ending}"))[..., 1].tolist() == [[0, 0, 1], [127, 128, 255]]


def test_a_list_may_come_from_windows(tmp_path):
    draw(tmp_path)
    (tmp_path / "list.txt").write_bytes(b"\xef\xbb\xbfred/0.png red\r\nblue/0.png blue\r\n\r\n")
    assert labels_of(ImageList("list.txt", base_dir=tmp_path)) == [1, 0]
