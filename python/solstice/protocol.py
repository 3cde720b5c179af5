"""Newline-delimited JSON messages of schema `solstice.oracle/1` over two file descriptors.

Request:  {"schema", "id", "request": NAME, "params": {...}}
Answers:  any number of {"schema", "id", "event": "progress", "progress": {"stage", "message"}}, then one of
          {"schema", "id", "event": "reply", "reply": {...}} or {"schema", "id", "event": "error", "error": {...}}.
A line that is no request is answered with an error whose id is null, and the stream goes on.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any, Iterator, Optional

from .errors import OracleError, input_error

SCHEMA = "solstice.oracle/1"
MAX_LINE_BYTES = 16 << 20
_READ_BYTES = 1 << 16


@dataclass
class Request:
    id: int
    name: str
    params: dict[str, Any] = field(default_factory=dict)


class BadLine(Exception):
    """A line that is no request; `id` is the sender's, where one could be read."""

    def __init__(self, error: OracleError, id: Optional[int] = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.id = id


def parse_request(line: bytes) -> Request:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadLine(input_error("protocol.bad_json", f"not a line of JSON: {error}")) from None
    if not isinstance(message, dict):
        raise BadLine(input_error("protocol.bad_request", "a request is a JSON object"))
    id = message.get("id")
    if not isinstance(id, int) or isinstance(id, bool):
        raise BadLine(input_error("protocol.bad_request", "a request needs an integer `id`"))
    if message.get("schema") != SCHEMA:
        text = f"schema is `{message.get('schema')}`, and this worker speaks `{SCHEMA}`"
        raise BadLine(input_error("protocol.bad_schema", text), id)
    name, params = message.get("request"), message.get("params", {})
    if not isinstance(name, str) or not isinstance(params, dict):
        raise BadLine(input_error("protocol.bad_request", "`request` must be a string and `params` an object"), id)
    return Request(id, name, params)


def read_lines(fd: int) -> Iterator[bytes]:
    """Lines until end of file. One that is longer than MAX_LINE_BYTES comes as an empty line, once."""
    pending, dropping = b"", False
    while chunk := os.read(fd, _READ_BYTES):
        pending += chunk
        *lines, pending = pending.split(b"\n")
        for line in lines:
            if not dropping:
                yield line
            dropping = False
        if len(pending) > MAX_LINE_BYTES:
            if not dropping:
                yield b""
            pending, dropping = b"", True
    if pending and not dropping:
        yield pending


class Sender:
    def __init__(self, fd: int) -> None:
        self._fd = fd

    def progress(self, id: int, stage: str, message: str = "") -> None:
        self._send(id, "progress", {"stage": stage, "message": message})

    def reply(self, id: int, reply: dict[str, Any]) -> None:
        self._send(id, "reply", reply)

    def error(self, id: Optional[int], error: OracleError) -> None:
        self._send(id, "error", error.to_json())

    def raw(self, line: bytes) -> None:
        data = memoryview(line if line.endswith(b"\n") else line + b"\n")
        while data:
            data = data[os.write(self._fd, data) :]

    def _send(self, id: Optional[int], event: str, body: dict[str, Any]) -> None:
        message = {"schema": SCHEMA, "id": id, "event": event, event: body}
        self.raw(json.dumps(message, separators=(",", ":"), allow_nan=False).encode())
