"""Shape functions of ATen operators while tracing, where PyTorch's own are slow or wrong.

PyTorch finds the result shapes of `aten.lstm.input` and its kin by running their decomposition:
every time step of every layer. A 6-layer LSTM over 512 steps then takes minutes to export; with the
shapes stated directly, a fraction of a second. `multilabel_margin_loss` of one row without a reduction
is a number; PyTorch's shape function says a list of one. Both tables must be replaced: `py_kernels`
serves the export, `decomposition_table` the retrace of `run_decompositions`.
"""

from __future__ import annotations

import contextlib
from typing import Any, Iterator

import torch
from torch._C import DispatchKey
from torch._decomp import decomposition_table

aten = torch.ops.aten


def _sequence(x: Any, state: Any, bidirectional: bool, batch_first: bool) -> Any:
    time_axis, batch_axis = (1, 0) if batch_first else (0, 1)
    width = state.shape[-1] * (2 if bidirectional else 1)
    # Time outermost in memory: eager returns a transposed view when batch_first is set.
    y = x.new_empty((x.shape[time_axis], x.shape[batch_axis], width))
    return y.transpose(0, 1) if batch_first else y


def _lstm(x, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    return _sequence(x, hx[0], bidirectional, batch_first), torch.empty_like(hx[0]), torch.empty_like(hx[1])


def _single_state(x, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    return _sequence(x, hx, bidirectional, batch_first), torch.empty_like(hx)


def _multilabel_margin(x, target, reduction=1):
    return x.new_empty(x.shape[:-1] if reduction == 0 else ())


_RECURRENT = (
    (aten.lstm.input, _lstm),
    (aten.gru.input, _single_state),
    (aten.rnn_tanh.input, _single_state),
    (aten.rnn_relu.input, _single_state),
)
_SHAPE_FUNCTIONS = (*_RECURRENT, (aten.multilabel_margin_loss.default, _multilabel_margin))
SHAPES_OF_FUNCTIONS = {
    torch.lstm: _lstm,
    torch.gru: _single_state,
    torch.rnn_tanh: _single_state,
    torch.rnn_relu: _single_state,
}
RECURRENT = frozenset(str(op) for op, _ in _RECURRENT)


def _install(op: Any, function: Any) -> None:
    for key in list(op.py_kernels):
        op.py_kernels[key] = function
    op.py_kernels.setdefault(DispatchKey.CompositeImplicitAutograd, function)
    op._dispatch_cache.clear()
    decomposition_table[op] = function


def _restore(op: Any, kernels: dict, decomposition: Any) -> None:
    op.py_kernels.clear()
    op.py_kernels.update(kernels)
    op._dispatch_cache.clear()
    if decomposition is None:
        decomposition_table.pop(op, None)
    else:
        decomposition_table[op] = decomposition


@contextlib.contextmanager
def stated_shapes() -> Iterator[None]:
    saved = [(op, dict(op.py_kernels), decomposition_table.get(op)) for op, _ in _SHAPE_FUNCTIONS]
    try:
        for op, function in _SHAPE_FUNCTIONS:
            _install(op, function)
        yield
    finally:
        for op, kernels, decomposition in saved:
            _restore(op, kernels, decomposition)
