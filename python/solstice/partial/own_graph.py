"""The calls that a module makes, as one flat graph: every operator as the module calls it, views and writes in place
included, with what the cut has to know about memory.

Promises: placeholders are the arguments, the state and the constants; results are nodes or constants. A write in place
to memory that `forward` has made itself, and of which there is no view, is an ordinary call. Every other write stays.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import Any, Iterator, Optional

import torch
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx import Graph, Node
from torch.utils import _pytree as pytree

from ..dropin.numbers import BY_NAME, check
from ..errors import input_error
from ..tensors import tensor_leaves
from ..tracing import counts
from ..tracing.asserted import expression
from ..tracing.causes import STAYS
from ..tracing.nodes import draws

Source = tuple[str, Any]  # ("argument", leaf), ("state", path), ("constant", name) or ("value", number)

_GRAD_REGION = torch.ops.higher_order.wrap_with_set_grad_enabled
_CHECKS = ("_assert", "sym_constrain", "_assert_tensor_metadata")
_UNSAID = torch.Tag.maybe_aliasing_or_mutating  # the schema does not tell what it aliases or writes
_RESHAPING = ("reshape", "flatten", "view_as", "reshape_as", "unflatten")  # that copy where they have to
_CONVERTING = ("contiguous", "to", "type_as")  # likewise
KNOWN = ("aten", "prims")  # namespaces of PyTorch's own operators
_STATE_KINDS = (InputKind.PARAMETER, InputKind.BUFFER)


@dataclass
class OwnGraph:
    graph: Graph
    sources: dict[Node, Source]  # of the placeholders
    results: list[Any]  # leaves: a node, or a constant
    constants: dict[str, torch.Tensor]
    program: torch.export.ExportedProgram
    takes_branches: bool  # on values; its checks say which
    writes: dict[Node, list[Node]] = field(default_factory=dict)  # calls that write, and the first name of the memory
    memory: dict[Node, Node] = field(default_factory=dict)  # of every value: the first name of its memory

    def device(self) -> torch.device:
        """Where the arguments, or else the parameters, were when the module was traced."""
        tensors = [(kind, n.meta.get("val")) for n, (kind, _) in reversed(self.sources.items())]
        devices = {kind: value.device for kind, value in tensors if isinstance(value, torch.Tensor)}
        return devices.get("argument", devices.get("state", torch.device("cpu")))

    def elsewhere(self) -> set[Node]:
        """Calls that read or make tensors of another device. A number made of constants alone is the same anywhere."""
        here = self.device()
        constant = {n for n, (kind, _) in self.sources.items() if kind == "constant"}
        found = set()
        for node in self.calls():
            if constant.issuperset(node.all_input_nodes):
                constant.add(node)
            values = [(n, t) for n in (node, *node.all_input_nodes) for t in tensor_leaves(n.meta.get("val"))]
            if any(t.device != here and (t.dim() or n not in constant) for n, t in values):
                found.add(node)
        return found

    def calls(self) -> list[Node]:
        return [node for node in self.graph.nodes if node.op == "call_function"]


def own_graph(program: torch.export.ExportedProgram, takes_branches: bool = False) -> OwnGraph:
    """Errors: `trace.not_flat` for parts of the graph that are under an autocast or other operators of functions."""
    builder = _Builder(program, takes_branches)
    builder.run()
    out = builder.out
    _rename_writes(out)
    out.memory, out.writes = _memory(out.graph)
    out.graph.lint()
    return out


class _Builder:
    """Copies the exported graph without its regions and checks."""

    def __init__(self, program: torch.export.ExportedProgram, takes_branches: bool) -> None:
        self._program = program
        self._copied: dict[Node, Any] = {}
        self.out = OwnGraph(Graph(), {}, [], {}, program, takes_branches)

    def run(self) -> None:
        kinds = {spec.kind for spec in self._program.graph_signature.output_specs}
        if kinds - {OutputKind.USER_OUTPUT}:
            raise _refusal("`forward` gives a buffer another tensor", "write into it with `copy_`")
        self._placeholders()
        self._copy(self._program.graph_module)
        output = next(n for n in self._program.graph.nodes if n.op == "output")
        self.out.results = [self._copied[v] if isinstance(v, Node) else v for v in output.args[0]]
        self.out.graph.output(tuple(self.out.results))
        for node in reversed(self.out.calls()):  # what the checks have read
            if not node.users and not has_effects(node) and node.target is not check:
                self.out.graph.erase_node(node)

    def _placeholders(self) -> None:
        leaf = 0
        nodes = {n.name: n for n in self._program.graph.nodes if n.op == "placeholder"}
        for spec in self._program.graph_signature.input_specs:
            node = nodes[spec.arg.name]
            copied = self._copied[node] = self.out.graph.node_copy(node)
            if spec.kind is InputKind.USER_INPUT:
                self.out.sources[copied] = ("argument", leaf)
                leaf += 1
            elif spec.kind in _STATE_KINDS:
                self.out.sources[copied] = ("state", spec.target)
            elif spec.kind is InputKind.CONSTANT_TENSOR:
                self.out.sources[copied] = ("constant", spec.target)
                self.out.constants[spec.target] = self._program.constants[spec.target]
            else:
                raise _refusal(f"an input of the kind {spec.kind.name.lower()}", STAYS)

    def _copy(self, graph_module: torch.fx.GraphModule, given: Optional[list[Any]] = None) -> Any:
        """The values that the graph returns."""
        inputs = iter(given or [])
        for node in graph_module.graph.nodes:
            if node.op == "placeholder" and given is not None:
                self._copied[node] = next(inputs)
            elif node.op == "output":
                return pytree.tree_map_only(Node, self._copied.__getitem__, node.args[0])
            elif node.op == "call_function" and not _is_check(node):
                self._copied[node] = self._call(graph_module, node)
            elif _says_more(node):
                copied = self.out.graph.node_copy(node, self._copied.__getitem__)
                copied.target, copied.args = check, (copied.args[0], _what_holds(node.args[1]))
        return None

    def _call(self, graph_module: torch.fx.GraphModule, node: Node) -> Any:
        if node.target is _GRAD_REGION:
            if node.args[0]:  # its results would have gradients, also in a call without
                raise _refusal("`forward` turns gradients on", "take `torch.enable_grad()` out of it")
            # Without gradients the region is its calls.
            part = getattr(graph_module, node.args[1].target)
            return self._copy(part, [self._copied.get(a, a) for a in node.args[2:]])
        whole = self._copied.get(node.args[0]) if node.args and isinstance(node.args[0], Node) else None
        if isinstance(whole, (tuple, list)) and not isinstance(node.target, torch._ops.OpOverload):
            return whole[node.args[1]]  # of a region's results
        if isinstance(node.target, torch._ops.HigherOrderOperator):
            raise _refusal(f"`{node.target.name()}` is an operator of functions, such as an autocast region", STAYS)
        copied = self.out.graph.node_copy(node, lambda n: self._copied[n])
        copied.meta["custom"] = {"own": node.name}  # traces of it keep this
        return copied


def _refusal(what: str, hint: str) -> Exception:
    return input_error("trace.not_flat", f"the module cannot be cut: {what}", hint=hint)


def _is_check(node: Node) -> bool:
    name = node.target._schema.name.partition("::")[2] if isinstance(node.target, torch._ops.OpOverload) else ""
    return name.startswith(_CHECKS) and not node.users


def _says_more(node: Node) -> bool:
    """A check of numbers that are read from tensors, without which the trace does not hold: of more than that a size is
    not negative."""
    if node.target is not torch.ops.aten._assert_scalar.default or not isinstance(node.args[0], Node):
        return False
    holds = node.args[0]
    is_size = holds.target is operator.ge and holds.args[0].target is torch.ops.aten.sym_size.int
    return not (is_size and holds.args[1] == 0)


def _what_holds(said: str) -> str:
    """Of what PyTorch says of an expression that does not hold."""
    found = expression(said)
    return f"numbers that are read from tensors are not as in the trace: {found}" if found else said


def is_of_numbers(node: Node) -> bool:
    """Python's arithmetic on numbers that are read from tensors."""
    return node.target in BY_NAME.values()


