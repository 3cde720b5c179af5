"""Machine code of sm_90a as it lies in a cubin: kernels, their registers and stack, and instructions by name.

Two versions of a kernel are told apart by what their instructions are, which needs no disassembler: an instruction is
128 bits, and the low nine of them name it.
"""

import struct
from collections import Counter
from dataclasses import dataclass

REGISTER_COUNT, FRAME_SIZE = 0x2F, 0x11  # attributes of .nv.info: a symbol's index and a value, four bytes each

# By the low nine bits; bits 9 to 11 say where the second operand comes from.
NAMES = {
    0x02: "MOV", 0x05: "CS2R", 0x07: "SEL", 0x08: "FSEL", 0x09: "FMNMX", 0x0B: "FSETP", 0x0C: "ISETP", 0x10: "IADD3",
    0x11: "LEA", 0x12: "LOP3", 0x13: "IABS", 0x16: "PRMT", 0x19: "SHF", 0x1C: "PLOP3", 0x20: "FMUL", 0x21: "FADD",
    0x23: "FFMA", 0x24: "IMAD", 0x25: "IMAD.WIDE", 0x27: "IMAD.HI", 0x28: "DMUL", 0x29: "DADD", 0x2A: "DSETP",
    0x2B: "DFMA", 0x2F: "ELECT", 0x30: "HADD2", 0x36: "VIADD", 0x3E: "F2FP", 0x44: "STSM", 0x45: "I2FP",
    0x46: "VIADDMNMX", 0x48: "VIMNMX", 0x82: "UMOV", 0x86: "VOTEU", 0x87: "USEL", 0x8C: "UISETP", 0x90: "UIADD3",
    0x91: "ULEA", 0x92: "ULOP3", 0x97: "UIADD3.64", 0x99: "USHF", 0xA4: "UIMAD", 0xA5: "UIMAD.WIDE", 0xB9: "ULDC",
    0xBD: "UFLO", 0xCA: "R2UR", 0x100: "FLO", 0x105: "F2I", 0x106: "I2F", 0x108: "MUFU", 0x110: "F2F", 0x118: "NOP",
    0x119: "S2R", 0x11A: "DEPBAR", 0x11B: "ENDCOLLECTIVE", 0x11D: "BAR", 0x141: "BSYNC", 0x142: "BREAK", 0x144: "CALL",
    0x145: "BSSY", 0x146: "YIELD", 0x147: "BRA", 0x148: "WARPSYNC", 0x14D: "EXIT", 0x181: "LDG", 0x182: "LDC",
    0x183: "LDL", 0x184: "LDS", 0x186: "STG", 0x187: "STL", 0x188: "STS", 0x189: "SHFL", 0x18C: "ATOMS", 0x18F: "CCTL",
    0x192: "MEMBAR", 0x1A7: "SYNCS", 0x1AE: "LDGSTS", 0x1B2: "SYNCS", 0x1B4: "UTMALDG", 0x1B5: "UTMASTG",
    0x1BA: "UBLKCP", 0x1C3: "S2UR", 0x1C5: "WARPGROUP", 0x1C6: "FENCE", 0x1F0: "HGMMA", 0x1F3: "QGMMA",
}  # fmt: skip
MOVES = {"MOV", "UMOV", "IMAD.MOV", "R2UR", "S2UR", "S2R", "CS2R", "NOP"}


@dataclass
class Section:
    content: bytes
    size: int
    info: int


