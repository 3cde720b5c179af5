"""Writing tasks: programs that a person or a language model writes from docs/grammar.md alone.

A task is a function: its docstring says what to write, its body is the PyTorch code that the program must equal in
float64, and its decorator lists the interface (names, formats, shapes, module paths) and what the program must look
like. tools/check_writing.py checks answers and writes prompts.
"""

from __future__ import annotations

import inspect
import zlib
from dataclasses import dataclass
from typing import Any, Callable

import torch


@dataclass
class Tensor:
    kind: str  # param | buffer | input | output
    name: str
    shape: tuple[int, ...]
    path: str = ""
    dtype: str = "f32"
    make: Callable[..., torch.Tensor] | None = None  # its values from a generator and a shape; None: normal ones

    def value(self, seed: int) -> torch.Tensor:
        generator = torch.Generator().manual_seed(zlib.crc32(f"{self.name} {seed}".encode()))
        if self.make:
            return self.make(generator, self.shape)
        return torch.randn(self.shape, generator=generator, dtype=torch.float64)

    def line(self) -> str:
        shape = f"shape [{', '.join(map(str, self.shape))}]" if self.shape else "a scalar"
        return f"- {self.kind} `{self.name}`: {self.dtype}, {shape}" + (
            f', module path "{self.path}"' if self.path else ""
        )


def param(name, shape, path, **more):
    return Tensor("param", name, shape, path, **more)


def buffer(name, shape, path, **more):
    return Tensor("buffer", name, shape, path, **more)


def given(name, *shape, **more):
    return Tensor("input", name, shape, **more)


def output(name, *shape, **more):
    return Tensor("output", name, shape, **more)


def positive(generator, shape):
    return torch.rand(shape, generator=generator, dtype=torch.float64) + 0.5


def integers(low, high):
    return lambda generator, shape: torch.randint(low, high, shape, generator=generator)


def coins(generator, shape):
    """At least one true in every row."""
    out = torch.rand(shape, generator=generator) < 0.6
    out[..., 0] = True
    return out


@dataclass
class Task:
    number: int
    name: str
    text: str
    interface: list[Tensor]
    demands: list[Callable[[dict], list[str]]]
    reference: Callable[..., Any]
    broken: str = ""  # a program to repair

    @property
    def stem(self) -> str:
        return f"{self.number:02d}"

    def values(self, seed: int) -> dict[str, torch.Tensor]:
        return {t.name: t.value(seed) for t in self.interface if t.kind != "output"}

    def prompt(self) -> str:
        lines = "\n".join(t.line() for t in self.interface)
        return f"Write the program `{self.name}`.\n\n{self.text}\n\nInterface, in this order:\n{lines}\n"


TASKS: list[Task] = []


def task(*interface: Tensor, demands=(), broken: str = "") -> Callable:
    def add(function: Callable) -> Callable:
        text = inspect.cleandoc(function.__doc__)
        broken_text = f"program {function.__name__}\n{inspect.cleandoc(broken)}\n" if broken else ""
        TASKS.append(
            Task(len(TASKS) + 1, function.__name__, text, list(interface), list(demands), function, broken_text)
        )
        return function

    return add


from . import vision, sequences, losses, schedules, repairs  # noqa: E402, F401
