#!/usr/bin/env python3
"""Writing tasks for docs/grammar.md (tools/writing_tasks): checks answers, writes prompts.

    check_writing.py ANSWERS_DIR                            NN.ucut each; prints right or wrong, and why
    check_writing.py ANSWERS_DIR --json                     the same as JSON
    check_writing.py --prompts DIR                          the prompts of a first try, NN.txt
    check_writing.py --prompts DIR --after ANSWERS_DIR      those of the next try: wrong answers, with what was wrong

An answer is right if `solstice check` finds no error, its interface is the task's, it looks as the task demands, and
the interpreter gives what PyTorch gives in float64 for two sets of inputs. Needs PyTorch and the built programs.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import torch  # noqa: E402
from writing_tasks import TASKS  # noqa: E402

ROOT = pathlib.Path(__file__).parents[1]
SEEDS = (1, 2)


class Checker:
    def __init__(self, build):
        self.program = build / "bin" / "solstice"
        self.interpreter = build / "tests" / "interpret_check"
        for binary in (self.program, self.interpreter):
            if not binary.exists():
                sys.exit(f"{binary} is not built")
        self.process = subprocess.Popen([self.interpreter], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return answer.get("program") or answer.get("results"), answer.get("error")

    def diagnostics(self, text):
        """(has errors, what `solstice check` prints)"""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "answer.ucut"
            file.write_text(text)
            done = subprocess.run([self.program, "check", file.name], cwd=folder, capture_output=True, text=True)
        return done.returncode != 0, done.stderr.strip()

    def complaints(self, task, text):
        """What is wrong with an answer, [] if it is right. Device code that it names is no part of the task."""
        text = with_sources(text)
        wrong, said = self.diagnostics(text)
        if wrong:
            return [said]
        described, error = self.ask(text=text, describe=True)
        if error:
            return [error]
        out = interface_complaints(task, described)
        for demand in task.demands:
            out += demand(described)
        return out or self.differences(task, text, described)

    def differences(self, task, text, described):
        for seed in SEEDS:
            values = task.values(seed)
            inputs = {
                found["name"]: as_json(values[t.name]) for t, found in pairs(task, described) if t.kind != "output"
            }
            results, error = self.ask(text=text, inputs=inputs)
            if error:
                return [f"the program fails when it is evaluated: {error}"]
            expected = task.reference(**values)
            names = result_names(task, described)
            for name, value in expected.items():
                if names.get(name) not in results:
                    return [f"the program does not compute a new value for `{name}`"]
                difference = compared(name, results[names[name]], value)
                if difference:
                    return [difference]
        return []


def as_json(tensor):
    return {"shape": list(tensor.shape), "values": tensor.double().flatten().tolist()}


def compared(name, found, expected):
    actual = torch.tensor([float(v) for v in found["values"]], dtype=torch.float64).reshape(found["shape"])
    expected = expected.detach().double()
    if actual.shape != expected.shape:
        return f"`{name}` has shape {list(actual.shape)}, should have {list(expected.shape)}"
    bad = ~torch.isclose(actual, expected, rtol=1e-9, atol=1e-9, equal_nan=True)
    if not bad.any():
        return ""
    at = tuple(bad.nonzero()[0].tolist())
    return (
        f"`{name}` differs from the reference in {int(bad.sum())} of {bad.numel()} elements; the first is at "
        f"{list(at)}: "
        f"{actual[at].item():.9g} instead of {expected[at].item():.9g}"
    )


def pairs(task, described):
    """The task's tensors with the program's: params and buffers by module path, others by name."""
    for t in task.interface:
        for found in described["tensors"]:
            by_path = t.path and found["path"] == t.path
            if found["kind"] == t.kind and (by_path or (not t.path and found["name"] == t.name)):
                yield t, found


def with_sources(text):
    """With a source in place of each file of device code that the text names and does not hold."""
    names = dict.fromkeys(re.findall(r'by cuda\("([^"]+)"', text))
    missing = [name for name in names if f'source "{name}"' not in text]
    return text + "".join(f'\nsource "{name}" """\n// not looked at here\n"""\n' for name in missing)