def reads_extents(node: Node) -> bool:
    """Of a tensor, none of its elements."""
    return getattr(node.target, "namespace", "") == "aten" and node.target._schema.name.startswith("aten::sym_")


def counted(node: Node) -> bool:
    """It reads or makes a value whose shape depends on the values of tensors."""
    return any(counts.made_varies(n) for n in (node, *node.all_input_nodes))


def has_effects(node: Node) -> bool:
    """It writes, draws, or is an operator of which that is not known."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return False
    return node.target.namespace not in KNOWN or draws(node) or bool(written(node))


def bound_arguments(node: Node) -> Iterator[tuple[Any, Any]]:
    """Pairs of a schema's argument and its value; those with their defaults are left out."""
    for position, argument in enumerate(node.target._schema.arguments):
        if position < len(node.args):
            yield argument, node.args[position]
        elif argument.name in node.kwargs:
            yield argument, node.kwargs[argument.name]


def nodes_in(value: Any) -> list[Node]:
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, Node)]


def is_projection(node: Node) -> bool:
    """Takes one of several results."""
    return not isinstance(node.target, torch._ops.OpOverload) and getattr(node.target, "__name__", "") == "getitem"


def aliased(node: Node) -> list[Node]:
    """The values whose memory a call's results may share."""
    if is_projection(node):
        return [node.args[0]]
    if not isinstance(node.target, torch._ops.OpOverload):
        return []
    pairs = list(bound_arguments(node))
    if any(result.alias_info is not None for result in node.target._schema.returns):
        return [n for argument, value in pairs if argument.alias_info is not None for n in nodes_in(value)]
    is_norm = any(argument.name == "running_mean" for argument in node.target._schema.arguments)
    returns_it = _UNSAID in node.target.tags and not is_norm and not draws(node)  # a dropout that is off
    return nodes_in(pairs[0][1]) if returns_it and pairs else []


