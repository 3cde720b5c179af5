"""Positions, masks and bands computed from `arange` and `linspace` in float32: a floor, a comparison or a cast to
integers has to jump where PyTorch's rounded values jump, or whole elements differ."""

import math
import random

import pytest
import torch
import torch.nn.functional as F
from conftest import ROOT

CHECKER = ROOT / "build" / "tests" / "import_check"


@pytest.fixture(autouse=True)
def single_precision():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    torch.manual_seed(0)
    yield
    torch.set_default_dtype(before)


def compare(function, *args):
    """Both forms against eager PyTorch, with the tolerance of a few roundings; one wrong position is far more."""
    import check_import

    if not CHECKER.exists():
        pytest.skip(f"{CHECKER} is not built: `./x build`")
    module = check_import.as_module(function)
    graph = check_import.decomposed(str(CHECKER), module, args, {})
    values = list(check_import.input_values(graph, module, args, {}))
    wanted = check_import.expected_values(graph, module, args, {})
    for form in ([], ["--folded"]):
        for i, (a, b) in enumerate(zip(check_import.interpret([str(CHECKER), *form], graph, values), wanted)):
            assert torch.allclose(a, b.double(), rtol=1e-5, atol=1e-5), f"result {i} {form}: {(a - b).abs().max()}"
    return check_import.imported(str(CHECKER), graph)


def text_of(imported):
    return imported["flat"] if "flat" in imported else str(imported)


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
@pytest.mark.parametrize("seed", range(4))
def test_nearest_of_any_two_extents(mode, seed):
    draw = random.Random(seed)
    extents = [100, *(draw.randint(1, 256) for _ in range(11))]
    targets = {extent: [30, *(draw.randint(1, 256) for _ in range(11))] for extent in extents}

    def resized(*images):
        return [F.interpolate(x, size=(1, out), mode=mode) for x in images for out in targets[x.shape[-1]]]

    compare(resized, *(torch.arange(float(n)).reshape(1, 1, 1, n) for n in extents))


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
def test_nearest_by_any_factor(mode):
    def resized(x, y):
        factors = (0.1, 0.25, 0.3, 1 / 3, 0.5, 0.7, 1, 1.1, 1.7, 2, 2.5, 3, 4)
        return [
            F.interpolate(v, scale_factor=(1, f), mode=mode, recompute_scale_factor=r)
            for v in (x, y)
            for f in factors
            for r in (0, 1)
        ]

    compare(resized, torch.arange(130.0).reshape(1, 1, 1, 130), torch.arange(77.0).reshape(1, 1, 1, 77))


def test_nearest_volumes_and_rows():
    def resized(x, y):
        return (
            F.interpolate(x, size=7),
            F.interpolate(y, size=(3, 5, 7)),
            F.interpolate(y, scale_factor=2),
            F.interpolate(x[:, 0, None], 9) * 2,
        )

    compare(resized, torch.randn(2, 3, 10), torch.randn(2, 1, 4, 6, 5))


def test_positions():
    def chosen(x):
        n = torch.arange(30)
        halves = torch.arange(30, dtype=torch.float64) * 0.1 * 10
        positions = [
            torch.floor(n * (100 / 30)),
            n * 0.1 * 10,
            n / 10 * 10,
            torch.linspace(0, 99, 34),
            n * 1.1,
            (n / 7).ceil(),
            halves,
        ]
        return [x[p.long()] for p in positions]

    compare(chosen, torch.arange(100.0))


def test_conditions():
    def chosen(x):
        t = torch.arange(40) * 0.1
        u = torch.linspace(0, 1, 40)
        conditions = [
            t >= 0.7,
            (t * 10) % 1 == 0,
            torch.round(t * 5) > 2,
            u == torch.arange(40) / 39,
            (t / 0.3) == torch.trunc(t / 0.3),
        ]
        quotients = [
            t // 0.1,
            torch.div(t, 0.3, rounding_mode="trunc"),
            torch.fmod(t, 0.3),
            t % 0.1,
            torch.sign(t * 3 - 0.3 * 3),
        ]
        return [torch.where(c, x, -x) for c in conditions] + [torch.floor(q * 1.5) + x * 0 for q in quotients]

    compare(chosen, torch.arange(1.0, 41))


def test_bands():
    def banded(x):
        t = torch.linspace(0, 1, 101)
        edges = torch.linspace(0, 1, 11)
        band = (t[:, None] >= edges[None, :-1]) & (t[:, None] < edges[None, 1:])
        wave = torch.where((t * 10).floor() % 2 == 0, 1.0, -1.0)
        return (
            x * wave,
            (x[:, None] * band).sum(0),
            torch.bucketize(t, edges),
            torch.bucketize(t, edges, right=True),
            torch.bucketize(x, edges),
        )

    compare(banded, torch.rand(101))


def test_positions_by_way_of_tensors():
    def chosen(x):
        n = torch.arange(300)
        both = torch.cat([n * 0.7 * 10, n * 0.01 * 100])
        pairs = torch.stack([n * 0.7, n * 0.01], 1)
        return [x[p.long()] for p in (both, both / 7 * 0.7, pairs * 10, pairs * 30 * 0.1)]

    compare(chosen, torch.arange(10000.0))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_positions_in_sixteen_bits(dtype):
    compare(lambda x: [x[(torch.arange(50, dtype=dtype) * f).long()] for f in (0.1, 0.7, 1.9)], torch.arange(100.0))


def bucket(distance):
    """T5's: near distances one by one, far ones by their logarithm, which is -inf at 0 and not used there."""
    near = distance.abs()
    far = 8 + (torch.log(near.float() / 8) / math.log(16) * 8).to(torch.long)
    far = torch.min(far, torch.full_like(far, 15))
    return (distance > 0).to(torch.long) * 16 + torch.where(near < 8, near, far)


def test_buckets_of_relative_positions():
    def biased(x, w):
        p = torch.arange(x.shape[1])
        return F.embedding(bucket(p[None] - p[:, None]), w)

    compare(biased, torch.randn(1, 300), torch.randn(32, 2))


def test_buckets_of_given_positions():
    def biased(p, w):
        return F.embedding(bucket(p[None] - p[:, None]), w)

    compare(biased, torch.randint(0, 500, (40,)), torch.randn(32, 2))


def test_forms_of_forms_end():
    def searched(x):
        low, edges = torch.zeros(50, dtype=torch.long), torch.linspace(0, 1, 33)
        t = torch.linspace(0, 1, 50)
        for step in (16, 8, 4, 2, 1):
            low = torch.where(edges[low + step] <= t, low + step, low)
        return x * low

    program = compare(searched, torch.rand(50))["text"]
    assert max(len(line) for line in program.splitlines()) < 4000
