"""Grouped products in Triton: the opponents of `by gemm(grouped=true)`, as fast as we could make them.

Rows are sorted by group (`ends`: where each ends), which the kernels here are given for nothing. Forward:
`y[m, n] = sum_k x[m, k] w[e[m], n, k]`. Gradient: `dw[g, n, k] = sum over the rows of g of dy[m, n] x[m, k]`. Every
kernel is persistent or one block a tile, reads through tensor descriptors (TMA) and is tuned over tiles, stages, warps
and the order of its tiles.
"""

import itertools

import torch
import triton
import triton.language as tl


@triton.jit
def _place(tile, tiles_m, tiles_n, GROUP: tl.constexpr):
    """Row and column of a tile, walked in groups of GROUP row tiles."""
    per_group = GROUP * tiles_n
    first = tile // per_group * GROUP
    height = min(tiles_m - first, GROUP)
    inside = tile % per_group
    return first + inside % height, inside // height


@triton.jit
def _store_rows(out, value, m, n, BM: tl.constexpr, BN: tl.constexpr, HALVES: tl.constexpr):
    """By the copy engine; in two halves it needs half of the shared memory."""
    if HALVES:
        left, right = tl.split(tl.permute(tl.reshape(value, (BM, 2, BN // 2)), (0, 2, 1)))
        out.store([m, n], left.to(tl.bfloat16))
        out.store([m, n + BN // 2], right.to(tl.bfloat16))
    else:
        out.store([m, n], value.to(tl.bfloat16))


@triton.jit
def _forward_tile(x, w, y, y_rows, begin, end, g, i, j, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                  CLIP: tl.constexpr, HALVES: tl.constexpr):  # fmt: skip
    m, n = begin + i * BM, j * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        a = x.load([m, k])
        b = w.load([g, n, k]).reshape(BN, BK)
        acc = tl.dot(a, b.T, acc)
    if CLIP:  # y_rows is a descriptor that ends with the group
        _store_rows(y_rows, acc, m, n, BM, BN, HALVES)
    else:
        rows, columns = m + tl.arange(0, BM), n + tl.arange(0, BN)
        at = y + rows.to(tl.int64)[:, None] * N + columns[None, :]
        tl.store(at, acc.to(tl.bfloat16), mask=(rows[:, None] < end) & (columns[None, :] < N))


@triton.jit
def forward_walk(x, w, y, ends, tiles, total, R, N, K, G, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                 GROUP: tl.constexpr, SMS: tl.constexpr, CLIP: tl.constexpr, HALVES: tl.constexpr):  # fmt: skip
    """Persistent; each block walks the groups, with a descriptor of the result for each."""
    xd = tl.make_tensor_descriptor(x, [R, K], [K, 1], [BM, BK])
    wd = tl.make_tensor_descriptor(w, [G, N, K], [N * K, K, 1], [1, BN, BK])
    tiles_n = tl.cdiv(N, BN)
    tile = tl.program_id(0)
    for g in range(G):
        begin, end = tl.load(ends + g - 1, mask=g > 0, other=0), tl.load(ends + g)
        tiles_m = tl.cdiv(end - begin, BM)
        count = tiles_m * tiles_n
        if tile < count:
            yd = tl.make_tensor_descriptor(y, [end, N], [N, 1], [BM, BN // 2 if HALVES else BN])
            while tile < count:
                i, j = _place(tile, tiles_m, tiles_n, GROUP)
                _forward_tile(xd, wd, y, yd, begin, end, g, i, j, N, K, BM, BN, BK, CLIP, HALVES)
                tile += SMS
        tile -= count


@triton.jit
def forward_flat(x, w, y, ends, tiles, total, R, N, K, G, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                 GROUP: tl.constexpr, SMS: tl.constexpr, CLIP: tl.constexpr, HALVES: tl.constexpr):  # fmt: skip
    """Persistent over a list of row tiles made beforehand; one loop, so that the next tile's loads start early."""
    xd = tl.make_tensor_descriptor(x, [R, K], [K, 1], [BM, BK])
    wd = tl.make_tensor_descriptor(w, [G, N, K], [N * K, K, 1], [1, BN, BK])
    tiles_n = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), total * tiles_n, SMS, flatten=True):
        i, j = _place(tile, total, tiles_n, GROUP)
        g, m = tl.load(tiles + 2 * i), tl.load(tiles + 2 * i + 1)
        end = tl.load(ends + g)
        n = j * BN
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, K, BK):
            a = xd.load([m, k])
            b = wd.load([g, n, k]).reshape(BN, BK)
            acc = tl.dot(a, b.T, acc)
        rows, columns = m + tl.arange(0, BM), n + tl.arange(0, BN)
        at = y + rows.to(tl.int64)[:, None] * N + columns[None, :]
        tl.store(at, acc.to(tl.bfloat16), mask=(rows[:, None] < end) & (columns[None, :] < N))


@triton.jit
def forward_tiles(x, w, y, ends, tiles, total, R, N, K, G, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                  GROUP: tl.constexpr, SMS: tl.constexpr, CLIP: tl.constexpr, HALVES: tl.constexpr):  # fmt: skip
    """One block a tile, from the list of row tiles."""
    xd = tl.make_tensor_descriptor(x, [R, K], [K, 1], [BM, BK])
    wd = tl.make_tensor_descriptor(w, [G, N, K], [N * K, K, 1], [1, BN, BK])
    i, j = _place(tl.program_id(0), total, tl.cdiv(N, BN), GROUP)
    g, m = tl.load(tiles + 2 * i), tl.load(tiles + 2 * i + 1)
    end = tl.load(ends + g)
    yd = tl.make_tensor_descriptor(y, [end, N], [N, 1], [BM, BN // 2 if HALVES else BN])
    _forward_tile(xd, wd, y, yd, m, end, g, 0, j, N, K, BM, BN, BK, CLIP, HALVES)


@triton.jit
def _store_matrix(out, value, g, m, n, BM: tl.constexpr, BN: tl.constexpr, HALVES: tl.constexpr):
    if HALVES:
        left, right = tl.split(tl.permute(tl.reshape(value, (BM, 2, BN // 2)), (0, 2, 1)))
        out.store([g, m, n], left.to(tl.bfloat16).reshape(1, BM, BN // 2))
        out.store([g, m, n + BN // 2], right.to(tl.bfloat16).reshape(1, BM, BN // 2))
    else:
        out.store([g, m, n], value.to(tl.bfloat16).reshape(1, BM, BN))


@triton.jit
def _gradient_tile(dy, x, dw, begin, end, g, i, j, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                   MASK: tl.constexpr, HALVES: tl.constexpr):  # fmt: skip
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    if MASK:  # whole stages first, then one with zeros behind the group's end
        whole = begin + (end - begin) // BK * BK
        for r in range(begin, whole, BK):
            a = dy.load([r, i * BM])
            b = x.load([r, j * BN])
            acc = tl.dot(a.T, b, acc)
        if whole < end:
            inside = (whole + tl.arange(0, BK) < end)[:, None]
            a = tl.where(inside, dy.load([whole, i * BM]), 0.0)
            b = tl.where(inside, x.load([whole, j * BN]), 0.0)
            acc = tl.dot(a.T, b, acc)
    else:  # the descriptors end with the group
        for r in range(begin, end, BK):
            a = dy.load([r, i * BM])
            b = x.load([r, j * BN])
            acc = tl.dot(a.T, b, acc)
    _store_matrix(dw, acc, g, i * BM, j * BN, BM, BN, HALVES)


@triton.jit
def gradient_walk(dy, x, dw, ends, R, N, K, G, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                  GROUP: tl.constexpr, SMS: tl.constexpr, MASK: tl.constexpr, HALVES: tl.constexpr):  # fmt: skip
    """Persistent, group by group."""
    wd = tl.make_tensor_descriptor(dw, [G, N, K], [N * K, K, 1], [1, BM, BN // 2 if HALVES else BN])
    tiles_m, tiles_n = tl.cdiv(N, BM), tl.cdiv(K, BN)
    tile = tl.program_id(0)
    for g in range(G):
        begin, end = tl.load(ends + g - 1, mask=g > 0, other=0), tl.load(ends + g)
        rows = R if MASK else end
        yd = tl.make_tensor_descriptor(dy, [rows, N], [N, 1], [BK, BM])
        xd = tl.make_tensor_descriptor(x, [rows, K], [K, 1], [BK, BN])
        while tile < tiles_m * tiles_n:
            i, j = _place(tile, tiles_m, tiles_n, GROUP)
            _gradient_tile(yd, xd, wd, begin, end, g, i, j, N, K, BM, BN, BK, MASK, HALVES)
            tile += SMS
        tile -= tiles_m * tiles_n


@triton.jit
def gradient_flat(dy, x, dw, ends, R, N, K, G, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                  GROUP: tl.constexpr, SMS: tl.constexpr, MASK: tl.constexpr, HALVES: tl.constexpr):  # fmt: skip
    """Persistent, one loop over all tiles; stages behind a group's end are masked."""
    wd = tl.make_tensor_descriptor(dw, [G, N, K], [N * K, K, 1], [1, BM, BN // 2 if HALVES else BN])
    yd = tl.make_tensor_descriptor(dy, [R, N], [N, 1], [BK, BM])
    xd = tl.make_tensor_descriptor(x, [R, K], [K, 1], [BK, BN])
    tiles_m, tiles_n = tl.cdiv(N, BM), tl.cdiv(K, BN)
    per_group = tiles_m * tiles_n
    for tile in tl.range(tl.program_id(0), G * per_group, SMS, flatten=MASK):
        g = tile // per_group
        i, j = _place(tile % per_group, tiles_m, tiles_n, GROUP)
        begin, end = tl.load(ends + g - 1, mask=g > 0, other=0), tl.load(ends + g)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for r in range(begin, end, BK):
            inside = (r + tl.arange(0, BK) < end)[:, None]
            a = tl.where(inside, yd.load([r, i * BM]), 0.0)
            b = tl.where(inside, xd.load([r, j * BN]), 0.0)
            acc = tl.dot(a.T, b, acc)
        _store_matrix(wd, acc, g, i * BM, j * BN, BM, BN, HALVES)


@triton.jit
def gradient_tiles(dy, x, dw, ends, R, N, K, G, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                   GROUP: tl.constexpr, SMS: tl.constexpr, MASK: tl.constexpr, HALVES: tl.constexpr):  # fmt: skip
    """One block a tile."""
    wd = tl.make_tensor_descriptor(dw, [G, N, K], [N * K, K, 1], [1, BM, BN // 2 if HALVES else BN])
    tiles_m, tiles_n = tl.cdiv(N, BM), tl.cdiv(K, BN)
    g = tl.program_id(0) // (tiles_m * tiles_n)
    i, j = _place(tl.program_id(0) % (tiles_m * tiles_n), tiles_m, tiles_n, GROUP)
    begin, end = tl.load(ends + g - 1, mask=g > 0, other=0), tl.load(ends + g)
    rows = R if MASK else end
    yd = tl.make_tensor_descriptor(dy, [rows, N], [N, 1], [BK, BM])
    xd = tl.make_tensor_descriptor(x, [rows, K], [K, 1], [BK, BN])
    _gradient_tile(yd, xd, wd, begin, end, g, i, j, N, K, BM, BN, BK, MASK, HALVES)


# (tile m, n, k, stages, warps)
TILES = [
    (128, 256, 64, 3, 8),
    (128, 256, 64, 4, 8),
    (256, 128, 64, 3, 8),
    (256, 128, 64, 4, 8),
    (128, 128, 64, 4, 8),
    (128, 128, 64, 5, 8),
    (128, 128, 64, 4, 4),
    (128, 128, 128, 3, 8),
    (64, 256, 64, 4, 4),
    (64, 128, 64, 5, 4),
    (128, 64, 64, 5, 4),
]


def configs(kernels, flag, values_of):
    for kernel, (bm, bn, bk, stages, warps) in itertools.product(kernels, TILES):
        for value, halves in itertools.product(values_of(kernel), (False, True)):
            if halves and (bm * bn < 128 * 128 or kernel is forward_flat or (flag == "CLIP" and not value)):
                continue
            meta = dict(BM=bm, BN=bn, BK=bk, GROUP=8, HALVES=halves)
            yield kernel, {**meta, flag: value}, dict(num_stages=stages, num_warps=warps)


def forward_configs():
    return list(
        configs(
            (forward_walk, forward_flat, forward_tiles),
            "CLIP",
            lambda kernel: (False,) if kernel is forward_flat else (True, False),
        )
    )


def gradient_configs():
    return list(configs((gradient_walk, gradient_flat, gradient_tiles), "MASK", lambda kernel: (True, False)))


def row_tiles(offsets, size):
    """(group, first row) of every row tile."""
    out = []
    for g, (begin, end) in enumerate(zip(offsets, offsets[1:])):
        out += [(g, m) for m in range(begin, end, size)]
    return torch.tensor(out or [(0, 0)], dtype=torch.int32, device="cuda"), len(out)


def forward_call(config, x, w, y, ends, host_offsets, sms):
    """A launch of one configuration as a function of nothing. Only forward_walk can do without offsets on the host."""
    kernel, meta, options = config
    (R, K), (G, N, _) = x.shape, w.shape
    tiles, total = row_tiles(host_offsets, meta["BM"]) if host_offsets else (ends, 0)
    grid = (max(1, total * triton.cdiv(N, meta["BN"])) if kernel is forward_tiles else sms,)
    return lambda: kernel[grid](x, w, y, ends, tiles, total, R, N, K, G, SMS=sms, **meta, **options)


def gradient_call(config, dy, x, dw, ends, sms):
    kernel, meta, options = config
    (R, N), (G, _, K) = dy.shape, dw.shape
    grid = (G * triton.cdiv(N, meta["BM"]) * triton.cdiv(K, meta["BN"]) if kernel is gradient_tiles else sms,)
    return lambda: kernel[grid](dy, x, dw, ends, R, N, K, G, SMS=sms, **meta, **options)


def use_allocator():
    """Descriptors made on the device live in memory that the caller provides."""
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))


# What the tuning of bench/speed/grouped.py leaves in front at every shape.
_FRONT = TILES[:2]
_BEST = {}


def _tuned(key, table, kernel, call_of):
    """The call of the fastest configuration, found once for each key."""
    if key not in _BEST:
        use_allocator()
        timed = []
        for config in table:
            tile = tuple(config[1][name] for name in ("BM", "BN", "BK")) + tuple(
                config[2][name] for name in ("num_stages", "num_warps")
            )
            if config[0] is not kernel or tile not in _FRONT:
                continue
            try:
                timed.append((triton.testing.do_bench(call_of(config), warmup=5, rep=20), len(timed), config))
            except triton.runtime.errors.OutOfResources:
                continue
        _BEST[key] = min(timed)[2]
    return call_of(_BEST[key])


def grouped_mm(x, w, ends):
    """y[m, n] = sum_k x[m, k] w[g, n, k] of rows that lie by group."""
    y = torch.empty(x.shape[0], w.shape[1], dtype=x.dtype, device=x.device)
    sms = torch.cuda.get_device_properties(x.device).multi_processor_count
    _tuned(
        ("forward", x.shape, w.shape),
        forward_configs(),
        forward_walk,
        lambda config: forward_call(config, x, w, y, ends, None, sms),
    )()
    return y


def grouped_gradient(dy, x, ends):
    """dw[g, n, k] = sum over the rows of g of dy[m, n] x[m, k]."""
    dw = torch.empty(len(ends), dy.shape[1], x.shape[1], dtype=x.dtype, device=x.device)
    sms = torch.cuda.get_device_properties(x.device).multi_processor_count
    _tuned(
        ("gradient", dy.shape, dw.shape),
        gradient_configs(),
        gradient_walk,
        lambda config: gradient_call(config, dy, x, dw, ends, sms),
    )()
    return dw
