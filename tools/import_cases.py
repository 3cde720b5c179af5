"""Small modules for tools/check_import.py: one case an operator or variant, in float64, extents small and distinct.

A case is `name: (function or module, arguments)`; functions take the arguments and run inside a module. Each group has
a file of its own.
"""

from __future__ import annotations

from typing import Any

from import_elementwise import binary_cases, unary_cases
from import_field import field_cases
from import_index import index_cases
from import_less_common import less_common_cases
from import_loops import loop_cases
from import_losses import loss_cases
from import_moves import move_cases
from import_numbers import number_cases
from import_order import order_cases
from import_products import contraction_cases, conv_cases
from import_rare import rare_cases
from import_recurrences import recurrence_cases
from import_reductions import norm_cases, reduce_cases, window_cases
from import_repeats import repeated_cases
from import_sequences import sequence_cases


def all_cases() -> dict[str, tuple[Any, list]]:
    groups = (
        unary_cases,
        binary_cases,
        contraction_cases,
        conv_cases,
        norm_cases,
        reduce_cases,
        window_cases,
        move_cases,
        loss_cases,
        sequence_cases,
        recurrence_cases,
        repeated_cases,
        loop_cases,
        index_cases,
        less_common_cases,
        number_cases,
        rare_cases,
        order_cases,
        field_cases,
    )
    return {name: case for group in groups for name, case in group().items()}
