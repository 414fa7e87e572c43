from __future__ import annotations

import pytest
import torch

from adapter.log_buffer import LogBuffer


def filled(*updates):
    buffer = LogBuffer()
    for values, count in updates:
        buffer.update(values, count)
    return buffer


SERIES = [({"loss": 1.0}, 1), ({"loss": 2.0}, 1), ({"loss": 6.0}, 2)]


@pytest.mark.parametrize(("n", "mean"), [(0, 3.75), (1, 6.0), (2, 14 / 3), (9, 3.75)])
def test_average_is_weighted_and_of_the_last_n(n, mean):
    buffer = filled(*SERIES)
    buffer.average(n)
    assert buffer.output == {"loss": pytest.approx(mean, rel=1e-15)}
    assert buffer.ready


def test_histories():
    buffer = filled(*SERIES, ({"aux": 1}, 3))
    assert buffer.val_history == {"loss": [1.0, 2.0, 6.0], "aux": [1]}
    assert buffer.n_history == {"loss": [1, 1, 2], "aux": [3]}
    assert not buffer.ready


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64])
@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_tensors_become_plain_numbers(dtype, shape):
    buffer = filled(({"loss": torch.full(shape, 3, dtype=dtype)}, 1))
    (value,) = buffer.val_history["loss"]
    assert value == 3
    assert type(value) is (int if dtype is torch.int64 else float)


def test_tensors_and_numbers_of_one_name_mix():
    buffer = filled(({"loss": 1.0}, 1), ({"loss": torch.tensor(2.0)}, 1), ({"loss": 3.0}, 1))
    assert buffer.val_history["loss"] == [1.0, 2.0, 3.0]
    buffer.update({"loss": torch.tensor(4.0)})
    assert buffer.val_history["loss"] == [1.0, 2.0, 3.0, 4.0]


def test_a_tensor_changed_later_is_logged_as_it_was():
    loss = torch.tensor(1.0, requires_grad=True) * 2
    buffer = filled(({"loss": loss}, 1))
    with torch.no_grad():
        loss.mul_(10)
    assert buffer.val_history["loss"] == [2.0]


def test_keeps_no_graph():
    weight = torch.tensor(1.0, requires_grad=True)
    buffer = filled(({"loss": weight * 2}, 1))
    assert not buffer._values["loss"][0].requires_grad


def test_clear():
    buffer = filled(*SERIES, ({"aux": torch.tensor(1.0)}, 1))
    buffer.average()
    buffer.clear()
    assert (buffer.val_history, buffer.n_history, buffer.output, buffer.ready) == ({}, {}, {}, False)
    buffer.update({"aux": torch.tensor(5.0)})
    assert buffer.val_history == {"aux": [5.0]}


def test_clear_output_keeps_the_history():
    buffer = filled(*SERIES)
    buffer.average()
    buffer.clear_output()
    assert (buffer.output, buffer.ready) == ({}, False)
    assert buffer.val_history["loss"] == [1.0, 2.0, 6.0]


def test_other_entries_of_the_output_stay():
    buffer = filled(*SERIES)
    buffer.output["lr"] = 0.1
    buffer.average()
    assert list(buffer.output) == ["lr", "loss"]


@pytest.mark.parametrize("ready", [False, True])
def test_state_comes_back(ready):
    buffer = filled(*SERIES, ({"aux": torch.tensor(1.5)}, 2))
    buffer.output["lr"] = 0.1
    if ready:
        buffer.average()
    other = filled(({"old": 1.0}, 1))
    other.load_state_dict(buffer.state_dict())
    for each in (buffer, other):
        each.update({"loss": torch.tensor(7.0)})
    assert other.val_history == buffer.val_history == {"loss": [1.0, 2.0, 6.0, 7.0], "aux": [1.5]}
    assert other.n_history == buffer.n_history
    assert (other.output, other.ready) == (buffer.output, ready)


@pytest.mark.parametrize("values", [[("loss", 1.0)], 1.0, None])
def test_update_refuses_what_is_no_mapping(values):
    with pytest.raises(TypeError, match="needs a mapping of names to numbers, found"):
        LogBuffer().update(values)
