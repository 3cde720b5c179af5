"""Partial results: a module is cut where nothing of ours can run (docs/partial.md).

The graph of the module's own calls (own_graph.py) is divided into calls that stay PyTorch's and stages (cut.py). Each
stage is a module of its own (stages.py), which everything else treats as any other problem. A schedule (schedule.py)
puts stages and calls together again in the drop-in.
"""
