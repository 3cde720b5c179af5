"""The trusted side that owns PyTorch: inputs, expected values, reference times."""
