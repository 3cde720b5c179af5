"""Cases of tools/check_import.py for losses: see import_cases.py."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from import_reductions import with_infinities

R = torch.randn


def loss_cases() -> dict[str, tuple]:
    t = torch.tensor([1, 0, -100, 3])
    p, q = torch.rand(4, 5), torch.rand(4, 5)
    return (
        {
            "cross_entropy": (lambda x: F.cross_entropy(x, t), [R(4, 5)]),
            "cross_entropy_input": (F.cross_entropy, [R(4, 5), torch.tensor([1, 0, 2, 3])]),
            "cross_entropy_inf": (
                lambda x: F.cross_entropy(x, t.abs() % 5, reduction="none"),
                [with_infinities(R(4, 5))],
            ),
            "cross_entropy_sum": (lambda x: F.cross_entropy(x, t, reduction="sum"), [R(4, 5)]),
            "cross_entropy_none": (lambda x: F.cross_entropy(x, t.abs() % 5, reduction="none"), [R(4, 5)]),
            "cross_entropy_2d": (F.cross_entropy, [R(2, 5, 3), torch.tensor([[1, 0, 2], [3, 4, 4]])]),
            **diagonal_loss_cases(),
            "mse": (F.mse_loss, [R(4, 5), R(4, 5)]),
            "l1": (F.l1_loss, [R(4, 5), R(4, 5)]),
            "smooth_l1": (lambda a, b: F.smooth_l1_loss(a, b, beta=0.5), [R(4, 5), R(4, 5)]),
            "huber": (lambda a, b: F.huber_loss(a, b, delta=0.5), [R(4, 5), R(4, 5)]),
            "kl_div": (lambda a, b: F.kl_div(a.log(), b, reduction="batchmean"), [p, q]),
            "bce": (F.binary_cross_entropy, [p, q]),
            "bce_logits": (F.binary_cross_entropy_with_logits, [R(4, 5), q]),
            "hinge_embedding": (lambda x: F.hinge_embedding_loss(x, torch.tensor([1.0, -1, 1, -1])), [R(4)]),
            "cosine": (lambda a, b: F.cosine_similarity(a, b, dim=1), [R(4, 5), R(4, 5)]),
            "triplet": (F.triplet_margin_loss, [R(4, 5), R(4, 5), R(4, 5)]),
            "triplet_swap": (
                lambda a, b, c: F.triplet_margin_loss(a, b, c, p=3, swap=True, reduction="none"),
                [R(4, 5), R(4, 5), R(4, 5)],
            ),
        }
        | class_loss_cases()
        | pair_loss_cases()
    )


def diagonal_loss_cases() -> dict[str, tuple]:
    """The class of a row is its number, and there are more classes than rows."""
    t, w = torch.arange(4), torch.rand(11)
    return {
        "diagonal_entropy": (lambda x: F.cross_entropy(x, t), [R(4, 11)]),
        "diagonal_entropy_weight": (lambda x: F.cross_entropy(x, t, weight=w), [R(4, 11)]),
        "diagonal_entropy_smoothing": (
            lambda x: F.cross_entropy(x, t, label_smoothing=0.1, reduction="none"),
            [R(4, 11)],
        ),
        "diagonal_entropy_2d": (lambda x: F.cross_entropy(x, t.expand(2, 4)), [R(2, 11, 4)]),
        "diagonal_nll": (lambda x: F.nll_loss(x, t, reduction="none"), [R(4, 11)]),
        "diagonal_margin": (lambda x: F.multi_margin_loss(x, t), [R(4, 11)]),
        "diagonal_contrast": (lambda q, k: F.cross_entropy(q @ k.T / 0.07, t), [R(4, 8), R(11, 8)]),
    }


def class_loss_cases() -> dict[str, tuple]:
    t = torch.tensor([1, 0, -100, 3])
    w, p = torch.rand(5), torch.rand(4, 5)
    maps = torch.tensor([[1, 0, 2], [3, -100, 4]])
    entropy, nll = F.cross_entropy, F.nll_loss
    return {
        "cross_entropy_weight": (lambda x: entropy(x, t, weight=w), [R(4, 5)]),
        "cross_entropy_smoothing": (lambda x: entropy(x, t, label_smoothing=0.2), [R(4, 5)]),
        "cross_entropy_both": (
            lambda x, v: entropy(x, maps, weight=v, label_smoothing=0.2, reduction="none"),
            [R(2, 5, 3), w],
        ),
        "cross_entropy_probabilities": (entropy, [R(4, 5), p]),
        "cross_entropy_probabilities_all": (lambda x: entropy(x, p, weight=w, label_smoothing=0.2), [R(4, 5)]),
        "cross_entropy_one_row": (lambda x: entropy(x, torch.tensor(2)), [R(5)]),
        "nll": (lambda x: nll(x, t), [R(4, 5)]),
        "nll_weight": (lambda x, v: nll(x, maps, weight=v), [R(2, 5, 3), w]),
        "nll_ignored": (lambda x: nll(x, t.abs() % 5, ignore_index=3, reduction="sum"), [R(4, 5)]),
        "multilabel_margin": (F.multilabel_margin_loss, [R(2, 5), torch.tensor([[3, 0, -1, 1, 2], [4, -1, 0, 0, 0]])]),
    }


def pair_loss_cases() -> dict[str, tuple]:
    signs = torch.tensor([1.0, -1, 1, -1])
    q = torch.rand(4, 5)
    logits = F.binary_cross_entropy_with_logits
    return {
        "bce_weight": (F.binary_cross_entropy, [torch.rand(4, 5), q, torch.rand(5)]),
        "bce_logits_weights": (
            lambda x, v: logits(x, q, weight=v, pos_weight=torch.tensor([1.0, 2, 3, 4, 5])),
            [R(4, 5), torch.rand(4, 1)],
        ),
        "poisson_nll": (F.poisson_nll_loss, [R(4, 5), q]),
        "poisson_nll_full": (
            lambda x, t: F.poisson_nll_loss(x, t, log_input=False, full=True),
            [torch.rand(4, 5), 3 * q],
        ),
        "soft_margin": (lambda x: F.soft_margin_loss(x, signs[:, None].expand(4, 5)), [R(4, 5)]),
        "margin_ranking": (lambda a, b: F.margin_ranking_loss(a, b, signs, margin=0.3), [R(4), R(4)]),
        "cosine_embedding": (lambda a, b: F.cosine_embedding_loss(a, b, signs, margin=0.1), [R(4, 5), R(4, 5)]),
        "pairwise_distance": (lambda a, b: F.pairwise_distance(a, b, p=1.5, keepdim=True), [R(4, 5), R(4, 5)]),
        "cdist": (lambda a, b: torch.cdist(a, b, p=1.0), [R(2, 4, 5), R(2, 3, 5)]),
        "norm_3": (lambda x: x.norm(p=3, dim=1), [R(2, 5, 4)]),
    }
