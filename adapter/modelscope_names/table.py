"""Which names of ModelScope are served, in which module scripts look for them, and where they are here. Only data."""

from __future__ import annotations

# What is replaced even where ModelScope is installed; its models, data and settings are its own then.
TRAINER_LAYER = ("modelscope.trainers", "modelscope.metrics")


def _at(module: str, names: str) -> dict[str, str]:
    """Names by the module they are in, one beside this when it begins with a dot."""
    return dict.fromkeys(names.split(), f"{__package__}{module}" if module.startswith(".") else module)


# Name -> module it is in here; after a colon the name it has there, where that is another.
HOMES: dict[str, str] = {
    **_at("adapter.trainer", "EpochBasedTrainer build_trainer"),
    **_at("adapter.nlp_trainer", "NlpEpochBasedTrainer"),
    **_at("adapter.base_trainer", "BaseTrainer"),
    **_at("adapter.dummy_trainer", "DummyTrainer"),
    **_at("adapter.training_args", "TrainingArgs"),
    **_at("adapter.data.from_file", "build_dataset_from_file"),
    **_at("adapter.log_buffer", "LogBuffer"),
    **_at("adapter.config", "Config ConfigDict"),
    **_at("adapter.registry", "HOOKS LR_SCHEDULER METRICS MODELS OPTIMIZERS PREPROCESSORS TRAINERS Registry"),
    **_at("adapter.registry", "build_from_cfg"),
    "BACKBONES": "adapter.registry:MODELS",
    "HEADS": "adapter.registry:MODELS",
    "CUSTOM_DATASETS": "adapter.registry:DATASETS",
    "default_group": "adapter.registry:DEFAULT_GROUP",
    **_at("adapter.hooks.hook", "Hook"),
    **_at("adapter.hooks.priority", "Priority get_priority"),
    **_at("adapter.hooks.logger", "LoggerHook"),
    **_at("adapter.hooks.text_logger", "TextLoggerHook"),
    **_at("adapter.hooks.tensorboard", "TensorboardHook"),
    **_at("adapter.hooks.checkpoint", "CheckpointHook"),
    **_at("adapter.hooks.best_ckpt_saver", "BestCkptSaverHook"),
    **_at("adapter.hooks.load_checkpoint", "LoadCheckpointHook"),
    **_at("adapter.hooks.optimizer", "OptimizerHook NoneOptimizerHook"),
    **_at("adapter.hooks.torch_amp_optimizer", "TorchAMPOptimizerHook"),
    **_at("adapter.hooks.apex_amp_optimizer", "ApexAMPOptimizerHook"),
    **_at("adapter.hooks.lr_scheduler", "LrSchedulerHook PlateauLrSchedulerHook NoneLrSchedulerHook"),
    **_at("adapter.hooks.evaluation", "EvaluationHook"),
    **_at("adapter.hooks.early_stop", "EarlyStopHook"),
    **_at("adapter.hooks.iter_timer", "IterTimerHook"),
    **_at("adapter.hooks.sparsity", "SparsityHook"),
    **_at("adapter.hooks.clip_clamp_logit_scale", "ClipClampLogitScaleHook"),
    **_at("adapter.hooks.ddp", "DDPHook"),
    **_at("adapter.hooks.megatron", "MegatronHook"),
    **_at("adapter.hooks.deepspeed", "DeepspeedHook"),
    **_at("adapter.hooks.swift", "SwiftHook"),
    **_at("adapter.optim.child_tuning_adamw", "ChildTuningAdamW"),
    **_at("adapter.optim.fisher", "calculate_fisher"),
    "BaseWarmup": "adapter.schedules.warmup:Warmup",
    **_at("adapter.schedules.warmup", "ConstantWarmup ExponentialWarmup LinearWarmup"),
    **_at("adapter.metrics.metric", "Metric"),
    **_at("adapter.metrics.accuracy", "AccuracyMetric"),
    **_at("adapter.metrics.bleu_metric", "BleuMetric"),
    **_at("adapter.metrics.image_denoise_metric", "ImageDenoiseMetric"),
    **_at("adapter.metrics.inbatch_recall", "InbatchRecallMetric"),
    **_at("adapter.metrics.loss_metric", "LossMetric"),
    **_at("adapter.metrics.ned_metric", "NedMetric"),
    **_at("adapter.metrics.ppl_metric", "PplMetric"),
    **_at("adapter.metrics.prediction_saving_wrapper", "PredictionSavingWrapper"),
    **_at("adapter.metrics.seq_cls_metric", "SequenceClassificationMetric"),
    **_at("adapter.metrics.text_gen_metric", "TextGenerationMetric"),
    **_at("adapter.metrics.text_ranking_metric", "TextRankingMetric"),
    **_at("adapter.metrics.token_cls_metric", "TokenClassificationMetric"),
    "task_default_metrics": "adapter.metrics.task_metrics:DEFAULTS",
    "set_random_seed": "adapter.seeding:seed_everything",
    **_at(
        "adapter.modelscope_names.building", "build_optimizer build_lr_scheduler build_hook build_metric build_model"
    ),
    **_at(".building", "build_preprocessor build_custom_dataset"),
    **_at(".default_config", "DEFAULT_HOOKS_CONFIG merge_cfg merge_hooks update_cfg"),
    **_at(".models", "Model TorchModel"),
    **_at(".preprocessors", "Preprocessor"),
    **_at(".msdatasets", "MsDataset"),
    **_at(".reading", "read_config snapshot_download get_logger"),
    **_at(".testing", "DummyTorchDataset create_dummy_test_dataset set_test_level test_level"),
    **_at(
        "adapter.modelscope_names.outputs", "ModelOutputBase AttentionBackboneModelOutput AttentionFillMaskModelOutput"
    ),
    **_at(
        "adapter.modelscope_names.outputs", "AttentionTextClassificationModelOutput AttentionTextGenerationModelOutput"
    ),
    **_at(
        "adapter.modelscope_names.outputs",
        "AttentionTokenClassificationModelOutput BackboneModelOutput DetectionOutput",
    ),
    **_at(".outputs", "FillMaskModelOutput SentencEmbeddingModelOutput Seq2SeqLMOutput"),
    **_at(
        "adapter.modelscope_names.outputs", "Seq2SeqModelOutput TextClassificationModelOutput TextGenerationModelOutput"
    ),
    **_at(".outputs", "TokenClassificationModelOutput TokenGeneratorOutput"),
    **_at(
        "adapter.modelscope_names.probing",
        "exists has_attr_in_class has_method is_diffusers_available is_method_overridden",
    ),
    **_at(
        "adapter.modelscope_names.probing",
        "is_opencv_available is_pillow_available is_scipy_available is_sklearn_available",
    ),
    **_at(".probing", "is_sentencepiece_available is_swift_available is_tf_available"),
    **_at(".probing", "is_timm_available is_tokenizers_available is_torch_available"),
    **_at(".probing", "is_torch_cuda_available is_transformers_available"),
    **_at(
        "adapter.modelscope_names.constants",
        "Fields Hooks LR_Schedulers Metrics Models Optimizers Preprocessors TaskModels",
    ),
    **_at(".constants", "Tasks Trainers ConfigFields ConfigKeys DEFAULT_DATASET_NAMESPACE"),
    **_at(".constants", "DEFAULT_MODEL_REVISION Devices DistributedParallelType DownloadMode"),
    **_at(".constants", "Frameworks Hubs LogKeys MetricKeys ModeKeys ModelFile OutputKeys"),
    **_at(".constants", "TrainerStages"),
}

