"""Programs whose kernels tools/check_sources.py compares: about ten of each built family, of the forms that its knobs
choose between."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

PRODUCT = """program product
dim M = {m}, K = {k}, N = {n}
input x : f32[M, K]
input w : f32[N, K]
input b : f32[N]
output y : f32[M, N]
kernel k by gemm({knobs}) {{
  z[m,n] = sum[k](x[m,k] * w[n,k]) + b[n]
  y[m,n] = {after}
}}
"""
RELU, SOFTMAX = "max(z[m,n], 0)", "exp(z[m,n] - max[j](z[m,j])) / sum[j](exp(z[m,j] - max[i](z[m,i])))"
# m, k, n, knobs
GEMM = [
    (1024, 1024, 2048, "math=fp16x3, tile=128x256x64, cluster=2x1"),
    (1024, 512, 1024, "math=fp16x3, tile=128x128, cluster=1x1"),
    (1000, 520, 1000, "math=fp16x3, tile=128x64"),
    (512, 1024, 512, "math=bf16x6, tile=64x128"),
    (1024, 1024, 1024, "math=fp16x3, tile=64x64, stages=3"),
    (768, 2048, 768, "math=tf32x3, tile=64x64"),
    (2048, 1024, 1024, "math=fp16x3, tile=128x128, split=4"),
    (512, 512, 512, "math=simt, tile=128x128"),
    (96, 4096, 64, "math=simt, tile=32x32"),
    (8, 4096, 4096, "math=fp16x3, stream=columns"),
]

ROWS_HEAD = """program p
dim R = {r}, C = {c}
input x : {type}[R, C]
output y : {type}[R, C]
kernel k by rows({knobs}) {{
{body}}}
"""
SOFTMAX_ROWS = "  e[r,c] = exp(x[r,c] - max[c](x[r,c]))\n  y[r,c] = e[r,c] / sum[c](e[r,c])\n"
NORM_ROWS = "  s[r] = sum[c](x[r,c] ** 2)\n  y[r,c] = x[r,c] / sqrt(s[r] / C + 0.00001)\n"
ROWS = [
    (4096, 1024, "f32", "", SOFTMAX_ROWS),
    (4096, 1023, "f32", "", SOFTMAX_ROWS),
    (512, 16384, "f32", "residency=registers, threads=512", SOFTMAX_ROWS),
    (512, 16384, "f32", "residency=shared, threads=256", SOFTMAX_ROWS),
    (512, 65536, "f32", "cluster=4", SOFTMAX_ROWS),
    (64, 262144, "f32", "team=8", SOFTMAX_ROWS),
    (2048, 2048, "bf16", "rows_per_block=2", SOFTMAX_ROWS),
    (4096, 4096, "f32", "residency=l2", NORM_ROWS),
    (8192, 512, "f16", "", NORM_ROWS),
    (1024, 8192, "f32", "vector=2, threads=128", SOFTMAX_ROWS),
]

MAP_HEAD = """program p
dim R = {r}, C = {c}
input x : {type}[R, C]
input b : {type}[C]
output y : {type}[R, C]
kernel k by map({knobs}) {{
  y[r,c] = {body}
}}
"""
MAP = [
    (4096, 4096, "f32", "", "x[r,c] + b[c]"),
    (4096, 4096, "f32", "vector=1, unroll=1", "x[r,c] + b[c]"),
    (4096, 4096, "f32", "vector=2, unroll=4", "gelu(x[r,c])"),
    (4096, 4096, "f16", "vector=8", "gelu(x[r,c] * b[c])"),
    (4096, 4096, "bf16", "threads=512", "tanh(x[r,c])"),
    (4095, 4097, "f32", "", "exp(x[r,c])"),
    (1024, 1000, "f32", "threads=1024", "x[r,c] / (1 + abs(x[r,c]))"),
    (2048, 2048, "f32", "streaming=both", "x[r,c] ** 2"),
    (2048, 2048, "f32", "rows=4", "max[i<3](x[r+i-1,c else -inf])"),
    (333, 77, "f16", "unroll=2", "sigmoid(x[r,c])"),
]

REDUCE_HEAD = """program p
dim R = {r}, C = {c}
input x : {type}[R, C]
output y : {out}
kernel k by reduce({knobs}) {{
  y{at} = {body}
}}
"""
COLUMN, ROW = ("f32[C]", "[c]"), ("f32[R]", "[r]")
REDUCE = [
    (4096, 4096, "f32", COLUMN, "", "sum[r](x[r,c])"),
    (4096, 4097, "f32", COLUMN, "", "sum[r](x[r,c])"),
    (65536, 512, "f32", COLUMN, "split=16", "sum[r](x[r,c])"),
    (4096, 4096, "f16", COLUMN, "vector=8", "max[r](x[r,c])"),
    (4096, 4096, "bf16", COLUMN, "threads=512", "sum[r](x[r,c] ** 2)"),
    (2048, 1000, "f32", COLUMN, "vector=1, columns=4", "min[r](x[r,c])"),
    (2048, 2048, "f32", COLUMN, "vector=1, stages=4", "sum[r](abs(x[r,c]))"),
    (4096, 64, "f32", COLUMN, "split=1, threads=64", "sum[r](x[r,c])"),
    (4096, 4096, "f32", ROW, "", "sum[c](x[r,c])"),
    (512, 512, "f32", COLUMN, "rows=8", "sum[r](exp(x[r,c]))"),
]

SCAN_HEAD = """program p
dim R = {r}, C = {c}
input x : {type}[R, C]
output y : {type}[R, C]
kernel k by scan({knobs}) {{
  y[r,c] = {body}
}}
"""
PREFIX = "sum[j where j <= c](x[r,j])"
SCAN = [
    (4096, 4096, "f32", "", PREFIX),
    (4096, 4096, "f32", "sharing=block, threads=256, items=8, stages=0, vector=4", PREFIX),
    (4096, 4096, "f32", "sharing=block, threads=256, items=8, stages=0, vector=1", PREFIX),
    (8, 1048576, "f32", "sharing=grid", PREFIX),
    (1024, 1000, "f32", "", PREFIX),
    (1024, 1001, "f32", "threads=128", PREFIX),
    (2048, 2048, "f32", "stages=3", "max[j where j <= c](x[r,j])"),
    (2048, 2048, "f16", "items=16", PREFIX),
    (512, 8192, "f32", "threads=512", "prod[j where j <= c](x[r,j])"),
    (512, 2048, "f32", "items=4", "sum[j where j >= c](x[r,j])"),
]


def generated(family):
    if family == "gemm":
        for m, k, n, knobs in GEMM:
            yield PRODUCT.format(m=m, k=k, n=n, knobs=knobs, after=RELU)
        yield PRODUCT.format(m=2048, k=512, n=256, knobs="math=fp16x3, tile=128x256, cluster=1x1", after=SOFTMAX)
    if family == "rows":
        for r, c, type_, knobs, body in ROWS:
            yield ROWS_HEAD.format(r=r, c=c, type=type_, knobs=knobs, body=body)
    if family in ("map", "scan"):
        for r, c, type_, knobs, body in {"map": MAP, "scan": SCAN}[family]:
            yield {"map": MAP_HEAD, "scan": SCAN_HEAD}[family].format(r=r, c=c, type=type_, knobs=knobs, body=body)
    if family == "reduce":
        for r, c, type_, (out, at), knobs, body in REDUCE:
            yield REDUCE_HEAD.format(r=r, c=c, type=type_, out=out, at=at, knobs=knobs, body=body)


# Of the corpus of sick kernels: device code that spills, has arrays, barriers, atomics, much shared memory.
GIVEN = [
    "atomics_row",
    "banks_transpose",
    "barriers_neighbour",
    "divergence_lanes",
    "double_constants",
    "local_channels",
]
GIVEN += ["narrow_stores_outer", "occupancy_shared", "spill_tile", "spill_tile_mild", "uncoalesced_chunks"]


def given():
    """Programs with their files inside."""
    for folder in GIVEN:
        program = ROOT / "tests/sick" / folder / "sick.ucut"
        text = program.read_text()
        for name in sorted(set(re.findall(r'by cuda\("([^"]+)"', text))):
            text += f'source "{name}" """\n{(program.parent / name).read_text()}"""\n'
        yield text


def programs_of(family, most):
    """Texts, at most so many."""
    found = list(given() if family == "cuda" else generated(family))
    return found[:most]
