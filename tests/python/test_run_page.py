"""The page of `solstice show --html`, in a real headless Chromium. Screenshots to look at go to build/run_page/."""

import json
import os
import pathlib
import subprocess

import pytest

from browser import Browser, find_chromium

BUILD = pathlib.Path(__file__).parents[2] / "build"
PROGRAM, MAKE_RUNS = BUILD / "bin" / "solstice", BUILD / "tests" / "make_runs"
CHROMIUM = find_chromium()
RUNS = ("mixed", "evil", "large", "deep", "bare", "partly")

pytestmark = [
    pytest.mark.skipif(
        CHROMIUM is None and os.environ.get("CI") != "true",
        reason="no Chromium: install one (apt install chromium) or name it in SOLSTICE_CHROMIUM",
    ),
    pytest.mark.skipif(
        not (PROGRAM.exists() and MAKE_RUNS.exists()), reason=f"{PROGRAM} or {MAKE_RUNS} is not built: `./x build`"
    ),
]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Made-up runs as pages, by name."""
    folder = tmp_path_factory.mktemp("pages")
    made = subprocess.run([MAKE_RUNS, folder], check=True, capture_output=True, text=True).stdout
    out = {}
    for name, run in (line.split() for line in made.splitlines()):
        out[name] = folder / f"{name}.html"
        subprocess.run([PROGRAM, "show", run, "--store", folder, "--html", out[name]], check=True, capture_output=True)
    return out


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    assert CHROMIUM, "CI has no Chromium: `./x test` installs one where it may"
    with Browser(CHROMIUM, tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def browser(started):
    """Says at the end that the page had nothing to complain about and asked nobody for anything."""
    started.problems.clear()
    started.requests.clear()
    yield started
    assert started.problems == []
    assert [url for url in started.requests if not url.startswith("file://")] == []


def shown(browser):
    """Number of the chosen node, by the panel's heading and by the tree."""
    heading = browser.value("document.querySelector('#node h2').textContent")
    chosen = browser.value("[...document.querySelectorAll('.item.chosen')].map((e) => e.id)")
    assert len(chosen) == 1
    number = int(chosen[0].removeprefix("item-"))
    assert heading.startswith("The original" if number == 0 else f"Trial {number}:")
    assert browser.value("document.querySelector('#tree svg').getAttribute('aria-activedescendant')") == chosen[0]
    return number


def text(browser, selector):
    return browser.value(f"document.querySelector({json.dumps(selector)}).textContent")


def test_a_click_shows_program_and_changes(browser, pages):
    browser.open(pages["mixed"])
    assert shown(browser) == 6, "the best is chosen first"
    browser.click("#item-5")
    assert shown(browser) == 5
    assert "kernel up by gemm(split=3) {" in text(browser, "#program")
    assert text(browser, ".diff .plus") == "+ kernel up by gemm(split=3) {"
    assert text(browser, ".diff .minus") == "- kernel up by gemm(tile=128x128x64) {"
    assert text(browser, ".why") == "y: normwise 4.2e-2, limit 3.1e-6"
    browser.click("#item-6")
    assert browser.value("document.querySelectorAll('#node .sample').length") == 8 + 32
    assert "1.05 ms, measured 960 us: 0.91 times as long" in text(browser, "#node")
    assert "Verdict: passed" in text(browser, "#node")


def test_the_keyboard_walks_the_tree(browser, pages):
    browser.open(pages["mixed"])
    browser.value("document.querySelector('#tree svg').focus()")
    walk = [
        ("Home", 0),
        ("ArrowRight", 1),
        ("ArrowRight", 2),
        ("ArrowDown", 5),
        ("ArrowDown", 6),
        ("ArrowLeft", 2),
        ("ArrowUp", 1),
    ]
    for key, number in [*walk, ("ArrowLeft", 0), ("ArrowLeft", 0), ("ArrowUp", 0), ("End", 9), ("b", 6)]:
        browser.press(key)
        assert shown(browser) == number, key


def test_everything_that_can_become_of_a_trial_is_told(browser, pages):
    browser.open(pages["mixed"])
    labels = dict(
        browser.value("[...document.querySelectorAll('.item')].map((e) => [e.id, e.getAttribute('aria-label')])")
    )
    assert labels["item-1"].startswith("Trial 1, 1.25 ms, 3.36x, second measurement unfinished, ")
    assert labels["item-4"].startswith("Trial 4, not compiled, ")
    assert labels["item-9"].startswith("Trial 9, 3.1 ms, 1.35x, spent, rewritten")
    assert labels["item-10"].startswith("Trial 10, lost, ")
    assert labels["item-12"].startswith("Trial 12, 1.3 ms, 3.23x, second measurement lost, ")
    assert labels["item-13"].startswith("Trial 13, unfinished, ")
    browser.click("#item-11")
    assert "verified, late" in text(browser, "#node")


