"""Where rows come from: generators with a concept at every time, and data sets in time order.

::

    Stream                       rows in time: take, batches, iteration; always the same rows
    ├── ConceptStream            generated: a concept at every time that draws any number of rows
    │   ├── DriftingGaussians    classes whose means move: `Circling`, `Gliding` or `Jumping`
    │   ├── DriftingTopics       texts of classes that differ in a few words, which change gradually and at once
    │   ├── Fraud                a rare class, columns that carry nothing, a sudden change
    │   ├── RandomRBFDrift       small clouds around centroids that move, several to a class
    │   ├── TwoNorm, RingNorm    Gaussians in 20 dimensions that stay: best distinguished by a plane, by a sphere
    │   ├── Waveform             mixtures of waves that stay
    │   ├── DiscAndBow           a disc and a blurred bow on its edge, which stay
    │   ├── ResponseStream       …whose targets are numbers, not labels
    │   │   ├── LinearResponse   a weighted sum of the features
    │   │   └── FriedmanDrift    a curved response that changes in a corner, or whose features change roles
    │   └── RuleStream           …whose labels follow from the features by a rule
    │       ├── Stagger          three concepts that replace one another
    │       ├── MovingPlane      a line that turns a little with every row
    │       ├── WanderingDisc    a disc whose centre circles the origin
    │       └── NoisyRuleStream  …whose rows are drawn with noise
    │           ├── RotatingCheckerboard   four squares that turn: no line follows them
    │           ├── TurningXOR   four quadrants that turn, opposite ones of the same class
    │           └── SEA          a threshold that jumps, under noisy labels
    └── Table                    a finite data set: yours, or one that a function beginning with ``load_`` reads

    BenchmarkSet                 rows in no order of time, with splits into training and test rows: `load_benchmark`
"""

from __future__ import annotations

from thalweg.streams.abrupt import SEA, Stagger
from thalweg.streams.boundaries import MovingPlane, RotatingCheckerboard, TurningXOR, WanderingDisc
from thalweg.streams.datasets import (
    BENCHMARK_SETS,
    BenchmarkSet,
    Split,
    load_benchmark,
    load_covertype,
    load_elec2,
    load_sea_concepts,
    load_weather,
)
from thalweg.streams.drifting_gaussians import Circling, DriftingGaussians, Gliding, Jumping, Motion
from thalweg.streams.drifting_topics import DriftingTopics
from thalweg.streams.fraud import Fraud
from thalweg.streams.random_rbf_drift import RandomRBFDrift
from thalweg.streams.responses import FriedmanDrift, LinearResponse
from thalweg.streams.stationary import DiscAndBow, RingNorm, TwoNorm, Waveform
from thalweg.streams.stream import (
    Concept,
    ConceptStream,
    NoisyRuleStream,
    ResponseStream,
    RuleConcept,
    RuleStream,
    Sampler,
    Stream,
)
from thalweg.streams.table import Table

__all__ = [
    "BENCHMARK_SETS",
    "SEA",
    "BenchmarkSet",
    "Circling",
    "Concept",
    "ConceptStream",
    "DiscAndBow",
    "DriftingGaussians",
    "DriftingTopics",
    "Fraud",
    "FriedmanDrift",
    "Gliding",
    "Jumping",
    "LinearResponse",
    "Motion",
    "MovingPlane",
    "NoisyRuleStream",
    "RandomRBFDrift",
    "ResponseStream",
    "RingNorm",
    "RotatingCheckerboard",
    "RuleConcept",
    "RuleStream",
    "Sampler",
    "Split",
    "Stagger",
    "Stream",
    "Table",
    "TurningXOR",
    "TwoNorm",
    "WanderingDisc",
    "Waveform",
    "load_benchmark",
    "load_covertype",
    "load_elec2",
    "load_sea_concepts",
    "load_weather",
]
