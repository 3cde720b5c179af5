"""The page of `solstice profile --html`, in a real headless Chromium. Screenshots to look at go to build/profile_page/.

Facts are data: `profiles/everything.json` is written by hand and has every part that facts can have; a module that no
GPU ran has few; a product's were recorded on an H200; those of 500 kernels are of another version and another GPU."""

import copy
import json
import os
import subprocess
import sys

import pytest
from browser import Browser, find_chromium
from conftest import ROOT
from real_program import PROGRAM, needs_program

CHROMIUM = find_chromium()
EVERYTHING = ROOT / "tests/python/profiles/everything.json"
RECORDED = ROOT / "tests/sick/facts"
NAMES = ("everything", "nothing_ran", "evil", "bare", "recorded", "many")

pytestmark = [
    needs_program,
    pytest.mark.skipif(
        CHROMIUM is None and os.environ.get("CI") != "true",
        reason="no Chromium: install one (apt install chromium) or name it in SOLSTICE_CHROMIUM",
    ),
]


def profile(*arguments):
    env = dict(os.environ, SOLSTICE_PYTHON=sys.executable)
    done = subprocess.run(
        [PROGRAM, "profile", *map(str, arguments)], check=False, capture_output=True, text=True, env=env
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def evil(facts):
    """The same facts whose texts look like a page."""
    attack = "</script><script>window.broken = 1</script><img src=x onerror='window.broken = 2'>{{data}}"

    def spoil(value):
        if isinstance(value, dict):
            return {key: spoil(each) for key, each in value.items()}
        if isinstance(value, list):
            return [spoil(each) for each in value]
        return value

    out = spoil(copy.deepcopy(facts))
    out["device"] = out["version"] = attack
    out["program"] = f"program {attack}\n# {attack}\n"
    out["sources"][-1].update(there=False, why=attack, opens=attack)
    for kernel in out["kernels"]:
        kernel["computes"] = kernel["schedule"] = kernel["family"] = attack
        kernel["equations"][0]["text"] = attack
        kernel["tensors"][0]["name"] = attack
        for number, step in enumerate(kernel["steps"]):
            step["step"] = f"{attack} {kernel['kernel']} {number}"
            if "sass" in step:
                step["sass"]["mix"]["counts"][attack] = 3
                step["sass"]["in_part"] = attack
    return out


def bare(facts):
    """Facts of what was read of nearly nothing."""
    out = {key: facts[key] for key in ("schema", "program", "numerics", "machine", "sources")}
    out["kernels"] = [{key: each[key] for key in ("kernel", "family", "schedule")} for each in facts["kernels"]]
    return out


def many(facts):
    """500 kernels, by a version and on a GPU that are not these."""
    out = dict(facts, version="0.0.1", device="NVIDIA H800", kernels=[])
    for number in range(500):
        kernel = copy.deepcopy(facts["kernels"][number % len(facts["kernels"])])
        kernel["kernel"] = f"k{number}"
        for at, step in enumerate(kernel["steps"]):
            step["step"] = step["entry"] = f"k{number}-{at}"
        out["kernels"].append(kernel)
    return out


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Pages and what the program says of the same facts, by name."""
    folder = tmp_path_factory.mktemp("pages")
    everything = json.loads(EVERYTHING.read_text())
    subjects = {"everything": [EVERYTHING], "nothing_ran": [ROOT / "examples/softmax.py", "--device", "model"]}
    subjects["recorded"] = [RECORDED / "gemm_simt.sick.counters.json"]
    for name, facts in (("evil", evil(everything)), ("bare", bare(everything)), ("many", many(everything))):
        file = folder / f"{name}.json"
        file.write_text(json.dumps(facts))
        subjects[name] = [file]
    out = {}
    for name, subject in subjects.items():
        page = folder / f"{name}.html"
        out[name] = page, json.loads(profile(*subject, "--json", "--html", page))
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


def text(browser, selector):
    return browser.value(f"document.querySelector({json.dumps(selector)}).textContent")


def texts(browser, selector):
    return browser.value(f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => e.textContent)")


def count(browser, selector):
    return browser.value(f"document.querySelectorAll({json.dumps(selector)}).length")


def shown(browser, selector):
    return browser.value(f"document.querySelector({json.dumps(selector)}).getClientRects().length > 0")


def chosen(browser):
    """The chosen kernel, by the table and by the panel."""
    rows = texts(browser, "#kernels tr.chosen td:first-child")
    assert len(rows) == 1 and text(browser, "#kernel h2") == f"Kernel {rows[0]}"
    return rows[0]


def test_the_heading_has_time_bounds_and_class(browser, pages):
    page, answer = pages["everything"]
    browser.open(page)
    assert text(browser, "#title") == "mlp"
    tiles = dict(zip(texts(browser, "#tiles dt"), texts(browser, "#tiles dd"), strict=True))
    assert tiles["time of a call"].startswith("1.62 ms")
    assert tiles["practical bound"].startswith("1.063 ms")
    assert tiles["work bound"].startswith("770.3 us") and tiles["io bound"].startswith("62.92 us")
    assert tiles["bounded by"] == answer["program"]["class"] == "tensor"


def test_the_roofline_has_roofs_bounds_and_a_dot_for_each_kernel(browser, pages):
    page, answer = pages["everything"]
    browser.open(page)
    dots = texts(browser, "#roofline .dot title")
    assert [dot.split(":")[0] for dot in dots] == [each["kernel"] for each in answer["facts"]["kernels"]]
    marks = texts(browser, "#roofline .mark title")
    assert [mark.split(" ")[0] for mark in marks] == ["io", "work", "practical", "program"]
    names = " ".join(texts(browser, "#roofline .name"))
    assert "tensor.f16 as fp16x3 259 TFLOP/s" in names and "simt.f32 51.2 TFLOP/s" in names
    assert texts(browser, "#roofline-legend li")[:2] == ["L2 6.67 TB/s", "DRAM 4.29 TB/s"]
    x, y = browser.value("(() => { const p = pointOf(kernels[0]); return [p.x, p.y]; })()")
    sheet = answer["facts"]["kernels"][0]
    flops = sum(need["amount"] for need in sheet["needs"] if need["unit"] == "FLOP")
    assert x == pytest.approx(flops / sheet["needs"][0]["amount"]) and y == pytest.approx(flops / sheet["measured"])
    assert count(browser, "#roofline .dot.guess") == 0


def test_stalls_and_the_time_line_are_drawn(browser, pages):
    browser.open(pages["everything"][0])
    parts = texts(browser, "#stalls .part title")
    assert "gemm1: gmma 41 %" in parts and "gemm2-split: long scoreboard 84 %" in parts
    widths = browser.value(
        "stalledSteps.map(({stalls}) => stallParts(stalls).reduce((sum, part) => sum + part.share, 0))"
    )
    assert widths == pytest.approx([1] * 4)
    assert count(browser, "#line .part") == 6
    assert texts(browser, "#line .pause title") == [
        "nothing runs: 59.9 us after gemm1",
        "nothing runs: 1.5 us after gemm2-split",
    ]
    assert text(browser, "#line-note").startswith("2 gaps, 61.4 us together (3.81 % of the call)")


def test_equations_stand_beside_machine_code(browser, pages):
    browser.open(pages["everything"][0])
    browser.click("#kernels tbody tr:nth-child(1)")
    assert chosen(browser) == "gemm1"
    assert "up[m,n] = sum[k](x[m,k] * w1[n,k]) + b1[n]" in text(browser, ".equations")
    assert "wgmma2" in text(browser, ".code .counts")
    assert "promote: 11 instructions" in text(browser, ".code .loops")
    assert "WARPGROUP.DEPBAR.LE gsb0, 0x0" in text(browser, ".code")
    left, right = (
        browser.value(f"document.querySelector('{part}').getBoundingClientRect().left")
        for part in (".equations", ".code")
    )
    assert left < right


def test_findings_have_cause_evidence_bound_and_actions(browser, pages):
    page, answer = pages["everything"]
    browser.open(page)
    assert count(browser, ".finding") == len(answer["findings"]) > 3
    first, item = answer["findings"][0], text(browser, ".finding")
    assert first["cause"] in item and first["gain"]["because"] in item and first["severity"] in item
    assert all(each["what"] in item for each in first["evidence"])
    assert all(each["text"] in item for each in first["actions"])
    folded = browser.value("[...document.querySelectorAll('.finding details')].map((e) => !e.open)")
    assert folded == [rank >= 3 for rank in range(len(folded))], "the gravest are open"
    browser.click(".finding button:last-of-type")
    assert chosen(browser) == [first["place"]["kernel"], *first["also"]][-1]


def test_the_keyboard_chooses_kernels(browser, pages):
    browser.open(pages["everything"][0])
    assert chosen(browser) == "gemm2", "the longest is chosen first"
    browser.value("document.querySelector('#kernels tr.chosen').focus()")
    for key, name in [("ArrowUp", "gemm1"), ("ArrowUp", "gemm1"), ("End", "gemm2"), ("Home", "gemm1")]:
        browser.press(key)
        assert chosen(browser) == name, key
        assert browser.value("document.activeElement === document.querySelector('#kernels tr.chosen')")
    assert count(browser, '#kernels tr[tabindex="0"]') == 1
    assert count(browser, "#roofline .dot.chosen") == 1


def test_places_and_hot_spots_name_equation_and_part(browser, pages):
    browser.open(pages["everything"][0])
    browser.value("choose(kernels[0])")
    tables = browser.value(
        "[...document.querySelectorAll('#kernel .code table')].map((table) => "
        "[...table.querySelectorAll('tr')].map((row) => [...row.cells].map((cell) => cell.textContent)))"
    )
    places = next(table for table in tables if table[0][:2] == ["part", "equation"])
    rows = [dict(zip(places[0], row, strict=True)) for row in places[1:]]
    assert [(row["part"], row["line"], row["samples"]) for row in rows] == [
        ("main loop", "14", "4220"),
        ("epilogue", "15", "230"),
    ]
    assert rows[1]["equation"] == "relu_out[m,n] = max(up[m,n], 0)" and rows[1]["narrow"] == "8"
    hot = next(table for table in tables if table[0][:2] == ["address", "place"])
    assert hot[1][1] == "main loop, up[m,n] = sum[k](x[m,k] * w1[n,k]) + b1[n], line 14"
    assert hot[2][1] == "line 14", "a place that facts do not name is a line"


def test_a_finding_opens_and_closes_by_the_keyboard(browser, pages):
    browser.open(pages["everything"][0])
    is_open = "document.querySelectorAll('.finding details')[1].open"
    before = browser.value(is_open)
    browser.value("document.querySelectorAll('.finding summary')[1].focus()")
    browser.call("Input.dispatchKeyEvent", type="keyDown", key="Enter", text="\r", windowsVirtualKeyCode=13)
    browser.call("Input.dispatchKeyEvent", type="keyUp", key="Enter", windowsVirtualKeyCode=13)
    assert browser.value(is_open) != before


def test_what_was_not_read_is_absent(browser, pages):
    page, answer = pages["nothing_ran"]
    browser.open(page)
    assert not shown(browser, "#stalls-section") and not shown(browser, "#line-section")
    tiles = dict(zip(texts(browser, "#tiles dt"), texts(browser, "#tiles dd"), strict=True))
    assert "time of a call" not in tiles and "PyTorch eager" not in tiles and "predicted time" in tiles
    assert count(browser, "#roofline .dot.guess") == 1
    heads = texts(browser, "#kernel th")
    assert "time" not in heads and "cluster" not in heads
    sources = texts(browser, "#open h3")
    assert sources == [f"Without {name}" for name in sorted({each["source"] for each in answer["open"]})]
    opens = {each["opens"] for each in answer["open"]}
    assert all(opens), "each says what would open it"
    assert opens <= set(texts(browser, "#open .opens code"))
    assert len(texts(browser, "#open li")) == len(answer["open"])


def test_no_figure_is_made_up_where_nothing_is_known(browser, pages):
    page, answer = pages["bare"]
    browser.open(page)
    assert answer["findings"] == []
    assert texts(browser, "#tiles dt") == []
    assert texts(browser, "#kernels th") == ["kernel", "family"]
    assert texts(browser, "#kernel dt") == ["schedule"]
    assert text(browser, "#roofline") == "No kernel has a place in it."
    everything = browser.value("document.querySelector('main').innerText")
    assert not [word for word in ("NaN", "undefined", "null", "Infinity", " 0 us") if word in everything]


def test_evil_text_is_inert(browser, pages):
    browser.open(pages["evil"][0])
    for row in (1, 2):
        browser.click(f"#kernels tbody tr:nth-child({row})")
    assert browser.value("window.broken === undefined")
    assert count(browser, "img, iframe, a") == 0 and browser.value("document.scripts.length") == 2
    assert "<script>window.broken = 1" in text(browser, ".equations")


def test_what_was_counted_on_a_gpu_is_drawn(browser, pages):
    page, answer = pages["recorded"]
    browser.open(page)
    (kernel,) = answer["facts"]["kernels"]
    assert chosen(browser) == kernel["kernel"]
    assert count(browser, "#roofline .dot") == 1 and count(browser, "#roofline .dot.guess") == 0
    assert shown(browser, "#stalls-section") and count(browser, "#stalls .part") > 3
    assert count(browser, ".finding") == len(answer["findings"]) > 0
    assert answer["open"] == [] and not shown(browser, "#open-section")


def test_a_program_of_hundreds_of_kernels_is_quick_and_says_whose_it_is(browser, pages):
    page, answer = pages["many"]
    browser.open(page)
    assert len(answer["notes"]) == 2 and texts(browser, "#notes li") == answer["notes"]
    assert count(browser, "#kernels tbody tr") == 500 and count(browser, ".finding") == len(answer["findings"]) > 40
    assert count(browser, "#findings > div > ol > .finding") == 40
    took = browser.value(
        "(() => { const t = performance.now(); for (let i = 0; i < 50; ++i) choose(kernels[i]); return "
        "performance.now() - t; })()"
    )
    assert took < 5000
    browser.press("End")
    browser.value("document.querySelector('#kernels tr.chosen').focus()")
    browser.press("End")
    assert chosen(browser) == "k499"


# Contrast of the text of all shown elements with what they stand on, by WCAG 2.1; the lowest first.
CONTRASTS = """(() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const paper = (e) => {
    for (; e; e = e.parentElement) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0.5) return c;
    }
    return [255, 255, 255];
  };
  const out = [];
  for (const e of document.querySelectorAll('header *, main *')) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || e.namespaceURI.endsWith('svg') || !e.getClientRects().length) continue;
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(paper(e))].sort((x, y) => y - x);
    out.push([(a + 0.05) / (b + 0.05), e.tagName + '.' + e.className + ': ' + e.textContent.slice(0, 40)]);
  }
  return out.sort((x, y) => x[0] - y[0]);
})()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_both_schemes(browser, pages, scheme):
    browser.open(pages["everything"][0])
    browser.look(1360, 1250, scheme)
    browser.value("for (const d of document.querySelectorAll('details')) d.open = true")
    contrasts = browser.value(CONTRASTS)
    assert len(contrasts) > 100 and contrasts[0][0] >= 4.5, contrasts[:5]


