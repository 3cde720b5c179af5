"""What a program must look like beside what it computes. A demand takes the description that `interpret_check` prints
and returns complaints."""


def base_name(kernel):
    """Without the instance of a def."""
    return kernel["name"].rsplit(".", 1)[-1]


def problem(program):
    return ["equations only, no kernels" for _ in program["kernels"][:1]]


def kernels(*names):
    def demand(program):
        found = [base_name(k) for k in program["kernels"]]
        out = (
            []
            if found == list(names)
            else [f"the kernels should be {', '.join(names)} in this order; they are {', '.join(found)}"]
        )
        return out + (["every equation should be in a kernel"] if program["loose"] else [])

    return demand


def kernel(name, family, knobs=None, writes=None, reads=None, once=False):
    """`knobs` are the texts of their values and there are no others; `writes` and `reads` name declared tensors, all of
    them."""

    def demand(program):
        out = []
        named = {t["name"]: t["kind"] for t in program["tensors"]}
        of_name = [k for k in program["kernels"] if base_name(k) == name]
        for k in of_name:
            if k["family"] != family:
                out.append(f"kernel `{name}` should be `by {family}`, is `by {k['family']}`")
            if knobs is not None and k["knobs"] != knobs:
                out.append(f"the knobs of `{name}` should be {knobs}, are {k['knobs']}")
            if k["once"] != once:
                out.append(f"kernel `{name}` should{'' if once else ' not'} be `once`")
            for what, wanted in (("writes", writes), ("reads", reads)):
                found = {n for n in k[what] if named[n] != "local"}
                if what == "reads":
                    found -= set(k["writes"])
                if wanted is not None and found != set(wanted):
                    out.append(f"kernel `{name}` should {what[:-1]} {sorted(wanted)}, {what} {sorted(found)}")
        return out or ([] if of_name else [f"there should be a kernel `{name}`"])

    return demand


def knob_values(name, knob, *values):
    """Of the kernels of this name, in order."""

    def demand(program):
        found = [k["knobs"].get(knob) for k in program["kernels"] if base_name(k) == name]
        return [] if found == list(values) else [f"`{knob}` of `{name}` should be {', '.join(values)}, is {found}"]

    return demand


def tensor(name, dtype, order=None):
    """A declared intermediate; `order` lists its dimensions from the outermost."""

    def demand(program):
        for t in program["tensors"]:
            if t["name"] != name or t["kind"] == "local":
                continue
            out = [] if t["dtype"] == dtype else [f"`{name}` should be {dtype}, is {t['dtype']}"]
            wanted, step = [0] * len(t["shape"]), 1
            for d in reversed(order or range(len(t["shape"]))):
                wanted[d], step = step, step * t["shape"][d]
            return out + (
                [] if t["strides"] == wanted else [f"`{name}` should have strides {wanted}, has {t['strides']}"]
            )
        return [f"`{name}` should be a declared tensor"]

    return demand


def calls(name, times):
    def demand(program):
        found = program["calls"].count(name)
        return (
            []
            if found == times
            else [f"def `{name}` should be called {times} times at the top level, is called {found} times"]
        )

    return demand


def allows(what):
    return lambda program: [] if what in program["allow"] else [f"`allow {what}` is missing"]