def interface_complaints(task, described):
    out, matched = [], []
    for t, found in pairs(task, described):
        matched.append(t.name)
        if found["shape"] != list(t.shape) or found["dtype"] != t.dtype:
            out.append(f"`{t.name}` should be {t.dtype} {list(t.shape)}, is {found['dtype']} {found['shape']}")
    out += [f"the interface lacks: {t.line()[2:]}" for t in task.interface if t.name not in matched]
    known = {t.path or t.name for t in task.interface}
    for found in described["tensors"]:
        if (
            found["kind"] in ("param", "buffer", "input", "output", "random")
            and (found["path"] or found["name"]) not in known
        ):
            out.append(f"{found['kind']} `{found['name']}` is not of the interface")
    for kind in ("input", "output"):
        wanted = [t.name for t in task.interface if t.kind == kind]
        order = [f["name"] for f in described["tensors"] if f["kind"] == kind]
        if not out and order != wanted:
            out.append(f"{kind}s should be declared in the order {', '.join(wanted)}")
    if described["name"] != task.name:
        out.append(f"the program should be named `{task.name}`")
    return out


def result_names(task, described):
    """Of outputs, and of the tensors that become a buffer's new value, by the task's names."""
    names = {t.name: found["name"] for t, found in pairs(task, described) if t.kind == "output"}
    for t, found in pairs(task, described):
        if t.kind == "buffer":
            names.update({t.name: f["name"] for f in described["tensors"] if f["into"] == found["name"]})
    return names


def program_of(reply):
    """The program in a reply: the code block, if there is one."""
    block = re.search(r"```[a-z]*\n(.*?)```", reply, re.DOTALL)
    return block.group(1) if block else reply


def check_all(checker, folder, tasks):
    out = {}
    for task in tasks:
        file = folder / f"{task.stem}.ucut"
        out[task.stem] = (
            checker.complaints(task, program_of(file.read_text())) if file.exists() else ["there is no answer"]
        )
    return out


def prompt_of(checker, task, previous="", complaints=()):
    text = (ROOT / "docs" / "grammar.md").read_text() + "\n# Task\n\n" + task.prompt()
    if task.broken:
        said = checker.diagnostics(task.broken)[1]
        text += f"\nRepair this program:\n\n```ucut\n{task.broken}```\n\n`solstice check` says:\n\n```\n{said}\n```\n"
    if previous:
        told = "\n".join(complaints)
        text += f"\n# Your last answer\n\n```ucut\n{previous}```\n\nIt is not right yet:\n\n```\n{told}\n```\n"
    return text + "\nAnswer with the whole program in one code block and nothing else.\n"


def write_prompts(checker, folder, after, tasks):
    folder.mkdir(parents=True, exist_ok=True)
    written = 0
    found = check_all(checker, after, tasks) if after else {}
    for task in tasks:
        if after and not found[task.stem]:
            continue
        answer = after / f"{task.stem}.ucut" if after else None
        previous = program_of(answer.read_text()) if answer and answer.exists() else ""
        (folder / f"{task.stem}.txt").write_text(prompt_of(checker, task, previous, found.get(task.stem, ())))
        written += 1
    print(f"{written} prompts in {folder}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("answers", nargs="?", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--prompts", type=pathlib.Path)
    parser.add_argument("--after", type=pathlib.Path)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    checker = Checker(args.build)
    if args.prompts:
        write_prompts(checker, args.prompts, args.after, TASKS)
    elif args.answers:
        found = check_all(checker, args.answers, TASKS)
        if args.json:
            print(json.dumps(found, indent=1))
        else:
            for task in TASKS:
                print(f"{task.stem} {task.name}: {'wrong' if found[task.stem] else 'right'}")
                for complaint in found[task.stem]:
                    print("    " + complaint.replace("\n", "\n    "))
            print(f"{sum(not c for c in found.values())} of {len(found)} right")
    else:
        parser.error("what to check? ANSWERS_DIR, or --prompts DIR")
    checker.close()


if __name__ == "__main__":
    main()
