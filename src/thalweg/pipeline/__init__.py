"""Pipelines on a stream: transformers, then a learner; or encoded categories, then a learner."""

from thalweg.pipeline.pipeline import ClassifierPipeline, RegressorPipeline, StreamPipeline, TransformerPipeline
from thalweg.pipeline.target_encoding import TargetEncodedClassifier
from thalweg.pipeline.target_means import TargetEncodedRegressor

__all__ = [
    "ClassifierPipeline",
    "RegressorPipeline",
    "StreamPipeline",
    "TargetEncodedClassifier",
    "TargetEncodedRegressor",
    "TransformerPipeline",
]