def test_every_control_is_reached_by_the_keyboard(browser, pages):
    browser.open(pages["everything"][0])
    browser.value("for (const d of document.querySelectorAll('details')) d.open = true")
    controls = (
        "[...document.querySelectorAll('summary, button, [tabindex=\"0\"]')].filter((e) => e.getClientRects().length)"
    )
    wanted = browser.value(f"{controls}.length")
    reached = set()
    for _ in range(wanted + 20):
        for kind in ("keyDown", "keyUp"):
            browser.call("Input.dispatchKeyEvent", type=kind, key="Tab", windowsVirtualKeyCode=9)
        at = browser.value(f"{controls}.indexOf(document.activeElement)")
        if at >= 0:
            reached.add(at)
            outline = browser.value("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", "what has the focus is marked"
    assert len(reached) == wanted


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [320, 400])
def test_it_fits_a_narrow_window(browser, pages, name, width):
    browser.open(pages[name][0], width=width, height=844)
    for row in range(min(3, count(browser, "#kernels tbody tr"))):
        browser.value(f"choose(kernels[{row}])")
        assert browser.value("document.documentElement.scrollWidth") == width
        browser.value("for (const d of document.querySelectorAll('details')) d.open = true")
        assert browser.value("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("name", NAMES)
def test_screenshots(browser, pages, name):
    folder = ROOT / "build/profile_page"
    folder.mkdir(exist_ok=True)
    browser.open(pages[name][0], height=1250)
    colours = set()
    for scheme in ("light", "dark"):
        browser.look(1360, 1250, scheme)
        colours.add(browser.value("getComputedStyle(document.body).backgroundColor"))
        browser.screenshot(folder / f"{name}-{scheme}.png", whole=name != "many")
    assert len(colours) == 2
    browser.open(pages[name][0], width=400, height=844)
    browser.screenshot(folder / f"{name}-telephone.png", whole=name != "many")
