"""Which metrics a task is evaluated with when its config names none. Imports nothing."""

from __future__ import annotations

DEFAULTS: dict[str, tuple[str, ...]] = {
    "bad-image-detecting": ("accuracy",),
    "chat": ("text-gen-metric",),
    "efficient-diffusion-tuning": ("loss-metric",),
    "image-captioning": ("accuracy",),
    "image-color-enhancement": ("image-color-enhance-metric",),
    "image-deblurring": ("image-denoise-metric",),
    "image-denoising": ("image-denoise-metric",),
    "image-inpainting": ("image-inpainting-metric",),
    "image-portrait-enhancement": ("image-portrait-enhancement-metric",),
    "image-quality-assessment-degradation": ("image-quality-assessment-degradation-metric",),
    "image-quality-assessment-mos": ("image-quality-assessment-mos-metric",),
    "image-segmentation": ("image-ins-seg-coco-metric",),
    "movie-scene-segmentation": ("movie-scene-segmentation-metric",),
    "nli": ("seq-cls-metric",),
    "ocr-recognition": ("ocr-recognition-metric",),
    "referring-video-object-segmentation": ("referring-video-object-segmentation-metric",),
    "sentence-similarity": ("seq-cls-metric",),
    "sentiment-classification": ("seq-cls-metric",),
    "text-classification": ("seq-cls-metric",),
    "text-generation": ("text-gen-metric",),
    "token-classification": ("token-cls-metric",),
    "translation-evaluation": ("translation-evaluation-metric",),
    "video-frame-interpolation": ("video-frame-interpolation-metric",),
    "video-stabilization": ("video-stabilization-metric",),
    "video-summarization": ("video-summarization-metric",),
    "video-super-resolution": ("video-super-resolution-metric",),
    "visual-question-answering": ("accuracy",),
}


def task_default_metrics(task: str | None) -> tuple[str, ...]:
    """Names of the task's default metrics; none for a task without."""
    return DEFAULTS.get(task or "", ())
