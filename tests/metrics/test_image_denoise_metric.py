import numpy as np
import pytest
import torch
from scipy.ndimage import gaussian_filter
from skimage.metrics import peak_signal_noise_ratio

from adapter.metrics.image_denoise_metric import ImageDenoiseMetric


def evaluated(restored, target=None, inputs=()):
    metric = ImageDenoiseMetric()
    metric.add({"pred": restored, "target": target}, dict(inputs))
    return metric.evaluate()


def smooth(image):
    return gaussian_filter(image, 1.5, radius=5, mode="nearest")


def ssim_of(a, b, peak):
    """SSIM of two (channels, height, width), with SciPy's filter over all three."""
    c1, c2 = (0.01 * peak) ** 2, (0.03 * peak) ** 2
    mean_a, mean_b = smooth(a), smooth(b)
    var_a, var_b, both = smooth(a * a) - mean_a**2, smooth(b * b) - mean_b**2, smooth(a * b) - mean_a * mean_b
    values = (2 * mean_a * mean_b + c1) * (2 * both + c2) / ((mean_a**2 + mean_b**2 + c1) * (var_a + var_b + c2))
    return values.mean()


@pytest.mark.parametrize("shape", [(1, 1, 6, 7), (3, 3, 20, 31), (2, 4, 5, 40)])
@pytest.mark.parametrize("peak", [1, 255])
def test_values_equal_scikit_images_and_scipys(shape, peak):
    torch.manual_seed(0)
    target = torch.rand(shape) * peak
    restored = target + 0.1 * peak * torch.randn(shape)
    pairs = list(zip(restored.double().numpy(), target.double().numpy(), strict=True))
    assert evaluated(restored, target) == {
        "psnr": pytest.approx(np.mean([peak_signal_noise_ratio(b, a, data_range=peak) for a, b in pairs]), rel=1e-9),
        "ssim": pytest.approx(np.mean([ssim_of(a, b, peak) for a, b in pairs]), rel=1e-9),
    }


def test_values_equal_the_recorded_ones():
    """modelscope 1.40.2's for these images; it takes ssim in single precision."""
    torch.manual_seed(1)
    target, restored = torch.rand(1, 3, 9, 7), torch.rand(1, 3, 9, 7)
    assert evaluated(restored, target) == {
        "psnr": pytest.approx(7.869449550123624, rel=1e-12),
        "ssim": pytest.approx(0.017728112637996674, abs=1e-6),
    }


def test_the_range_is_each_images_own_and_decided_by_its_target():
    low, high = torch.full((1, 1, 4, 4), 0.5), torch.full((1, 1, 4, 4), 100.0)
    psnr = evaluated(torch.cat([low + 1, high + 1]), torch.cat([low, high]))["psnr"]
    assert psnr == pytest.approx((0 + 20 * np.log10(255)) / 2)


def test_equal_images_and_a_target_among_the_inputs():
    image = torch.rand(2, 3, 8, 8).half()
    assert evaluated(image, inputs={"target": image}) == {"psnr": float("inf"), "ssim": 1.0}


def test_images_of_different_sizes_are_refused():
    with pytest.raises(ValueError, match=r"\(1, 3, 8, 8\) and \(1, 3, 8, 9\)"):
        evaluated(torch.zeros(1, 3, 8, 8), torch.zeros(1, 3, 8, 9))
