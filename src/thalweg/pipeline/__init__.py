"""Steps one behind the other, on a stream: transformers, then a learner."""

from thalweg.pipeline.pipeline import ClassifierPipeline, RegressorPipeline, StreamPipeline, TransformerPipeline

__all__ = ["ClassifierPipeline", "RegressorPipeline", "StreamPipeline", "TransformerPipeline"]
