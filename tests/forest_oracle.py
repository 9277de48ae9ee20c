"""A forest over the last rows, slowly: its window, cuts, trees and groves, one row and one number at a time."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import poisson

from tests.adwin_oracle import SlowAdwin
from thalweg.learners.base.forest import Grove

WORD = 2**64 - 1
Row = tuple[int, int]  # its number in the stream, and how often it counts
Singles = NDArray[np.float32]


class Chance:
    """SplitMix64."""

    def __init__(self, seed: int) -> None:
        self.seed, self.drawn = (seed + 1) * 0xD1B54A32D192ED03 & WORD, 0

    def next(self) -> int:
        self.drawn += 1
        h = (self.seed + self.drawn * 0x9E3779B97F4A7C15) & WORD
        h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9 & WORD
        h = (h ^ (h >> 27)) * 0x94D049BB133111EB & WORD
        return h ^ (h >> 31)

    def below(self, count: int) -> int:
        return (self.next() >> 32) * count >> 32

    def fraction(self) -> float:
        return (self.next() >> 11) * 2.0**-53


@cache
def quantile(level: float, mean: float) -> int:
    return int(poisson.ppf(level, mean))


class Draws:
    """How often rows count: Poisson, six draws out of a number of 64 bits."""

    def __init__(self, mean: float, chance: Chance) -> None:
        self.mean, self.chance = mean, chance
        self.waiting: list[int] = []

    def next(self, weight: float) -> int:
        if not self.waiting:
            bits = self.chance.next()
            self.waiting = [bits // 1024**i % 1024 for i in range(6)]
        level = (self.waiting.pop(0) + 0.5) / 1024
        times = quantile(level, self.mean) if self.mean else 1
        if weight == 1:
            return times
        wanted = min(times * weight, 255.0)
        return math.floor(wanted) + (self.chance.fraction() < wanted - math.floor(wanted))


class Window:
    """The last rows, and the codes of each feature: its values while they are few, else quantiles of 512 rows."""

    def __init__(self, p: int, capacity: int) -> None:
        self.p, self.capacity, self.seen = p, capacity, 0
        self.rows: dict[int, tuple[Singles, float, float]] = {}
        self.exact = [True] * p
        self.bounds: list[list[np.float32]] = [[] for _ in range(p)]

    def holds(self, number: int) -> bool:
        return number in self.rows

    def code(self, number: int, j: int) -> int:
        return bisect_left(self.bounds[j], self.rows[number][0][j])

    def codes(self, j: int) -> int:
        return len(self.bounds[j]) + (not self.exact[j])

    def between(self, j: int, low: int, high: int) -> np.float32:
        return np.float32(0.5) * (self.bounds[j][low] + self.bounds[j][high if self.exact[j] else high - 1])

    def add(self, x: Singles, target: float, weight: float) -> None:
        self.rows.pop(self.seen - self.capacity, None)
        self.rows[self.seen] = x, target, weight
        self.seen += 1
        for j in range(self.p):
            if self.exact[j] and x[j] not in self.bounds[j]:
                if len(self.bounds[j]) == 64:
                    self.refit(j)
                else:
                    self.bounds[j] = sorted([*self.bounds[j], x[j]])
            elif not self.exact[j]:
                at_first = self.seen in (64, 128, 256, 512, 1024, 2048)
                if at_first or (self.seen > 2048 and (self.seen + 37 * j) % 2048 == 0):
                    self.refit(j)

    def refit(self, j: int) -> None:
        newest = sorted(self.rows)[-512:]
        values = sorted(self.rows[number][0][j] for number in newest)
        self.exact[j], bounds = False, set()
        for i in range(1, 64):
            if k := i * len(values) // 64:
                low, high = values[k - 1], values[k]
                bounds.add(np.float32(0.5) * (low + high) if high > low else low)
        self.bounds[j] = sorted(bound for bound in bounds if bound < values[-1])


@cache
def n_log_n(n: int) -> np.float32:
    return np.float32(n * math.log(n) if n > 1 else 0)


#: What a cut gains, by the rows in it and on its left.
Gain = Callable[[list[Row], list[Row]], float]
#: A feature, a code and a threshold.
Cut = tuple[int, int, np.float32]


def best_cut(
    window: Window,
    rows: list[Row],
    share: float,
    least: float,
    clear: float,
    chance: Chance,
    gain_of: Gain,
    equal: float = 1.0,
) -> tuple[int, Cut | None]:
    """How many numbers are looked at, and the cut that gains most, if one gains more than the least.

    Of many rows where it gains less than is clear, the cut in the middle of a feature by chance.
    """
    work, best, found = len(rows), least, None
    order, left = list(range(window.p)), min(64, math.ceil(share * window.p))
    for i in range(window.p):
        if left == 0:
            break
        at = i + chance.below(window.p - i)
        order[i], order[at] = order[at], order[i]
        j = order[i]
        if window.codes(j) < 2:
            continue
        work += len(rows)
        codes = {number: window.code(number, j) for number, _ in rows}
        by_code = sorted(rows, key=lambda row: codes[row[0]])
        met = sorted(set(codes.values()))
        left -= len(met) > 1
        for code, following in pairwise(met):
            gain = gain_of(rows, [row for row in by_code if codes[row[0]] <= code])
            if gain > equal * best:
                best, found = gain, (j, code, window.between(j, code, following))
    if best < clear and len(rows) >= 256:
        j, work = chance.below(window.p), work + len(rows)
        codes = sorted(window.code(number, j) for number, _ in rows)
        if codes[0] < codes[-1]:
            code = min(codes[(len(codes) - 1) // 2], max(other for other in codes if other < codes[-1]))
            found = j, code, window.between(j, code, min(other for other in codes if other > code))
    return work, found


@dataclass
class Leaf:
    """What is known where rows end: counts that fade, what was inherited, weights of the refinement."""

    counts: Singles
    inherited: Singles
    weights: Singles
    squares: Singles
    seen: int = 0
    due: int = 0
    rows: list[Row] = field(default_factory=list)

    @classmethod
    def fresh(cls, inherited: NDArray) -> Leaf:
        none = np.zeros_like(inherited)
        return cls(none, inherited.copy(), none.copy(), none.copy())

    def widen(self) -> None:
        c = len(self.counts)
        self.inherited = np.append(self.inherited * np.float32(c / (c + 1)), np.float32(1 / (c + 1)))
        for name in ("counts", "weights", "squares"):
            setattr(self, name, np.append(getattr(self, name), np.float32(0)))


@dataclass
class Node:
    """A leaf, or a cut with a node on each side."""

    leaf: Leaf
    feature: int = -1
    threshold: float = 0.0
    sides: tuple[Node, ...] = ()

    def find(self, x: Singles) -> Node:
        return self if not self.sides else self.sides[int(x[self.feature] > self.threshold)].find(x)

    def leaves(self) -> list[Leaf]:
        return [leaf for side in self.sides for leaf in side.leaves()] or [self.leaf]

    def split(self, feature: int, threshold: float, above: NDArray) -> None:
        """Both sides inherit what is known above them and the weights."""
        old = self.leaf
        self.sides = tuple(
            Node(Leaf(np.zeros_like(above), above.copy(), old.weights.copy(), old.squares.copy())) for _ in range(2)
        )
        self.feature, self.threshold = feature, threshold


#: Rows that belong to a node whose cut has not been sought yet.
Segments = list[tuple[Node, list[Row]]]


@dataclass
class Grown:
    """A tree, its recent mistakes, and the number of rows that it is to be grown anew from, if any."""

    changes: SlowAdwin
    tree: Node
    mistakes: float = 0.0
    judged: float = 0.0
    born: int = 0
    wanted: int = 0

    @property
    def error(self) -> float:
        return self.mistakes / self.judged if self.judged else 0.5


class SlowGrove:
    """Trees that learn and forget alike; what their leaves know is said by `SlowClassGrove` and `SlowNumberGrove`."""

    def __init__(self, options: Grove, window: Window, chance: Chance) -> None:
        self.options, self.window, self.chance = options, window, chance
        self.grown = [Grown(SlowAdwin(options.change_level, 32), self.empty()) for _ in range(options.trees)]
        self.vote = np.ones(options.trees)
        self.growing: Grown | None = None
        self.due = self.budget = 0
        self.patience = 1.0
        self.young = self.empty()
        self.open: Segments = []

    def empty(self) -> Node:
        return Node(Leaf.fresh(self.nothing()))

    def learn(self, target: float, weight: float, of: Any) -> None:
        options, now = self.options, self.window.seen
        for own, said in zip(self.grown, of.said, strict=True):
            mistake = self.mistake(said, target)
            own.mistakes = 0.998 * own.mistakes + weight * mistake
            own.judged = 0.998 * own.judged + weight
            if options.change_level:
                change = own.changes.update(mistake)
                if change and change[2] > change[1]:
                    own.wanted, self.patience = max(change[0], 64), 1.0
                    self.due = min(self.due, now + options.regrow_every)
        mean_error = float(np.mean([own.error for own in self.grown]))
        self.judged(of, target)
        if options.step:
            self.refine(target, min(weight, 255.0), of)
        draws = Draws(options.bagging, self.chance)
        for own, node in zip(self.grown, of.nodes, strict=True):
            if times := draws.next(weight):
                self.put(own.tree, node, target, (now - 1, times))
        if options.regrow_every and now >= max(self.due, 128):
            newest = max(self.grown, key=lambda own: own.born)
            if newest.born and not options.regrow_share:
                pays = newest.error < np.mean([own.error for own in self.grown])
                self.patience = max(1.0, self.patience / 2) if pays else min(4.0, 1.5 * self.patience)
            self.give_up_worst()
            held = min(now, self.window.capacity)
            self.due = now + max(int(self.patience * options.regrow_every), int(options.regrow_share * held))
        self.grow_on(mean_error)
        if now % 16 == 0:
            errors = np.array([own.error for own in self.grown])
            self.vote = np.exp(-10 * (errors - min(1, errors.min())))

    def count(self, rows: list[Row], fading: float = 1.0, to: NDArray | None = None) -> NDArray:
        """What rows say, after what is known has faded at each."""
        known = np.zeros_like(self.nothing()) if to is None else to
        for number, times in rows:
            known *= known.dtype.type(fading)
            known += times * self.said_by(self.window.rows[number][1])
        return known

    def put(self, tree: Node, node: Node, target: float, row: Row) -> None:
        """A row reaches a leaf, which may become a cut."""
        leaf = node.leaf
        self.count([row], self.options.fading, leaf.counts)
        leaf.rows = [*leaf.rows, row][-self.options.leaf_rows :]
        leaf.seen += 1
        if leaf.seen < leaf.due:
            return
        leaf.due = leaf.seen + max(8, min(leaf.seen, 4 * self.options.leaf_rows) // 2)
        rows = [each for each in leaf.rows if self.window.holds(each[0])]
        segments: Segments = []
        self.cut_or_settle(tree, node, rows, segments, leaf.counts)
        while segments:
            self.grow(tree, segments)

    def grow(self, tree: Node, segments: Segments) -> int:
        node, rows = segments.pop()
        return self.cut_or_settle(tree, node, [row for row in rows if self.window.holds(row[0])], segments)

    def cut_or_settle(
        self,
        tree: Node,
        node: Node,
        rows: list[Row],
        segments: Segments,
        counts: NDArray | None = None,
    ) -> int:
        """How many numbers are looked at. A leaf of the stream, which has ``counts``, stays as it is without a cut."""
        options, work, cut = self.options, len(rows), None
        if len(rows) >= 8 and len(tree.leaves()) < options.max_leaves:
            work, cut = self.best_cut(rows)
        if cut is None:
            if counts is None:
                self.settle(node.leaf, rows)
            return work
        feature, code, threshold = cut
        known = self.count(rows) if counts is None else counts
        node.split(feature, threshold, self.above(known, node.leaf.inherited))
        sides: tuple[list[Row], list[Row]] = ([], [])
        for row in rows:
            sides[int(self.window.code(row[0], feature) > code)].append(row)
        segments += [(node.sides[1], sides[1]), (node.sides[0], sides[0])]
        return work + len(rows)

    def settle(self, leaf: Leaf, rows: list[Row]) -> None:
        fresh = math.ceil(math.log(1e-3) / math.log(self.options.fading)) if self.options.fading < 1 else len(rows)
        self.count(rows[-fresh:], self.options.fading, leaf.counts)
        leaf.rows = rows[-self.options.leaf_rows :]
        leaf.seen, leaf.due = len(rows), len(rows) + max(4, min(len(rows), 4 * self.options.leaf_rows) // 2)

    def give_up_worst(self) -> None:
        old = [own for own in self.grown if self.window.seen - own.born >= 100 and not own.wanted]
        if old:
            lengths = [self.options.shortest]
            while 2 * lengths[-1] <= self.options.longest:
                lengths.append(2 * lengths[-1])
            max(old, key=lambda own: own.error).wanted = lengths[self.chance.below(len(lengths))]

    def grow_on(self, mean_error: float) -> None:
        """As far as there is a budget, the worst first."""
        self.budget += 512 * len(self.grown)
        while self.budget > 0:
            if self.growing is None:
                wanted = [own for own in self.grown if own.wanted]
                if not wanted:
                    self.budget = 0
                    return
                self.growing = max(wanted, key=lambda own: own.error)
                self.begin_growth(self.growing.wanted)
            while self.budget > 0 and self.open:
                self.budget -= self.grow(self.young, self.open)
            if not self.open:
                old, self.growing = self.growing, None
                old.tree, old.changes = self.young, SlowAdwin(self.options.change_level, 32)
                old.mistakes, old.judged = 20 * mean_error, 20.0
                old.born, old.wanted = self.window.seen, 0

    def begin_growth(self, wanted: int) -> None:
        numbers = sorted(self.window.rows)[-wanted:]
        draws = Draws(self.options.bagging, self.chance)
        rows = [(number, times) for number in numbers if (times := draws.next(self.window.rows[number][2]))]
        self.young = self.empty()
        self.open = [(self.young, rows)]
        self.budget -= len(numbers)


@dataclass
class Opinion:
    """What trees make of a row."""

    nodes: list[Node]
    said: list[int]
    votes: NDArray[np.float64]
    logs: NDArray[np.float64]
    refined: NDArray[np.float64]


class SlowClassGrove(SlowGrove):
    """Leaves know the distribution of the classes."""

    def __init__(self, options: Grove, window: Window, chance: Chance) -> None:
        self.classes = 0
        super().__init__(options, window, chance)
        self.bias, self.bias_squares = np.zeros(0), np.zeros(0)
        self.slope, self.slope_squares = np.ones(1), np.zeros(1)

    def nothing(self) -> Singles:
        return np.full(self.classes, 1 / max(self.classes, 1), dtype=np.float32)

    def widen(self) -> None:
        self.classes += 1
        for tree in [own.tree for own in self.grown] + [self.young]:
            for leaf in tree.leaves():
                leaf.widen()
        self.bias, self.bias_squares = np.append(self.bias, 0), np.append(self.bias_squares, 0)

    def judge(self, x: Singles) -> Opinion:
        nodes = [own.tree.find(x) for own in self.grown]
        parts = [node.leaf.counts + node.leaf.inherited for node in nodes]
        votes = sum(vote * part / max(part.sum(), 1e-9) for vote, part in zip(self.vote, parts, strict=True))
        votes = votes / votes.sum()
        logs = np.log((votes + 0.01) * self.classes)
        scores = self.bias + self.slope * logs + sum(node.leaf.weights.astype(float) for node in nodes)
        refined = np.exp(scores - scores.max())
        return Opinion(nodes, [int(part.argmax()) for part in parts], votes, logs, refined / refined.sum())

    def mistake(self, said: int, label: float) -> float:
        return float(said != label)

    def judged(self, of: Opinion, label: float) -> None:
        pass

    def refine(self, label: float, weight: float, of: Opinion) -> None:
        pull = weight * (of.refined - self.said_by(label))

        def descend(values: NDArray, squares: NDArray, gradient: NDArray | float, step: float) -> None:
            squares += gradient**2
            values -= step * gradient / np.sqrt(squares + 1)

        descend(self.bias, self.bias_squares, pull, 0.1)
        descend(self.slope, self.slope_squares, pull @ of.logs, 0.1)
        for node in of.nodes:
            descend(node.leaf.weights, node.leaf.squares, pull, self.options.step / len(of.nodes))

    def said_by(self, label: float) -> Singles:
        return np.eye(self.classes, dtype=np.float32)[int(label)]

    def above(self, counts: Singles, inherited: Singles) -> Singles:
        return (counts + inherited) / (1 + counts.sum())

    def best_cut(self, rows: list[Row]) -> tuple[int, Cut | None]:
        count = self.count(rows).astype(int)
        by_class = sum(map(n_log_n, count.tolist()), start=np.float32(0))
        most = n_log_n(count.sum()) - by_class
        if most <= np.float32(self.options.least_gain):
            return len(rows), None

        def gain(rows: list[Row], left: list[Row]) -> np.float32:
            below = self.count(left).astype(int)
            pairs = zip(below.tolist(), (count - below).tolist(), strict=True)
            children = sum((n_log_n(a) + n_log_n(b) for a, b in pairs), start=np.float32(0))
            return most - (n_log_n(below.sum()) + n_log_n((count - below).sum()) - children)

        share, least = self.options.feature_share, np.float32(self.options.least_gain)
        return best_cut(self.window, rows, share, least, np.float32(8) * least, self.chance, gain)


@dataclass
class Answers:
    """What trees make of a row whose target is a number."""

    nodes: list[Node]
    said: list[float]
    given: list[float]  # the mean, and two refinements of it


class SlowNumberGrove(SlowGrove):
    """Leaves know how many rows they had and the sum of their targets."""

    rows = size = 0.0

    def nothing(self) -> NDArray[np.float64]:
        return np.array([1.0, 0.0])

    def judge(self, x: Singles) -> Answers:
        nodes = [own.tree.find(x) for own in self.grown]
        known = [node.leaf.counts + node.leaf.inherited for node in nodes]
        said = [total / rows for rows, total in known]
        mean = np.average(said, weights=self.vote)
        return Answers(nodes, said, [mean, *(mean + sum(node.leaf.weights[s] for node in nodes) for s in (0, 1))])

    def mistake(self, said: float, target: float) -> float:
        return min(1.0, abs(said - target) / (4 * self.size)) if self.size else float(said != target)

    def judged(self, of: Answers, target: float) -> None:
        mean = np.mean(np.abs(np.array(of.said) - target))
        self.rows = min(self.rows + 1, 2000)
        self.size += (min(mean, 4 * self.size if self.rows > 100 else np.inf) - self.size) / self.rows

    def refine(self, target: float, weight: float, of: Answers) -> None:
        for node in of.nodes:
            node.leaf.squares[0] = 0.999 * node.leaf.squares[0] + weight
        gains = np.array([max(node.leaf.squares[0], 1e-200) ** -0.5 for node in of.nodes])
        for s, step in enumerate((self.options.step, 0.2 * self.options.step)):
            move = (1 - (1 - step) ** weight) * (target - of.given[1 + s])
            for node, gain in zip(of.nodes, gains / gains.sum(), strict=True):
                node.leaf.weights[s] += gain * move

    def said_by(self, target: float) -> NDArray[np.float64]:
        return np.array([1.0, target])

    def above(self, sums: NDArray, inherited: NDArray) -> NDArray:
        rows, total = sums + inherited
        return np.array([1.0, total / rows])

    def best_cut(self, rows: list[Row]) -> tuple[int, Cut | None]:
        """Of gains that are equal but for rounding the first."""

        def fall(rows: list[Row], left: list[Row]) -> float:
            return self.squares(rows) - self.squares(left) - self.squares([row for row in rows if row not in left])

        options, all_rows = self.options, sum(times for _, times in rows)
        least, clear = (
            self.squares(rows) * (1 - math.exp(-2 * gain / all_rows))
            for gain in (options.least_gain, 2 * options.least_gain)
        )
        if least >= self.squares(rows):
            return len(rows), None
        return best_cut(self.window, rows, options.feature_share, least, clear, self.chance, fall, equal=1 + 1e-9)

    def squares(self, rows: list[Row]) -> float:
        numbers = np.repeat([self.window.rows[number][1] for number, _ in rows], [times for _, times in rows])
        return float(((numbers - numbers.mean()) ** 2).sum()) if len(numbers) else 0.0


class SlowNumberForest:
    """Groves over one window; targets relative to the first one."""

    def __init__(self, p: int, groves: list[Grove], rows: int, seed: int) -> None:
        self.window, self.chance = Window(p, rows), Chance(seed)
        self.groves = [SlowNumberGrove(grove, self.window, self.chance) for grove in groves]

    def predict_then_learn(self, row: NDArray[np.float64], target: float, weight: float = 1.0) -> list[float]:
        """What each grove answers."""
        x = np.clip(row, -3e38, 3e38).astype(np.float32)
        made = [grove.judge(x) for grove in self.groves]
        if weight > 0:
            self.window.add(x, target, weight)
            for grove, own in zip(self.groves, made, strict=True):
                grove.learn(target, weight, own)
        return [given for own in made for given in own.given]


class SlowForest:
    """Groves over one window; a class has a number from its first row on."""

    def __init__(self, p: int, groves: list[Grove], rows: int, seed: int) -> None:
        self.window, self.chance = Window(p, rows), Chance(seed)
        self.groves = [SlowClassGrove(grove, self.window, self.chance) for grove in groves]
        self.arrivals: list[int] = []

    def predict_then_learn(self, row: NDArray[np.float64], k: int, weight: float = 1.0) -> dict[int, float]:
        """The probability of each class met before this row."""
        x = np.clip(row, -3e38, 3e38).astype(np.float32)
        opinions = [grove.judge(x) for grove in self.groves] if self.arrivals else []
        said = [each for opinion in opinions for each in (opinion.votes, opinion.refined)]
        found = dict(zip(self.arrivals, np.mean(said, axis=0).tolist() if said else [], strict=True))
        if weight == 0:
            return found
        if k not in self.arrivals:
            self.arrivals.append(k)
            for grove in self.groves:
                grove.widen()
            opinions = [grove.judge(x) for grove in self.groves]
        label = self.arrivals.index(k)
        self.window.add(x, label, weight)
        for grove, opinion in zip(self.groves, opinions, strict=True):
            grove.learn(label, weight, opinion)
        return found
