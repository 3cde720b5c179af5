"""Host time of a call, for the tests that bound it."""

import time

import torch


def host_overhead(call, reps):
    """Seconds that one call keeps the host busy: many in a row, GPU time excluded by not waiting."""
    for _ in range(min(reps, 20)):
        call()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(reps):
        call()
    elapsed = time.perf_counter() - start
    torch.cuda.synchronize()
    return elapsed / reps
