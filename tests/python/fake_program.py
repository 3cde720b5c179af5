#!/usr/bin/env python3
"""Stands in for the `solstice` program: asks the caller's process over --oracle-fd, then prints what it heard in a
report.

`--policy` says how it ends: `fail` with an error, `die` without a word, `stop` before there is anything to keep; `win`
with the drop-in that the folder of FAKE_DROPIN holds.
"""

import json
import os
import pathlib
import shutil
import socket
import sys

arguments = sys.argv[1:]
folder = pathlib.Path(arguments[arguments.index("--out") + 1])
stream = socket.socket(fileno=int(arguments[arguments.index("--oracle-fd") + 1])).makefile("rw")
heard = []


def ask(name, **params):
    stream.write(
        json.dumps({"schema": "solstice.oracle/1", "id": len(heard), "request": name, "params": params}) + "\n"
    )
    stream.flush()
    while True:
        message = json.loads(stream.readline())
        if message["event"] != "progress":
            heard.append(message[message["event"]])
            return


for request in ("hello", "load", "trace"):
    ask(request)
ask("prepare_inputs", set="a", family="normal")
ask("expected", set="a")
folder.mkdir(exist_ok=True)
ending = arguments[arguments.index("--policy") + 1] if "--policy" in arguments else "lose"
print("[    0.1 s] oracle done", file=sys.stderr)
if ending == "die":
    sys.exit(70)
if ending in ("fail", "stop"):
    code = "bad_argument" if ending == "fail" else "interrupted"
    error = {"code": code, "message": f"this is {ending}", "context": ["while trying"], "file": "m.py", "line": 3}
    print(json.dumps({"error": error}))
    print(f"solstice: error[{code}]: this is {ending}\n  while trying", file=sys.stderr)
    sys.exit(2 if ending == "fail" else 130)
report = {"outcome": "predicted", "reason": "no GPU", "headline": {"speedup": None}, "kernels": [], "run": "r1"}
if ending == "win":
    shutil.copytree(os.environ["FAKE_DROPIN"], folder, dirs_exist_ok=True)
    headline = {"speedup": 2.0, "speedup_low": 1.9, "speedup_high": 2.1, "original": {"median": 2e-3}}
    report |= {"outcome": "faster", "reason": "", "headline": headline, "kernels": [{"name": "k", "family": "map"}]}
print(json.dumps({"out": str(folder), "report": {**report, "heard": heard, "arguments": arguments}}))