def test_the_ladder_is_drawn_where_it_is_known(browser, pages):
    names = "[...document.querySelectorAll('#best .name')].map((e) => e.textContent)"
    browser.open(pages["deep"])
    assert browser.value(names) == [
        "original 4.2 ms",
        "practical bound 810 us",
        "work bound 600 us",
        "\u2193 io bound 210 us",
    ]
    assert browser.value("document.querySelectorAll('#missing li').length") == 0


def test_findings_of_a_trial_are_shown_as_a_profile_has_them(browser, pages):
    browser.open(pages["mixed"])
    browser.click("#item-6")
    items = browser.value("[...document.querySelectorAll('#node .finding')].map((e) => e.textContent)")
    assert len(items) == 2 and "few stages" in items[0]
    assert "at most 1.30x of the whole" in items[0] and "at most" not in items[1]
    assert "few stages (few stages: stages=4)" in items[0] and "240 k few stages" in items[0]
    browser.click("#item-2")
    said = browser.value("[...document.querySelectorAll('#node .why')].map((e) => e.textContent)")
    assert said == ["the findings cannot be read: schema is ``; this program reads `solstice.finding/1`"]


def test_what_is_not_known_is_said(browser, pages):
    browser.open(pages["bare"])
    missing = browser.value("[...document.querySelectorAll('#missing li')].map((e) => e.textContent)")
    assert missing[0].startswith("The time of the original is not known") and missing[1].startswith(
        "The bounds are not in this run"
    )
    assert text(browser, "#best") == "No trial had a result that can be used."
    assert shown(browser) == 0


def test_a_prediction_is_no_rival_of_what_was_measured(browser, pages):
    browser.open(pages["partly"])
    missing = browser.value("[...document.querySelectorAll('#missing li')].map((e) => e.textContent)")
    assert missing == ["Times of 2 of 4 trials are a cost model's: they are no rivals of those that were measured."]
    assert browser.value("results.map((result) => result.best)") == [0.0007, 0.0007, 0.0013, 0.0012]
    assert browser.value("best.node") == 4
    assert shown(browser) == 4
    assert browser.value("nodes.map((node) => node.factor !== null)") == [True, False, False, True, True]


def test_evil_text_is_inert(browser, pages):
    browser.open(pages["evil"])
    for number in range(10):
        browser.click(f"#item-{number}")
        assert shown(browser) == number
    assert browser.value("window.broken === undefined")
    assert browser.value("document.querySelectorAll('img, b, i, iframe, a').length") == 0
    assert browser.value("document.scripts.length") == 2
    assert text(browser, "#title") == "</title><script>window.broken = 5</script>"
    browser.click("#item-1")
    assert "# </script><script>window.broken = 1</script>" in text(browser, "#program")
    browser.click("#item-4")
    assert "${window.broken = 3} {{data}} {{script}} \\u003c" in text(browser, "#program")


def test_the_policy_stops_what_would_slip_through(started, pages):
    """Were a run's text taken for markup after all, it would not run."""
    started.open(pages["evil"])
    started.value(
        "document.body.insertAdjacentHTML('beforeend', '<img src=\"https://localhost/x\" onerror=\"window.broken = "
        "6\">')"
    )
    started.value(
        "(() => { const s = document.createElement('script'); s.textContent = 'window.broken = 7'; "
        "document.body.append(s); })()"
    )
    assert started.value("window.broken === undefined")
    assert any("Content Security Policy" in problem for problem in started.problems)


def test_many_trials_stay_quick(browser, pages):
    browser.open(pages["large"])
    assert browser.value("document.querySelectorAll('.item').length") == 501
    took = browser.value(
        "(() => { const t = performance.now(); for (let i = 1; i <= 100; ++i) choose(nodes[i]); return "
        "performance.now() - t; })()"
    )
    assert took < 5000
    browser.value("document.querySelector('#tree svg').focus()")
    browser.press("End")
    visible = (
        "(() => { const f = document.getElementById('tree').getBoundingClientRect(), r = "
        "document.querySelector('.chosen .row').getBoundingClientRect();"
    )
    assert browser.value(visible + " return r.top >= f.top && r.bottom <= f.bottom; })()")


@pytest.mark.parametrize("name", RUNS)
def test_it_fits_a_telephone(browser, pages, name):
    browser.open(pages[name], width=390, height=844)
    assert browser.value("document.documentElement.scrollWidth") == 390
    browser.value("for (const d of document.querySelectorAll('details')) d.open = true")
    assert browser.value("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize("name", RUNS)
def test_screenshots(browser, pages, name):
    folder = BUILD / "run_page"
    folder.mkdir(exist_ok=True)
    browser.open(pages[name], height=1250)
    colours = set()
    for scheme in ("light", "dark"):
        browser.look(1360, 1250, scheme)
        colours.add(browser.value("getComputedStyle(document.body).backgroundColor"))
        browser.screenshot(folder / f"{name}-{scheme}.png", whole=False)
    assert len(colours) == 2
    browser.open(pages[name], width=390, height=844)
    browser.screenshot(folder / f"{name}-telephone.png")
