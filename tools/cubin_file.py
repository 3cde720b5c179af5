"""What a cubin's ELF sections say of its kernels, read apart from src/toolchain/cubin.cpp so that both can be compared
with it.

The attributes of .nv.info are (format, attribute, size or value, ..) as `cuobjdump -elf` prints them.
"""

import struct
from dataclasses import dataclass

SIZED, BYTE = 4, 2  # formats: a value of `size` bytes follows; the value is in the record
REGISTERS, FRAME, THREADS, BARRIERS = (
    0x2F,
    0x11,
    0x05,
    0x4C,
)  # EIATTR_REGCOUNT, _FRAME_SIZE, _MAX_THREADS, _NUM_BARRIERS
SECTION, SYMBOL = "<IIQQQQIIQQ", "<IBBHQQ"


@dataclass
class CubinKernel:
    registers: int = 0
    stack: int = 0
    barriers: int = 0
    shared: int = 0  # static
    threads: int = 0  # most of a block; 0: not said


def text_at(table, offset):
    return table[offset : table.index(b"\0", offset)].decode()


def sections_of(data):
    if data[:4] != b"\x7fELF":
        raise ValueError("no ELF file")
    (table,) = struct.unpack_from("<Q", data, 40)
    step, count, names = struct.unpack_from("<HHH", data, 58)
    heads = [struct.unpack_from(SECTION, data, table + i * step) for i in range(count)]

    def content(head):
        return b"" if head[1] == 8 else data[head[4] : head[4] + head[5]]

    return [(text_at(content(heads[names]), head[0]), head[5], content(head)) for head in heads]


def attributes(info):
    at = 0
    while at + 4 <= len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if form == SIZED:
            yield attribute, info[at : at + size]
            at += size
        elif form == BYTE:
            yield attribute, size & 0xFF


def kernels_in(data):
    """By entry."""
    sections = sections_of(data)
    by_name = {name: content for name, _, content in sections}
    symbols = [
        text_at(by_name[".strtab"], struct.unpack_from(SYMBOL, by_name[".symtab"], i)[0])
        for i in range(0, len(by_name[".symtab"]), struct.calcsize(SYMBOL))
    ]
    out = {name[len(".text.") :]: CubinKernel() for name in by_name if name.startswith(".text.")}
    for attribute, value in attributes(by_name.get(".nv.info", b"")):
        if attribute not in (REGISTERS, FRAME):
            continue
        symbol, number = struct.unpack("<II", value)
        if symbols[symbol] in out:
            setattr(out[symbols[symbol]], "registers" if attribute == REGISTERS else "stack", number)
    for name, size, content in sections:
        if name.startswith(".nv.info."):
            kernel = out[name[len(".nv.info.") :]]
            for attribute, value in attributes(content):
                if attribute == THREADS:
                    x, y, z = struct.unpack("<III", value)
                    kernel.threads = x * y * z
                if attribute == BARRIERS:
                    kernel.barriers = value
        if name.startswith(".nv.shared.") and name[len(".nv.shared.") :] in out:
            out[name[len(".nv.shared.") :]].shared = size
    return out
