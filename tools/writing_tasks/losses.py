"""Losses and clustering."""

import torch
import torch.nn.functional as F

from . import given, integers, output, task
from .demands import problem


def labels(generator, shape):
    out = torch.randint(0, 6, shape, generator=generator)
    out[1] = -100
    return out


@task(given("x", 7, 6), given("t", 7, dtype="i64", make=labels), output("loss"), demands=[problem])
def label_smoothing(x, t):
    """
    Cross entropy with label smoothing 0.1 over 6 classes: for a row m with log probabilities l (log softmax of x over
    the classes) the loss is 0.9 * (-l[t[m]]) + 0.1 * (-mean of l over all classes). Rows with t[m] == -100 are ignored:
    the result is the mean over the other rows. Equations only.
    """
    return {"loss": F.cross_entropy(x, t, label_smoothing=0.1)}


@task(given("x", 6, 5), given("t", 6, dtype="i64", make=integers(0, 5)), output("loss"), demands=[problem])
def focal_loss(x, t):
    """
    Multi-class focal loss with gamma 2: for a row m with p = softmax(x) at the class t[m], the loss is -(1 - p)^2 *
    log(p); the result is the mean over the rows. Take log(p) as a log softmax (x minus logsumexp), not as the logarithm
    of p. Equations only.
    """
    l = F.log_softmax(x, -1).gather(1, t[:, None])[:, 0]
    return {"loss": (-((1 - l.exp()) ** 2) * l).mean()}


@task(given("a", 5, 4), given("c", 5, 4), output("loss"), demands=[problem])
def contrastive(a, c):
    """
    The symmetric contrastive loss of CLIP. a and c are 5 embeddings of 4 dims; normalise each row by its L2 norm (rows
    are not 0). s[i, j] = 20 * dot(a_i, c_j). The loss is the mean of two cross entropies with targets on the diagonal:
    one of the rows of s (softmax over j), one of its columns (softmax over i), each averaged over 5. Equations only.
    """
    s = 20 * F.normalize(a) @ F.normalize(c).T
    t = torch.arange(5)
    return {"loss": (F.cross_entropy(s, t) + F.cross_entropy(s.T, t)) / 2}


def far(generator, shape):
    """Centroids of which the last attracts nothing."""
    out = torch.randn(shape, generator=generator, dtype=torch.float64)
    out[-1] += 100
    return out


@task(
    given("x", 12, 3),
    given("c", 4, 3, make=far),
    output("id", 12, dtype="i64"),
    output("cn", 4, 3),
    output("inertia"),
    demands=[problem],
)
def kmeans_step(x, c):
    """
    One step of k-means over 12 points x and 4 centroids c of 3 dims. id[n] is the centroid with the smallest squared
    Euclidean distance to point n. cn[k] is the mean of the points with id k; a centroid without points keeps its old
    value. inertia is the sum over the points of the squared distance to their (old) centroid. Equations only.
    """
    d = ((x[:, None] - c[None]) ** 2).sum(-1)
    index = d.argmin(1)
    cn = torch.stack([x[index == k].mean(0) if (index == k).any() else c[k] for k in range(4)])
    return {"id": index, "cn": cn, "inertia": d.amin(1).sum()}
