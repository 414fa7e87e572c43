import numpy as np
import pytest
import torch
from PIL import Image

from adapter.data.to_tensor import ToTensor

PIXELS = np.arange(24, dtype=np.uint8).reshape(2, 4, 3) * 10


@pytest.mark.parametrize("image", [Image.fromarray(PIXELS), PIXELS], ids=["PIL", "NumPy"])
def test_from_0_to_1(image):
    tensor = ToTensor()({"image": image, "label": 3})["image"]
    assert tensor.dtype == torch.float32
    assert torch.allclose(tensor, torch.from_numpy(PIXELS).permute(2, 0, 1) / 255)
