#!/usr/bin/env python3
"""Stands in for the `solstice` program: asks the caller's process over --oracle-fd, then writes what it heard."""

import json
import pathlib
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
(folder / "heard.json").write_text(json.dumps({"arguments": arguments, "heard": heard}))
if "--stop" in arguments:
    sys.exit(130)
sys.exit(4 if "--fail" in arguments else 0)
