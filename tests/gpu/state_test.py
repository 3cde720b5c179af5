"""A module that writes its buffers: the drop-in found by `solstice.optimize` writes them as the original does."""

import copy
import warnings

import pytest

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """The original, and a drop-in for a copy of it, in train mode on the GPU."""
    import solstice
    from solstice.errors import OracleError
    from solstice.launch import find_program

    try:
        find_program()
    except OracleError as error:
        pytest.skip(f"{error.message}: modules with state were not optimised")
    torch.manual_seed(0)
    original = torch.nn.Sequential(
        torch.nn.Linear(2048, 2048), torch.nn.BatchNorm1d(2048, momentum=0.3), torch.nn.ReLU()
    ).cuda()
    mine = copy.deepcopy(original)
    out = tmp_path_factory.mktemp("run")
    new = solstice.optimize(mine, torch.randn(4096, 2048, device="cuda"), budget="20s,6trials", out=out)
    if not new.solstice.faster:
        pytest.skip(f"nothing was faster; {out}/report.md says why")
    return original, new


def states(module):
    return {name: tensor.clone() for name, tensor in module.named_buffers()}


def assert_same_state(new, original):
    theirs = states(original)
    for name, mine in states(new).items():
        wanted = theirs[name]
        if wanted.is_floating_point():
            torch.testing.assert_close(mine, wanted, rtol=2e-5, atol=1e-6)
        else:
            assert torch.equal(mine, wanted), name


def test_state_follows_the_original(pair):
    original, new = pair
    assert_same_state(new, original)  # the search left no mark
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error")
        for step in range(1, 4):
            x = torch.randn(4096, 2048, device="cuda") * step + step
            torch.testing.assert_close(new(x), original(x), rtol=1e-3, atol=1e-3)
            assert new[1].num_batches_tracked == step
            assert_same_state(new, original)
    assert new.solstice_fallbacks() == []


def test_state_stays_in_eval(pair):
    original, new = pair
    x = torch.randn(4096, 2048, device="cuda")
    before = states(new)
    original.eval(), new.eval()
    try:
        with torch.no_grad(), pytest.warns(UserWarning):
            torch.testing.assert_close(new(x), original(x), rtol=1e-4, atol=1e-5)
    finally:
        original.train(), new.train()
    for name, tensor in states(new).items():
        assert torch.equal(tensor, before[name]), name
    with torch.no_grad():
        torch.testing.assert_close(new(x), original(x), rtol=1e-3, atol=1e-3)
    assert_same_state(new, original)
