"""The writing tasks (tools/writing_tasks) can be solved: tests/writing answers each, and the checker refuses
other answers."""

import pathlib

import pytest

pytest.importorskip("torch")

ROOT = pathlib.Path(__file__).parents[2]

import check_writing  # noqa: E402
from writing_tasks import TASKS  # noqa: E402

ANSWERS = ROOT / "tests" / "writing"


@pytest.fixture(scope="module")
def checker():
    build = ROOT / "build"
    if not (build / "tests" / "interpret_check").exists() or not (build / "bin" / "solstice").exists():
        pytest.skip("not built: `./x build`")
    checker = check_writing.Checker(build)
    yield checker
    checker.close()


def answer(task):
    return (ANSWERS / f"{task.stem}.ucut").read_text()


def named(name):
    return next(task for task in TASKS if task.name == name)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_has_an_answer(task, checker):
    assert checker.complaints(task, answer(task)) == []


@pytest.mark.parametrize("task", [task for task in TASKS if task.broken], ids=lambda task: task.name)
def test_what_is_to_repair_is_broken(task, checker):
    assert checker.diagnostics(task.broken)[0]


@pytest.mark.parametrize(
    "name, old, new, said",
    [
        ("focal_loss", "**2", "**3", "`loss` differs from the reference"),
        ("focal_loss", "program focal_loss", "program focus", "should be named"),
        ("focal_loss", "input x : f32[M, C]\ninput t : i64[M]", "input t : i64[M]\ninput x : f32[M, C]", "order x, t"),
        ("focal_loss", "x[m,t[m]]", "x[m,u[m]]", "error[E008]"),
        ("bottleneck", "0.9*rm2", "0.8*rm2", "`rm2` differs"),
        ("bottleneck", "conv1.weight", "conv.weight", "the interface lacks"),
        ("norm_linear", " order(1, 0)", "", "should have strides"),
        ("norm_linear", "threads=128, ", "", "the knobs of `norm`"),
        ("frozen_pack", "allow frozen", "", "allow frozen"),
        ("tied_space", "kernel peak", "kernel top", "the kernels should be bmm, peak"),
        ("rnn_two_layers", " with loop(ctas=16)", "", "`ctas` of `loop`"),
    ],
)
def test_refuses(name, old, new, said, checker):
    task = named(name)
    assert old in answer(task)
    assert said in "\n".join(checker.complaints(task, answer(task).replace(old, new)))


def test_the_next_prompt_shows_what_was_wrong(tmp_path, checker):
    task = named("focal_loss")
    (tmp_path / f"{task.stem}.ucut").write_text("```\n" + answer(task).replace("**2", "**3") + "```\n")
    check_writing.write_prompts(checker, tmp_path / "next", tmp_path, [task])
    text = (tmp_path / "next" / f"{task.stem}.txt").read_text()
    assert "**3" in text and "differs from the reference" in text and text.startswith("# μCUTLASS")
