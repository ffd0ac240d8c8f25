"""Synthetic worlds that taught learns caution from: small classification tasks with labeled rows,
unlabeled rows of which a share t is inconsistent, and queries.

A world is a geometry (clusters, regions, structural equations), an inconsistency (SHIFTS) and
columns as real tables have them (noise, skew, categories, missing values). The worlds of a batch
have equal sizes and differ in everything else. All is drawn on the device of the generator.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

SHIFTS = {  # inconsistencies, and how often each is drawn
    "label": 0.2,
    "far_label": 0.08,
    "far_half": 0.15,
    "biased": 0.1,
    "domain": 0.12,
    "prior": 0.2,
    "columns": 0.1,
    "cells": 0.05,
}
GEOMETRIES = {"clusters": 0.55, "regions": 0.2, "trees": 0.1, "equations": 0.15}
FEATURES, CLASSES = 32, 10


@dataclass(frozen=True)
class Sizes:
    """What the worlds of a batch have in common."""

    worlds: int
    classes: int
    unknown: int  # classes that only inconsistent rows have
    features: int
    labeled: int
    unlabeled: int
    queries: int  # consistent ones, the answers to which are learned
    strangers: int  # inconsistent queries, of which only that is to be told


@dataclass(frozen=True)
class Worlds:
    x: Tensor  # (worlds, labeled + unlabeled + queries, features), NaN where missing
    y: Tensor  # codes of the labeled rows
    truth: Tensor  # codes of consistent rows behind the labeled ones; -1 for inconsistent rows
    inconsistent: Tensor  # of the same rows
    t: Tensor  # (worlds,)
    shift: Tensor  # (worlds,) index into SHIFTS
    known: Tensor  # (worlds, CLASSES): the codes that the world uses


def draw_sizes(rng: np.random.Generator, tokens: int) -> Sizes:
    """Sizes of a batch of about so many rows in all."""
    classes = int(rng.choice([2, 2, 2, 3, 3, 4, 5, 5, 6, 7, 8, 10]))
    few = int(rng.choice([1, 1, 2, 2, 3, 4, 4, 5, 6, 8, 10, 16, 25]))
    labeled = min(classes * few, 256)
    unlabeled = 0 if rng.random() < 0.12 else int(np.exp(rng.uniform(np.log(24), np.log(800))))
    queries = 96
    worlds = max(8, tokens // (labeled + unlabeled + queries + 32) // 8 * 8)
    return Sizes(
        worlds=min(worlds, 256),
        classes=classes,
        unknown=int(rng.integers(1, min(5, classes + 1) + 1)),
        features=int(rng.integers(2, FEATURES + 1)),
        labeled=labeled,
        unlabeled=unlabeled,
        queries=queries,
        strangers=32,
    )


class Maker:
    """Draws batches of worlds. `cautious=False` makes all unlabeled rows consistent."""

    def __init__(
        self, seed: int, device: str, cautious: bool = True, worlds: tuple[str, ...] = ()
    ) -> None:
        self.rng = np.random.default_rng(seed)
        self.g = torch.Generator(device).manual_seed(seed)
        self.device, self.cautious = device, cautious
        self.mix = {name: GEOMETRIES[name] for name in worlds or GEOMETRIES}

    def normal(self, *shape: int) -> Tensor:
        return torch.randn(*shape, device=self.device, generator=self.g)

    def uniform(self, *shape: int) -> Tensor:
        return torch.rand(*shape, device=self.device, generator=self.g)

    def integers(self, high: int, *shape: int) -> Tensor:
        return torch.randint(0, high, shape, device=self.device, generator=self.g)

    def chance(self, p: float, *shape: int) -> Tensor:
        return self.uniform(*shape) < p

    # Geometries: rows and their classes, of which those from `classes` on are unknown.

    def clusters(self, s: Sizes, n: int) -> tuple[Tensor, Tensor]:
        """Each class is a few Gaussians in a space of few dimensions, bent into the features."""
        m, parts = int(self.rng.integers(2, 11)), int(self.rng.choice([1, 1, 1, 2, 3]))
        classes = s.classes + s.unknown
        spread = 0.6 + 3.4 * self.uniform(s.worlds, 1, 1)
        centre = spread * self.normal(s.worlds, classes * parts, m)
        shape = self.normal(s.worlds, classes * parts, m, m) * (0.5 / math.sqrt(m))
        uneven = 1.2 * self.uniform(s.worlds, 1, 1)  # how much the spread differs by direction
        widths = uneven * (
            self.normal(s.worlds, 1, m) + 0.4 * self.normal(s.worlds, classes * parts, m)
        )
        shape = shape + torch.diag_embed(torch.exp(widths))
        alike = self.chance(0.5, s.worlds, 1, 1, 1)  # classes of one shape
        shape = torch.where(alike, shape[:, :1], shape)
        label = self.integers(classes, s.worlds, n)
        part = label * parts + self.integers(parts, s.worlds, n)
        at = torch.arange(s.worlds, device=self.device)[:, None]
        noise = self.normal(s.worlds, n, m)
        # In blocks of rows: a matrix for each row would be large.
        z = torch.empty_like(noise)
        for k in range(classes * parts):
            mine = (part == k)[..., None]
            z = torch.where(mine, noise @ shape[:, k].transpose(1, 2), z)
        return self.bend(s, z + centre[at, part]), label

    def regions(self, s: Sizes, n: int) -> tuple[Tensor, Tensor]:
        """Rows of a smooth density; classes are where one of several functions is largest."""
        z = self.density(s, n)
        m, classes = z.shape[-1], s.classes + s.unknown
        line = z @ self.normal(s.worlds, m, classes)
        hidden = torch.relu(
            z @ (self.normal(s.worlds, m, 32) * (2 / math.sqrt(m))) + self.normal(s.worlds, 1, 32)
        )
        curve = hidden @ self.normal(s.worlds, 32, classes)
        score = torch.where(self.chance(0.5, s.worlds, 1, 1), line, curve)
        score = (score - score.mean(1, True)) / score.std(1, keepdim=True).clamp(min=1e-3)
        noise = 0.4 * self.uniform(s.worlds, 1, 1) ** 2
        label = (score + noise * self.normal(*score.shape)).argmax(-1)
        return self.bend(s, z), label

    def trees(self, s: Sizes, n: int) -> tuple[Tensor, Tensor]:
        """Rows of a smooth density; classes are the leaves of a tree on single features."""
        z = self.density(s, n)
        m, classes, depth = z.shape[-1], s.classes + s.unknown, int(self.rng.integers(3, 7))
        axis = self.integers(m, s.worlds, 1, depth).expand(-1, n, -1)
        cut = 0.7 * self.normal(s.worlds, 1, depth)
        bits = ((z.gather(2, axis) > cut) * 2 ** torch.arange(depth, device=self.device)).sum(-1)
        leaf = (torch.arange(2**depth, device=self.device) % classes).expand(s.worlds, -1)
        leaf = leaf.gather(1, self.uniform(s.worlds, 2**depth).argsort(1))
        label = leaf.gather(1, bits)
        return self.bend(s, z, straight=0.8), label

    def equations(self, s: Sizes, n: int) -> tuple[Tensor, Tensor]:
        """A random chain of structural equations; features and the class are some of its nodes."""
        width, depth = 24, int(self.rng.integers(2, 5))
        causes = int(self.rng.integers(2, 9))
        nodes, h = (
            [],
            self.normal(s.worlds, n, causes)
            @ self.normal(s.worlds, causes, width)
            / math.sqrt(causes),
        )
        for _ in range(depth):
            sparse = self.chance(0.3, s.worlds, width, width)
            weights = self.normal(s.worlds, width, width) * sparse / math.sqrt(0.3 * width)
            h = h @ (1.5 * weights) + self.normal(s.worlds, 1, width) * 0.5
            kind = self.integers(4, s.worlds, 1, width)
            h = torch.where(
                kind == 0,
                h,
                torch.where(
                    kind == 1, torch.tanh(h), torch.where(kind == 2, torch.relu(h), torch.sin(h))
                ),
            )
            h = h + self.normal(*h.shape) * (0.2 * self.uniform(s.worlds, 1, width) ** 2)
            nodes.append(h)
        every = torch.cat(nodes, -1)
        picks = self.uniform(s.worlds, every.shape[-1]).argsort(1)
        every = every.gather(2, picks[:, None].expand(-1, n, -1))
        # The class: bins of one node, or the nearest of some prototypes in three nodes.
        classes = s.classes + s.unknown
        cause = every[..., :3] / every[..., :3].std(1, keepdim=True).clamp(min=1e-3)
        cause = cause * (
            self.chance(0.5, s.worlds, 1, 3) | (torch.arange(3, device=self.device) == 0)
        )
        seeds = cause[:, : classes * 3].gather(
            1, self.uniform(s.worlds, classes * 3).argsort(1)[:, :classes, None].expand(-1, -1, 3)
        )
        label = torch.cdist(cause, seeds).argmin(-1)
        if 3 + s.features > every.shape[-1]:
            every = torch.cat(
                [every, self.normal(s.worlds, n, 3 + s.features - every.shape[-1])], -1
            )
        seen = self.chance(0.3, s.worlds, 1, 1)  # the causes themselves are features, sometimes
        x = every[..., 3 : 3 + s.features].clone()
        k = min(3, s.features)
        x[..., :k] = torch.where(seen, every[..., :k], x[..., :k])
        return x, label

    def density(self, s: Sizes, n: int) -> Tensor:
        m = int(self.rng.integers(2, 13))
        centre = self.normal(s.worlds, 4, m) * (1.5 * self.uniform(s.worlds, 1, 1))
        at = torch.arange(s.worlds, device=self.device)[:, None]
        z = self.normal(s.worlds, n, m) + centre[at, self.integers(4, s.worlds, n)]
        mix = torch.eye(m, device=self.device) + 0.5 * self.normal(s.worlds, m, m) / math.sqrt(m)
        return torch.where(self.chance(0.5, s.worlds, 1, 1), z, z @ mix)

    def bend(self, s: Sizes, z: Tensor, straight: float = 0.3) -> Tensor:
        """From few dimensions to the features: each a dimension, or a mixture, or bent."""
        m, d = z.shape[-1], s.features
        pick = self.integers(m, s.worlds, 1, d).expand(-1, z.shape[1], -1)
        alone = z.gather(2, pick)
        mixed = z @ (self.normal(s.worlds, m, d) / math.sqrt(m))
        hidden = torch.tanh(z @ (self.normal(s.worlds, m, 24) / math.sqrt(m)))
        bent = (
            hidden
            @ (self.normal(s.worlds, 24, d) / math.sqrt(24))
            * (2.5 * self.uniform(s.worlds, 1, 1))
        )
        x = torch.where(self.chance(0.8, s.worlds, 1, 1), mixed, torch.zeros_like(mixed)) + bent
        x = torch.where(self.chance(0.3, s.worlds, 1, 1), mixed, x)
        return torch.where(self.chance(straight, s.worlds, 1, 1), alone, x)

    # From a geometry to a batch of worlds.

    def batch(self, s: Sizes) -> Worlds:
        names, odds = list(self.mix), np.array(list(self.mix.values()))
        geometry = getattr(self, str(self.rng.choice(names, p=odds / odds.sum())))
        few = max(4, s.labeled // s.classes)
        total = s.classes + s.unknown
        wide = 2.6 * total / s.classes  # half of the rows of known classes, and some more
        pools = (3 * total * few + 100, int(wide * s.unlabeled) + 1, int(wide * s.queries))
        x, label = geometry(s, sum(pools))
        x = x / x.std((1, 2), keepdim=True).clamp(min=1e-3)
        odds = torch.tensor(list(SHIFTS.values()), device=self.device)
        shift = torch.multinomial(odds, s.worlds, True, generator=self.g)
        t = self.shares(s)
        consistent, other, x = self.sides(s, x, label, shift)
        split = (part.split(pools, 1) for part in (x, label, consistent, other))
        first, second, third = zip(*split, strict=True)  # for labeled rows, unlabeled rows, queries
        shares = torch.softmax(
            self.normal(s.worlds, s.classes) * (self.chance(0.4, s.worlds, 1)), -1
        )
        others = torch.softmax(1.5 * self.normal(s.worlds, s.classes), -1)
        others = torch.where(self.is_(shift, "prior")[:, None], others, shares)
        labeled, y = self.labeled(s, *first[:3], shares)
        asked, answers = self.take(s.queries, *third[:3], shares)
        strange, _ = self.take(s.strangers, third[0], third[1], third[3], others, True)
        asked = torch.cat([asked, strange], 1)
        if s.unlabeled:
            like, like_label = self.take(s.unlabeled, *second[:3], shares)
            unlike, _ = self.take(s.unlabeled, second[0], second[1], second[3], others, True)
            whole = self.is_(shift, "columns")[:, None]
            inconsistent = (
                torch.arange(s.unlabeled, device=self.device)
                < torch.round(t * s.unlabeled)[:, None]
            )
            inconsistent = inconsistent & ~whole
            seen = torch.where(inconsistent[..., None], unlike, like)
        else:
            like = seen = labeled[:, :0]
            like_label, inconsistent = (
                y[:, :0],
                torch.zeros(s.worlds, 0, dtype=torch.bool, device=self.device),
            )
        last = torch.arange(s.queries + s.strangers, device=self.device) >= s.queries
        inconsistent = torch.cat([inconsistent, last.expand(s.worlds, -1)], 1)
        truth = torch.cat([like_label, answers, answers[:, : s.strangers]], 1)
        truth = torch.where(inconsistent | (truth >= s.classes), -1, truth)
        x = self.scaled(s, self.columns(s, torch.cat([labeled, like, seen, asked], 1)))
        labeled, _, rest = x.split(
            [s.labeled, s.unlabeled, x.shape[1] - s.labeled - s.unlabeled], 1
        )
        rest = self.lose(s, labeled, rest, inconsistent, shift, t)
        return self.coded(s, torch.cat([labeled, rest], 1), y, truth, inconsistent, t, shift)

    def is_(self, shift: Tensor, *names: str) -> Tensor:
        return sum(
            (shift == list(SHIFTS).index(name) for name in names),
            torch.zeros_like(shift, dtype=torch.bool),
        )

    def shares(self, s: Sizes) -> Tensor:
        if not self.cautious:
            return torch.zeros(s.worlds, device=self.device)
        t = self.uniform(s.worlds)
        t = torch.where(self.chance(0.3, s.worlds), torch.zeros_like(t), t)
        return torch.where(self.chance(0.12, s.worlds), torch.ones_like(t), t)

    def sides(
        self, s: Sizes, x: Tensor, label: Tensor, shift: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Which rows are consistent, which inconsistent, and the rows, of which the latter may have
        moved.
        """
        known = label < s.classes
        one = torch.nn.functional.one_hot(label, s.classes + s.unknown).to(x.dtype)
        size = one.sum(1).clamp(min=1)
        centre = (one.transpose(1, 2) @ x) / size[..., None]
        off = x - one @ centre
        spread = off.std(1, keepdim=True).clamp(min=1e-3)
        away = (off / spread).norm(dim=-1)
        middle = (one.transpose(1, 2) @ away[..., None]) / size[..., None]
        near = away < (one @ middle)[..., 0]
        line = ((off / spread) @ self.normal(s.worlds, x.shape[-1], 1))[..., 0]
        line = line / line.std(1, keepdim=True).clamp(min=1e-3)
        tilted = self.uniform(*line.shape) < torch.sigmoid(2 * line)
        half = self.chance(0.5, *line.shape)
        unknown = self.is_(shift, "label", "far_label")[:, None]
        consistent = torch.where(self.is_(shift, "far_half")[:, None], near, half)
        consistent = torch.where(self.is_(shift, "biased")[:, None], tilted, consistent)
        consistent, other = (
            torch.where(unknown, known, consistent & known),
            torch.where(unknown, ~known, ~consistent & known),
        )
        d = x.shape[-1]
        turn = torch.eye(d, device=self.device) + 0.6 * self.normal(s.worlds, d, d) / math.sqrt(d)
        moved = x @ turn + 1.2 * self.uniform(s.worlds, 1, 1) * self.normal(s.worlds, 1, d)
        moves = self.is_(shift, "domain")[:, None] | (
            self.is_(shift, "far_label")[:, None] & ~known
        )
        return consistent, other, torch.where((moves & other)[..., None], moved, x)

    def take(
        self, n: int, x: Tensor, label: Tensor, side: Tensor, shares: Tensor, unknown: bool = False
    ) -> tuple[Tensor, Tensor]:
        """n rows of a side, classes by their shares; `unknown` allows rows of unknown classes."""
        classes = shares.shape[-1]
        counts = torch.zeros(len(x), classes, device=self.device).scatter_add_(
            1, label.clamp(max=classes - 1), (side & (label < classes)).to(x.dtype)
        )
        weight = (shares / counts.clamp(min=1)).gather(1, label.clamp(max=classes - 1))
        weight = torch.where(
            label < classes,
            weight,
            torch.full_like(weight, 1 / label.shape[1] if unknown else 1e-9),
        )
        key = torch.log(weight * side + 1e-12 * (label < classes) + 1e-20) - torch.log(
            -torch.log(self.uniform(*label.shape).clamp(1e-9, 1 - 1e-7))
        )
        pick = key.topk(n, 1).indices
        return x.gather(1, pick[..., None].expand(-1, -1, x.shape[-1])), label.gather(1, pick)

    def labeled(
        self, s: Sizes, x: Tensor, label: Tensor, side: Tensor, shares: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Labeled rows: as many of each class, or at least one of each and the others by shares."""
        y = (torch.arange(s.labeled, device=self.device) % s.classes).expand(s.worlds, -1).clone()
        drawn = torch.multinomial(shares, s.labeled, True, generator=self.g)
        drawn[:, : s.classes] = torch.arange(s.classes, device=self.device)
        y = torch.where(self.chance(0.2, s.worlds, 1), drawn, y)
        earlier = (
            torch.nn.functional.one_hot(y, s.classes).cumsum(1).gather(2, y[..., None])[..., 0] - 1
        )
        most = min(int(earlier.max()) + 1, x.shape[1])
        key = self.uniform(*label.shape)
        table = torch.stack(
            [(key + 2 * (side & (label == c))).topk(most, 1).indices for c in range(s.classes)], 1
        )
        at = torch.arange(s.worlds, device=self.device)[:, None]
        pick = table[at, y, earlier]
        found = label.gather(1, pick)
        y = torch.where(found < s.classes, found, y)  # where a class has too few rows
        return x.gather(1, pick[..., None].expand(-1, -1, x.shape[-1])), y

    def columns(self, s: Sizes, x: Tensor) -> Tensor:
        """Columns as tables have them: useless, skewed, of categories, noisy."""
        each = (s.worlds, 1, s.features)
        x = x / x.std(1, keepdim=True).clamp(min=1e-3)
        x = x + self.normal(*x.shape) * (0.4 * self.uniform(s.worlds, 1, 1) ** 3)
        tidy = self.chance(0.3, s.worlds, 1, 1)
        skew = torch.where(
            self.chance(0.5, *each), torch.exp(x.clamp(-4, 3)), x.abs() ** 1.5 * x.sign()
        )
        y = torch.where(self.chance(0.2, *each), skew, x)
        levels = 1 + self.integers(6, *each)
        steps = torch.floor(torch.sigmoid(1.5 * x) * (levels + 1)).clamp(min=0)
        steps = torch.where(steps > levels, levels, steps)
        y = torch.where(self.chance(0.15, *each), steps.to(x.dtype), y)
        y = torch.where(tidy, x, y)
        useless = self.uniform(*each) < 0.5 * self.uniform(s.worlds, 1, 1) ** 3
        return torch.where(useless, self.normal(*x.shape), y)

    def scaled(self, s: Sizes, x: Tensor) -> Tensor:
        """Centred and divided by the spread of each column, or by one number, of consistent rows;
        sometimes of all rows that a learner is given.
        """
        labeled, like, seen, _ = x.split(
            [s.labeled, s.unlabeled, s.unlabeled, s.queries + s.strangers], 1
        )
        clean, given = torch.cat([labeled, like], 1), torch.cat([labeled, seen], 1)
        if not s.unlabeled:
            clean = given = x  # the scale of a world that has more rows than the learner sees
        reference = torch.where(self.chance(0.8, s.worlds, 1, 1), clean, given)
        centre, spread = reference.mean(1, True), reference.std(1, keepdim=True, unbiased=False)
        one = spread.pow(2).mean(2, True).sqrt()
        decay = torch.exp(
            -self.uniform(s.worlds, 1, 1) * 0.15 * torch.arange(s.features, device=self.device)
        )
        spread = torch.where(self.chance(0.65, s.worlds, 1, 1), spread, one / decay)
        return ((x - centre) / spread.clamp(min=1e-3)).clamp(-20, 20)

    def lose(
        self,
        s: Sizes,
        labeled: Tensor,
        rows: Tensor,
        inconsistent: Tensor,
        shift: Tensor,
        t: Tensor,
    ) -> Tensor:
        """Unlabeled rows without some columns, or inconsistent rows without half of their cells."""
        order = self.uniform(s.worlds, s.features).argsort(1).argsort(1)
        mixed = self.chance(0.1, s.worlds)  # another inconsistency at the same time
        lost = (order < torch.ceil(t[:, None] * s.features)) & (self.is_(shift, "columns") | mixed)[
            :, None
        ]
        cells = (
            self.chance(0.5, *rows.shape)
            & (inconsistent & self.is_(shift, "cells")[:, None])[..., None]
        )
        free = torch.arange(rows.shape[1], device=self.device)[:, None] < s.unlabeled
        gone = (lost[:, None] & free) | cells
        empty = self.chance(0.3, s.worlds, 1, 1)
        filler = torch.where(
            empty, torch.full_like(labeled[:, :1], math.nan), labeled.mean(1, True)
        )
        return torch.where(gone, filler.expand_as(rows), rows)

    def coded(
        self,
        s: Sizes,
        x: Tensor,
        y: Tensor,
        truth: Tensor,
        inconsistent: Tensor,
        t: Tensor,
        shift: Tensor,
    ) -> Worlds:
        """Classes by codes drawn for each world; some labels wrong, some cells missing."""
        holes = self.chance(0.15, s.worlds, 1, 1) & (
            self.uniform(*x.shape) < 0.3 * self.uniform(s.worlds, 1, s.features)
        )
        x = x.masked_fill(holes, math.nan)
        wrong = self.chance(0.15, s.worlds, 1) & (
            self.uniform(*y.shape) < 0.15 * self.uniform(s.worlds, 1)
        )
        y = torch.where(wrong, self.integers(s.classes, *y.shape), y)
        code = self.uniform(s.worlds, CLASSES).argsort(1)
        known = torch.zeros(s.worlds, CLASSES, dtype=torch.bool, device=self.device).scatter_(
            1, code[:, : s.classes], True
        )
        answer = torch.where(truth < 0, truth, code.gather(1, truth.clamp(min=0)))
        return Worlds(x, code.gather(1, y), answer, inconsistent, t, shift, known)