def is_view(node: Node) -> bool:
    """Its results are parts of what it is given, without a copy."""
    if is_projection(node) or not aliased(node) or written(node):
        return False
    if _UNSAID in node.target.tags:
        return node.target._schema.name.endswith("dropout")  # one that is off: it returns what it is given
    source, made = aliased(node)[0].meta.get("val"), node.meta.get("val")
    if not isinstance(made, torch.Tensor) or not isinstance(source, torch.Tensor):
        return True  # a list of parts
    if source.device != made.device:
        return False
    name = node.target._schema.name.partition("::")[2]
    if counts.varies(source) or counts.varies(made):
        return name not in (*_RESHAPING, *_CONVERTING)
    if name in _RESHAPING:
        try:
            source.view(made.shape)
        except (RuntimeError, ValueError):  # tensors without memory raise the latter
            return False
        return True
    return name not in _CONVERTING or source.dtype is made.dtype and source.stride() == made.stride()


def mutates(node: Node) -> bool:
    """By its schema it writes what it is given."""
    return isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable


def written(node: Node) -> list[Node]:
    """The values that a call writes in place."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return []
    return [
        n
        for argument, value in bound_arguments(node)
        if argument.alias_info is not None and argument.alias_info.is_write
        for n in nodes_in(value)
    ] + _statistics(node)


def _statistics(node: Node) -> list[Node]:
    """Running statistics, which normalisations write though their schemas do not say so."""
    if _UNSAID not in node.target.tags:
        return []
    values = {argument.name: value for argument, value in bound_arguments(node)}
    writes = values.get("training", values.get("use_input_stats", False))
    return nodes_in([values.get("running_mean"), values.get("running_var")]) if writes is True else []


def _memory(graph: Graph) -> tuple[dict[Node, Node], dict[Node, list[Node]]]:
    memory: dict[Node, Node] = {}
    joined: dict[Node, Node] = {}  # memory that may be other memory: one name stands for both

    def first(node: Node) -> Node:
        while node in joined:
            node = joined[node]
        return node

    for node in graph.nodes:
        shared = [first(memory[n]) for n in aliased(node)] if node.op == "call_function" else []
        memory[node] = shared[0] if shared else node
        for other in shared[1:]:
            if other is not shared[0]:
                joined[other] = shared[0]
    memory = {node: first(root) for node, root in memory.items()}
    writes = {node: [memory[n] for n in written(node)] for node in graph.nodes if node.op == "call_function"}
    return memory, {node: roots for node, roots in writes.items() if roots}


def _rename_writes(own: OwnGraph) -> None:
    """`y.relu_()` of a value of which nothing else has a view is `relu(y)` from there on."""
    memory, writes = _memory(own.graph)
    sharing: dict[Node, list[Node]] = {}
    for node, root in memory.items():
        sharing.setdefault(root, []).append(node)
    for root, names in sharing.items():
        plain = root.op == "call_function" and all(n is root or writes.get(n) == [root] for n in names)
        if plain and len(names) > 1 and all(_pure(n) for n in names[1:]):
            for before, node in zip(names, names[1:]):
                _rename(own, before, node)


def _pure(node: Node) -> Optional[torch._ops.OpOverload]:
    """The operator that computes what this one writes; None where its result would be of another kind."""
    name, overload = node.target._schema.name, node.target._schema.overload_name or "default"
    namespace, _, word = name.partition("::")
    if namespace != "aten" or not word.endswith("_") or torch.Tag.nondeterministic_seeded in node.target.tags:
        return None
    packet = getattr(torch.ops.aten, word[:-1], None)
    pure = getattr(packet, overload, None) if packet is not None else None
    if pure is None or len(pure._schema.arguments) != len(node.target._schema.arguments):
        return None
    given = pytree.tree_map_only(Node, lambda n: n.meta["val"], (node.args, node.kwargs))
    try:
        with torch._guards.detect_fake_mode(given), torch.no_grad():
            made = pure(*given[0], **given[1])
    except Exception:  # such operators exist for writes alone
        return None
    value = node.meta["val"]
    same = made.dtype is value.dtype and made.shape == value.shape and made.stride() == value.stride()
    return pure if same else None


def _rename(own: OwnGraph, before: Node, node: Node) -> None:
    """Whoever reads the memory after `node` reads the result of `node`."""
    node.target = _pure(node)
    order = {n: i for i, n in enumerate(own.graph.nodes)}
    for user in list(before.users):
        if order[user] > order[node]:
            user.replace_input_with(before, node)
    own.results = [node if r is before else r for r in own.results]