def sections(cubin):
    """{name: Section} of an ELF64 file; a section without content (.nv.shared) stands by its size."""
    (at,) = struct.unpack_from("<Q", cubin, 40)
    size, count, names = struct.unpack_from("<HHH", cubin, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", cubin, at + i * size) for i in range(count)]
    text = headers[names][4]
    out = {}
    for name, kind, _, _, offset, length, _, info, *_ in headers:
        label = cubin[text + name : cubin.index(b"\0", text + name)].decode()
        out[label] = Section(b"" if kind == 8 else cubin[offset : offset + length], length, info)
    return out


def attribute(info, wanted):
    """{index of a symbol: value} of one attribute of .nv.info."""
    out, at = {}, 0
    while at + 4 <= len(info):
        form, kind, length = struct.unpack_from("<BBH", info, at)
        if kind == wanted:
            symbol, value = struct.unpack_from("<II", info, at + 4)
            out[symbol] = value
        at += 4 + (length if form == 4 else 0)
    return out


def name_of(word):
    op = word & 0x1FF
    if op == 0x24 and word >> 24 & 0xFFFF == 0xFFFF:  # zero times zero, plus a register
        return "IMAD.MOV"
    return NAMES.get(op, hex(op))


BRANCH = 0x147


def target_of(code, at):
    """Where the branch at this offset goes: its words of four bytes from the instruction behind it, in 56 bits."""
    low, high = struct.unpack_from("<QQ", code, at)
    far = low >> 34 | (high & 0x3FFFF) << 30
    words = (low >> 16 & 0xFF) | far << 8
    return at + 16 + 4 * (words - (1 << 56 if words >> 55 else 0))


def product_loops(code, names):
    """Instructions of the innermost loops that hold tensor-core instructions, sorted."""
    loops, inner = [], set()
    for i in range(len(names)):
        if struct.unpack_from("<Q", code, 16 * i)[0] & 0x1FF == BRANCH and (to := target_of(code, 16 * i)) <= 16 * i:
            loops.append((to // 16, i))
    for i, name in enumerate(names):
        around = [loop for loop in loops if loop[0] <= i <= loop[1]]
        if name in ("HGMMA", "QGMMA") and around:
            inner.add(min(around, key=lambda loop: loop[1] - loop[0]))
    return sorted(last - first + 1 for first, last in inner)


@dataclass
class Kernel:
    registers: int
    stack: int
    instructions: list  # names, in order
    code: bytes

    def loops(self):
        return product_loops(self.code, self.instructions)

    def spills(self):
        return sum(name in ("LDL", "STL") for name in self.instructions)


def kernels(cubin):
    """The kernels of a cubin, in the order of their names."""
    found = sections(cubin)
    registers, stack = (attribute(found[".nv.info"].content, kind) for kind in (REGISTER_COUNT, FRAME_SIZE))
    out = []
    for name, section in sorted(found.items()):
        if not name.startswith(".text."):
            continue
        symbol, code = section.info & 0xFFFFFF, section.content
        words = [struct.unpack_from("<Q", code, at)[0] for at in range(0, len(code), 16)]
        while words and name_of(words[-1]) in ("NOP", "BRA"):  # fill the last line
            words.pop()
        out.append(Kernel(registers.get(symbol, 0), stack.get(symbol, 0), [name_of(word) for word in words], code))
    return out


def changed(what, before, after):
    return f"{what} {before}" if before == after else f"{what} {before} -> {after}"


def difference(before, after):
    """(kind, text) of how two versions of a kernel differ."""
    text = ", ".join([
        changed("registers", before.registers, after.registers),
        changed("stack", before.stack, after.stack),
        changed("spills", before.spills(), after.spills()),
        changed("instructions", len(before.instructions), len(after.instructions)),
        changed("loops of products", before.loops(), after.loops()),
    ])  # fmt: skip
    if before.instructions == after.instructions:
        return "the same instructions of other registers or constants", text
    counts = Counter(after.instructions)
    counts.subtract(Counter(before.instructions))
    counts = {name: n for name, n in counts.items() if n}
    if not counts:
        return "the same instructions in another order", text
    # More of these, and the compiler has ended each product before the next begins.
    if counts.get("WARPGROUP", 0) > 0 and not counts.get("HGMMA", 0) and not counts.get("QGMMA", 0):
        return "products no longer overlap", text
    text += ": " + " ".join(f"{name}{n:+}" for name, n in sorted(counts.items(), key=lambda x: -abs(x[1])))
    return "the same but for moves" if counts.keys() <= MOVES else "other instructions", text
