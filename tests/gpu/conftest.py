"""GPU tests skip aloud where there is no GPU, no compiler for it, or no built runtime library."""

import pathlib
import shutil
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
pytest.register_assert_rewrite("scaled_relu")  # imported by the fixtures only: it loads PyTorch


@pytest.fixture(scope="session", autouse=True)
def gpu():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no usable GPU: the GPU tests did not run")
    return torch.device("cuda", torch.cuda.current_device())


@pytest.fixture(scope="session")
def program():
    """The path of `solstice`."""
    from solstice.errors import OracleError
    from solstice.launch import find_program

    try:
        return find_program()
    except OracleError as error:
        pytest.skip(f"{error.message}: its tests did not run")


@pytest.fixture(scope="session")
def nvcc():
    found = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if found is None:
        pytest.skip("no nvcc: tests that need a kernel of their own did not run")
    return found


@pytest.fixture(scope="session")
def rt_library():
    import os

    explicit = os.environ.get("SOLSTICE_RT_LIBRARY")
    found = (
        [pathlib.Path(explicit)]
        if explicit
        else sorted(ROOT.glob("lib/libsolstice_rt.so")) + sorted(ROOT.glob("build/lib/libsolstice_rt.so"))
    )
    if not found:
        pytest.skip("libsolstice_rt.so is not built: the drop-in tests did not run (SOLSTICE_RT_LIBRARY names it)")
    return found[0]


@pytest.fixture(scope="module")
def cubin(nvcc, tmp_path_factory):
    import scaled_relu

    return scaled_relu.compile_kernel(nvcc, tmp_path_factory.mktemp("kernel"))


@pytest.fixture(params=["live", "frozen"])
def folder(request, tmp_path, cubin, rt_library):
    """An outcome folder with a kernel made by hand."""
    import scaled_relu

    scaled_relu.write_outcome(tmp_path, request.param, cubin, rt_library)
    return tmp_path


@pytest.fixture
def pair(folder):
    """The original and the drop-in of `folder`, on the GPU, with a fresh input."""
    import scaled_relu
    import torch

    scope = scaled_relu.load(folder)
    with torch.no_grad():
        yield scope["Model"](2.0).cuda(), scope["ModelNew"](2.0).cuda(), torch.randn(scaled_relu.SHAPE, device="cuda")
