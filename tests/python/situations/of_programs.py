"""Programs of equations with mistakes, and programs that do not fit what they are used for."""

from . import GOOD, Situation

HEAD = "program p\ndim M = 64\n"
ONE = HEAD + "input x : f32[M]\noutput y : f32[M]\n"
UNKNOWN_INDEX = ONE + "y[m] = x[n]\n"
SQUARE = HEAD + "input x : f32[M, M]\noutput y : f32[M, M]\n"

DOUBLED = """import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2


def get_inputs():
    return [torch.rand(64)]


def get_init_inputs():
    return []
"""
DRAWN = ONE + "random keep : bool[M] from bernoulli(0.9)\ny[m] = select(keep[m], x[m], 0)\n"

MANY = """program many
dim M = 64, N = 32
dim M = 3
input x : f32[M, N]
input w : f33[N, N]
output y : f32[M, N]
tensor t f32[M]
z[m,n] = gelo(x[m,n])
y[m,n] = x[m] * z[m,n] + q[m,n]
kernel a by gem(tile=128x128x64) {
  u[m] = sum[n](x[m,n])
}
kernel b by gemm(tile=128x128x64, stagez=3) {
  v[m,p] = sum[n](x[m,n] * x[p,n])
}
"""
MANY_PLACES = ("3:5", "5:11", "7:10", "8:10", "9:10", "9:26", "10:13", "13:35")


def of(name, text, *says, command="check p.ucut", more=None, **options):
    return Situation(name, command, says, {"p.ucut": text, **(more or {})}, **options)


