"""Which metrics a task is evaluated with when its config names none. Imports nothing."""

from __future__ import annotations

DEFAULTS: dict[str, tuple[str, ...]] = {
    "bad-image-detecting": ("accuracy",),
    "chat": ("text-gen-metric",),
    "efficient-diffusion-tuning": ("loss-metric",),
    "feature-regression": ("loss-metric",),
    "image-captioning": ("accuracy",),
    "image-classification": ("accuracy",),
    "image-color-enhancement": ("image-color-enhance-metric",),
    "image-deblurring": ("image-denoise-metric",),
    "image-denoising": ("image-denoise-metric",),
    "image-inpainting": ("image-inpainting-metric",),
    "image-portrait-enhancement": ("image-portrait-enhancement-metric",),
    "image-quality-assessment-degradation": ("image-quality-assessment-degradation-metric",),
    "image-quality-assessment-mos": ("image-quality-assessment-mos-metric",),
    "image-segmentation": ("image-ins-seg-coco-metric",),
    "image_classification": ("accuracy",),
    "movie-scene-segmentation": ("movie-scene-segmentation-metric",),
    "named-entity-recognition": ("token-cls-metric",),
    "nli": ("seq-cls-metric",),
    "ocr-recognition": ("ocr-recognition-metric",),
    "part-of-speech": ("token-cls-metric",),
    "referring-video-object-segmentation": ("referring-video-object-segmentation-metric",),
    "sentence-pair-classification": ("seq-cls-metric",),
    "sentence-similarity": ("seq-cls-metric",),
    "sentiment-analysis": ("seq-cls-metric",),
    "sentiment-classification": ("seq-cls-metric",),
    "text-classification": ("seq-cls-metric",),
    "text-generation": ("text-gen-metric",),
    "text-regression": ("loss-metric",),
    "token-classification": ("token-cls-metric",),
    "translation-evaluation": ("translation-evaluation-metric",),
    "video-frame-interpolation": ("video-frame-interpolation-metric",),
    "video-stabilization": ("video-stabilization-metric",),
    "video-summarization": ("video-summarization-metric",),
    "video-super-resolution": ("video-super-resolution-metric",),
    "visual-question-answering": ("accuracy",),
    "word-segmentation": ("token-cls-metric",),
}


def task_default_metrics(task: str | None) -> tuple[str, ...]:
    """Names of the task's default metrics; none for a task without."""
    return DEFAULTS.get(task or "", ())