_OPTIMIZER_HOOKS = "OptimizerHook NoneOptimizerHook TorchAMPOptimizerHook ApexAMPOptimizerHook"
_WARMUPS = "BaseWarmup ConstantWarmup ExponentialWarmup LinearWarmup"
_OUTPUTS = " ".join(name for name, home in HOMES.items() if home == "adapter.modelscope_names.outputs")
_PROBING = " ".join(name for name, home in HOMES.items() if home == "adapter.modelscope_names.probing")

# Module of ModelScope -> names that scripts import from it.
MODULES: dict[str, str] = {
    "modelscope": "EpochBasedTrainer Hook Metric Model MsDataset Preprocessor Priority Tasks TorchModel TrainingArgs "
    "build_dataset_from_file get_logger read_config snapshot_download task_default_metrics",
    "modelscope.hub.snapshot_download": "snapshot_download",
    "modelscope.metainfo": "Fields Hooks LR_Schedulers Metrics Models Optimizers Preprocessors TaskModels Tasks "
    "Trainers",
    "modelscope.metrics": "METRICS Metric build_metric task_default_metrics AccuracyMetric BleuMetric "
    "ImageDenoiseMetric LossMetric PplMetric SequenceClassificationMetric TextGenerationMetric TextRankingMetric "
    "TokenClassificationMetric",
    "modelscope.metrics.accuracy_metric": "AccuracyMetric",
    "modelscope.metrics.base": "Metric",
    "modelscope.metrics.bleu_metric": "BleuMetric",
    "modelscope.metrics.builder": "METRICS MetricKeys Metrics build_metric task_default_metrics",
    "modelscope.metrics.image_denoise_metric": "ImageDenoiseMetric",
    "modelscope.metrics.inbatch_recall_metric": "InbatchRecallMetric",
    "modelscope.metrics.loss_metric": "LossMetric",
    "modelscope.metrics.ned_metric": "NedMetric",
    "modelscope.metrics.ppl_metric": "PplMetric",
    "modelscope.metrics.prediction_saving_wrapper": "PredictionSavingWrapper",
    "modelscope.metrics.sequence_classification_metric": "SequenceClassificationMetric",
    "modelscope.metrics.text_generation_metric": "TextGenerationMetric",
    "modelscope.metrics.text_ranking_metric": "TextRankingMetric",
    "modelscope.metrics.token_classification_metric": "TokenClassificationMetric",
    "modelscope.models": "MODELS Model TorchModel build_model",
    "modelscope.models.base": "Model TorchModel",
    "modelscope.models.builder": "BACKBONES HEADS MODELS build_model",
    "modelscope.msdatasets": "MsDataset",
    "modelscope.msdatasets.dataset_cls.custom_datasets": "CUSTOM_DATASETS build_custom_dataset",
    "modelscope.msdatasets.dataset_cls.custom_datasets.builder": "CUSTOM_DATASETS build_custom_dataset",
    "modelscope.msdatasets.ms_dataset": "MsDataset",
    "modelscope.outputs": f"OutputKeys {_OUTPUTS}",
    "modelscope.outputs.nlp_outputs": _OUTPUTS,
    "modelscope.outputs.outputs": "ModelOutputBase OutputKeys",
    "modelscope.preprocessors": "PREPROCESSORS Preprocessor build_preprocessor",
    "modelscope.preprocessors.base": "Preprocessor",
    "modelscope.preprocessors.builder": "PREPROCESSORS build_preprocessor",
    "modelscope.trainers": "DummyTrainer EpochBasedTrainer Hook NlpEpochBasedTrainer Priority TrainingArgs "
    "build_dataset_from_file build_trainer",
    "modelscope.trainers.base": "BaseTrainer DummyTrainer TRAINERS",
    "modelscope.trainers.builder": "TRAINERS build_trainer",
    "modelscope.trainers.default_config": "DEFAULT_HOOKS_CONFIG merge_cfg merge_hooks update_cfg",
    "modelscope.trainers.hooks": f"{_OPTIMIZER_HOOKS} BestCkptSaverHook CheckpointHook ClipClampLogitScaleHook DDPHook "
    "DeepspeedHook EarlyStopHook EvaluationHook HOOKS Hook IterTimerHook LoadCheckpointHook LoggerHook LrSchedulerHook "
    "MegatronHook NoneLrSchedulerHook PlateauLrSchedulerHook Priority SparsityHook SwiftHook TensorboardHook "
    "TextLoggerHook build_hook get_priority",
    "modelscope.trainers.hooks.builder": "HOOKS build_hook",
    "modelscope.trainers.hooks.checkpoint": "BestCkptSaverHook CheckpointHook LoadCheckpointHook",
    "modelscope.trainers.hooks.checkpoint.checkpoint_hook": "BestCkptSaverHook CheckpointHook",
    "modelscope.trainers.hooks.checkpoint.load_checkpoint_hook": "LoadCheckpointHook",
    "modelscope.trainers.hooks.clip_clamp_logit_scale_hook": "ClipClampLogitScaleHook",
    "modelscope.trainers.hooks.compression": "SparsityHook",
    "modelscope.trainers.hooks.compression.sparsity_hook": "SparsityHook",
    "modelscope.trainers.hooks.distributed": "DDPHook DeepspeedHook MegatronHook",
    "modelscope.trainers.hooks.distributed.ddp_hook": "DDPHook",
    "modelscope.trainers.hooks.distributed.deepspeed_hook": "DeepspeedHook",
    "modelscope.trainers.hooks.distributed.megatron_hook": "MegatronHook",
    "modelscope.trainers.hooks.early_stop_hook": "EarlyStopHook",
    "modelscope.trainers.hooks.evaluation_hook": "EvaluationHook",
    "modelscope.trainers.hooks.hook": "Hook Priority",
    "modelscope.trainers.hooks.iter_timer_hook": "IterTimerHook",
    "modelscope.trainers.hooks.logger": "LoggerHook TensorboardHook TextLoggerHook",
    "modelscope.trainers.hooks.logger.base": "LoggerHook",
    "modelscope.trainers.hooks.logger.tensorboard_hook": "TensorboardHook",
    "modelscope.trainers.hooks.logger.text_logger_hook": "TextLoggerHook",
    "modelscope.trainers.hooks.lr_scheduler_hook": "LrSchedulerHook NoneLrSchedulerHook PlateauLrSchedulerHook",
    "modelscope.trainers.hooks.optimizer": _OPTIMIZER_HOOKS,
    "modelscope.trainers.hooks.optimizer.apex_optimizer_hook": "ApexAMPOptimizerHook",
    "modelscope.trainers.hooks.optimizer.base": "OptimizerHook NoneOptimizerHook",
    "modelscope.trainers.hooks.optimizer.torch_optimizer_hook": "TorchAMPOptimizerHook",
    "modelscope.trainers.hooks.priority": "Priority get_priority",
    "modelscope.trainers.hooks.swift": "SwiftHook",
    "modelscope.trainers.hooks.swift.swift_hook": "SwiftHook",
    "modelscope.trainers.lrscheduler": f"{_WARMUPS} LR_SCHEDULER build_lr_scheduler",
    "modelscope.trainers.lrscheduler.builder": "LR_SCHEDULER build_lr_scheduler",
    "modelscope.trainers.lrscheduler.warmup": _WARMUPS,
    "modelscope.trainers.lrscheduler.warmup.base": "BaseWarmup",
    "modelscope.trainers.lrscheduler.warmup.warmup": _WARMUPS,
    "modelscope.trainers.nlp_trainer": "NlpEpochBasedTrainer",
    "modelscope.trainers.optimizer": "ChildTuningAdamW OPTIMIZERS build_optimizer",
    "modelscope.trainers.optimizer.builder": "OPTIMIZERS build_optimizer",
    "modelscope.trainers.optimizer.child_tuning_adamw_optimizer": "ChildTuningAdamW calculate_fisher",
    "modelscope.trainers.trainer": "EpochBasedTrainer",
    "modelscope.trainers.training_args": "TrainingArgs build_dataset_from_file",
    "modelscope.trainers.utils.log_buffer": "LogBuffer",
    "modelscope.utils.config": "Config ConfigDict",
    "modelscope.utils.constant": "ConfigFields ConfigKeys DEFAULT_DATASET_NAMESPACE DEFAULT_MODEL_REVISION Devices "
    "DistributedParallelType DownloadMode Fields Frameworks Hubs LogKeys ModeKeys ModelFile Tasks TrainerStages",
    "modelscope.utils.hub": "read_config snapshot_download",
    "modelscope.utils.import_utils": _PROBING,
    "modelscope.utils.logger": "get_logger",
    "modelscope.utils.registry": "Registry build_from_cfg default_group",
    "modelscope.utils.test_utils": "DummyTorchDataset create_dummy_test_dataset is_tf_available is_torch_available "
    "set_test_level test_level",
    "modelscope.utils.torch_utils": "set_random_seed",
}