SITUATIONS = [
    of("no program", "", "p.ucut:1:1: error[E000]", "which is empty", "`solstice grammar`"),
    of("bytes", b"\x00\x01", "p.ucut:1:1: error[E000]: a zero byte", "a program is a text file"),
    Situation("a misspelt file", "check p.uct", ("no file p.uct", "did you mean p.ucut?"), {"p.ucut": UNKNOWN_INDEX}),
    of(
        "ends of lines",
        HEAD + "input x : f32[M\noutput y : f32[M]\ny[m] = x[m] +\n",
        "p.ucut:3:16: error[E000]: expected `]` after the list, found the end of the line",
        "p.ucut:5:14: error[E000]: expected an expression, found the end of the line",
        "hint: `solstice grammar` prints the language on one page",
    ),
    of(
        "a profile of a program with mistakes",
        HEAD + "input x : f32[M]\noutput y : f32[M]\ny[m] = x[m] +\n",
        "p.ucut:5:14: error[E000]: expected an expression",
        "error[program_invalid]: p.ucut cannot be compiled",
        "hint: correct it",
        command="profile p.ucut --device model",
    ),
    of(
        "eight mistakes",
        MANY,
        *(f"p.ucut:{place}: error[E" for place in MANY_PLACES),
        "  3 | dim M = 3\n    |     ^\n",
        "  8 | z[m,n] = gelo(x[m,n])\n    |          ^^^^\n",
        "closest: `gelu`",
        "kernel a by gem(tile=128x128x64) {\n     |             ^^^\n",
        "stagez=3) {\n     |                                   ^^^^^^\n",
    ),
    of(
        "an extent of 0",
        "program p\ndim Z = 0\ninput x : f32[Z]\noutput y : f32[Z]\ny[m] = x[m]\n",
        "p.ucut:2:5: error[E022]: dim `Z` is 0",
        "1 or more",
    ),
    of("a division of dims", "program p\ndim M = 4, Q = M/3\n", "p.ucut:2:16: error[E013]", "dims combine with"),
    of(
        "no dim",
        "program p\ninput x : f32[M]\noutput y : f32[M]\ny[m] = x[m]\n",
        "p.ucut:2:15: error[E008]: unknown dim `M`",
        "p.ucut:3:16: error[E008]",
        "declare it before its first use",
    ),
    of(
        "a wrong rank",
        SQUARE + "y[i,j] = x[i]\n",
        "p.ucut:5:10: error[E006]: `x` has rank 2 (64x64)",
        "no broadcasting",
    ),
    of(
        "a family for something else",
        SQUARE + "kernel k by gemm {\n  y[i,j] = max[k](x[i,k]) + x[j,i]\n}\n",
        "p.ucut:5:13: error[E103]: family `gemm` cannot run kernel `k`",
        "`gemm` is for matrix products",
    ),
    of(
        "what other families say",
        SQUARE + "kernel k by gemm {\n  y[i,j] = max[k](x[i,k]) + x[j,i]\n}\n",
        "why: kernel `k`, gemm: ",
        "why: kernel `k`, map: ",
        command="check p.ucut --why",
    ),
    of(
        "an illegal tile",
        SQUARE + "kernel k by gemm(tile=127x128x64) {\n  y[i,j] = sum[k](x[i,k] * x[j,k])\n}\n",
        "error[E1",
        "closest: `tile=",
    ),
    of(
        "a problem to compile",
        ONE + "y[m] = x[m]\n",
        "p.ucut: `y[m] = x[m]` has no schedule",
        "put it into a kernel",
        command="compile p.ucut --out out",
    ),
    of(
        "a mistake to compile",
        UNKNOWN_INDEX,
        "p.ucut:5:10: error[E004]: `n`",
        "hint: sum over it",
        "p.ucut has 1 mistake",
        command="compile p.ucut --out out",
    ),
    of(
        "a mistake to plan",
        UNKNOWN_INDEX,
        "p.ucut:5:10: error[E004]: `n`",
        "p.ucut has 1 mistake",
        command="plan p.ucut",
    ),
    of("a mistake to compare", UNKNOWN_INDEX, "p.ucut:5:10: error[E004]", command="same p.ucut p.ucut"),
    of("a mistake to run", UNKNOWN_INDEX, "p.ucut:5:10: error[E004]", command="run p.ucut --device model"),
    of(
        "a recurrence that no family runs",
        "program p\ndim T = 64, B = 8\ninput x : f32[B, T, T]\ninput h : f32[B, T]\n"
        "output y : f32[B, T, T]\ny[b,t,j] = sum[k](y[b,t-1,k else h[b,k]] * x[b,k,j])\n",
        "p.ucut:6: no kernel family runs `y[b,t,j]",
        "  6 | y[b,t,j] = sum",
        "the closest is scan: ",
        "--why",
        command="plan p.ucut",
    ),
    of(
        "a program of another module",
        HEAD + "input x : f32[M]\noutput y : f32[M]\nkernel k by map() {\n  y[m] = x[m]\n}\n",
        "it does not compute the problem",
        command="run p.ucut --of m.py --device model",
        more={"m.py": GOOD},
    ),
    of(
        "another interface",
        ONE + "y[m] = x[m]\n",
        "another shape, [65] instead of [64]",
        command="same p.ucut q.ucut",
        more={"q.ucut": ONE.replace("64", "65") + "y[m] = x[m]\n"},
    ),
    of(
        "a program to measure that PyTorch cannot compute",
        DRAWN,
        "p.ucut:5: the draw of `keep` is not written as PyTorch operators",
        "--of FILE.py",
        command="run p.ucut --device gpu",
    ),
    of(
        "a module of a draw",
        DRAWN,
        "p.ucut:5: the draw of `keep` is not written as PyTorch operators",
        "--of FILE.py",
        command="torch p.ucut",
    ),
    of(
        "code that does not compile",
        ONE + 'kernel k by cuda("k.cu", entry=k, grid=(1,1,1), block=(64,1,1)) {\n  y[m] = x[m]\n}\n',
        "p.ucut:5:8: error[E105]",
        "p.ucut:5:19: error[E119]: there is no source `k.cu`",
        command="compile p.ucut --out out",
    ),
    *(
        of(
            f"a search of a program with {option.split()[0]}{option[-3:]}",
            ONE + "y[m] = x[m]\n",
            *says,
            "hint: ",
            command=f"optimize p.ucut {option}",
        )
        for option, *says in (
            ("--eval", "--eval is of no use for p.ucut: a program of equations has no mode", "leave --eval out"),
        )
    ),
    of(
        "a search of a program of another module",
        ONE + "y[m] = x[m] + 1\n",
        "p.ucut does not compute m.py: ",
        "`solstice import m.py` prints what it has to compute",
        command="optimize p.ucut --of m.py --device model",
        more={"m.py": DOUBLED},
    ),
    of(
        "a search of a program of a module with fewer inputs",
        "program p\ndim M = 4\ninput x : f32[M]\ninput w : f32[M]\noutput y : f32[M]\ny[m] = x[m] + w[m]\n",
        "p.ucut has another interface than the module: it takes 1 tensors, and the program has 2 inputs",
        command="optimize p.ucut --of m.py --device model",
        more={"m.py": DOUBLED},
    ),
    Situation(
        "a module of no program",
        "optimize --of m.py --resume last",
        ("--of names the module that a program computes, and no program was given", "a run that goes on has its own"),
        {"m.py": GOOD},
    ),
    Situation(
        "a module of a module",
        "optimize m.py --of m.py",
        ("--of names the module that a program computes, and m.py is none", "leave --of out"),
        {"m.py": GOOD},
    ),
    of(
        "a name behind a program",
        ONE + "y[m] = x[m]\n",
        "p.ucut is a program, not a module",
        "`solstice optimize p.ucut` searches kernels for its equations",
        command="optimize p.ucut:y",
    ),
    of(
        "a search of a program with a mistake",
        UNKNOWN_INDEX,
        "p.ucut:5:10: error[",
        "p.ucut has 1 mistake",
        command="optimize p.ucut",
    ),
    of("a search of no program", ONE, "no file q.ucut", command="optimize q.ucut"),
    of(
        "a search of a program that is not built",
        ONE.replace("dim", "numerics budget(rel=1e-3)\ndim") + "y[m] = x[m]\n",
        "p.ucut:2",
        "not yet: `numerics budget`",
        command="optimize p.ucut",
    ),
]
