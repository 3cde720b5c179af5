"""`sampling` and `reflexion`: where they go on from, with faults, replayed into the same tree."""

import pytest

from faulty_model import FaultyModel
from test_agents import PROGRAM, answer, asking, optimize, replaying, softmax, tree_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not built: `./x build`"),
    pytest.mark.usefixtures("warm_python"),
]


def says(controller, reason, program, **more):
    reflection = {"reflection": f"what came before {reason}"} if controller == "reflexion" else {}
    return answer(controller, reason, program, **more) | reflection


def script_of(controller):
    twice = softmax("threads=32", "2*x[b,n] - max[n](x[b,n])")
    return [
        "429",
        says(controller, "first", softmax("threads=64")),
        "malformed",
        says(controller, "second", softmax("threads=128")),
        says(controller, "tried before", softmax("threads=128")),
        says(controller, "third", softmax("threads=256")),
        *[says(controller, f"of other meaning, {i}", twice.replace("32", str(32 * i))) for i in (3, 5, 7, 9)],
        "empty",
        "no JSON at all",
        "nor this",
        says(controller, "fifth", softmax("threads=512")),
        says(controller, "enough", "", nothing_left="anywhere"),
    ]


@pytest.fixture(scope="module", params=("sampling", "reflexion"))
def session(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    with FaultyModel(script_of(request.param)) as model:
        report = optimize(folder, "first", *asking(request.param, model), "--transcript", folder / "session.jsonl")
        assert len(model.asked) == len(model.script)
        asked = ["\n".join(m["content"] for m in each["messages"][1:]) for each in model.asked]
    return request.param, folder, report, tree_of(folder, "first"), asked


def test_where_each_goes_on_from(session):
    controller, _, report, tree, asked = session
    assert [node["origin"] for node in tree] == ["expert"] + ["gpt-5-mini"] * 5
    assert [node["repairs"] or 0 for node in tree[1:]] == [0, 0, 1, 3, 2]
    parents = [node["parent"] or 0 for node in tree[1:]]
    assert parents == ([0] * 5 if controller == "sampling" else [0, 2, 3, 4, 5])
    assert report["agent"]["nothing_left"] == 1
    first, last = asked[1], asked[-1]
    if controller == "sampling":
        assert first == last, "no history"
    else:
        assert "# Go on from attempt 6" in last and "- before attempt 4: what came before third" in last
        assert "before attempt 2" not in last, "three reflections"


def test_replayed_without_network_it_is_the_same_tree(session):
    controller, folder, report, tree, _ = session
    again = optimize(folder, "again", *replaying(controller, folder / "session.jsonl"))
    assert tree_of(folder, "again") == tree
    assert again["agent"]["account"] == report["agent"]["account"]
