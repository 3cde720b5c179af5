"""Bad situations as a user meets them, each with its exit code and what the program has to say.

One file a kind: a list SITUATIONS. A new one is one line there.
"""

from dataclasses import dataclass, field

HEAD = "import torch\nfrom torch import nn\n"
INPUTS = "def get_inputs(): return [torch.rand(4, 8)]\n"


@dataclass
class Situation:
    name: str
    command: str
    says: tuple[str, ...]  # all of them, on standard error and output together
    files: dict = field(default_factory=dict)  # name: text or bytes
    code: int = 2
    environment: dict = field(default_factory=dict)


def module(forward, init="pass", inputs=INPUTS, arguments="x"):
    """A file with the class `Model`: `forward` begins at line 8."""
    lines = [f"        {line}\n" for line in forward.split("\n")]
    return (
        f"{HEAD}class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        {init}\n"
        f"    def forward(self, {arguments}):\n{''.join(lines)}{inputs}"
    )


GOOD = module("return self.l(x).relu()", "self.l = nn.Linear(8, 8)")
