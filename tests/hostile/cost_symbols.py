"""Captures for cost.py with files beside them: ELF files that make symbols, labels, PLT entries, segments, names of one file
and call frame information as many or as long as they can be."""
import os
import struct

from cost_archives import leb

BASE, TEXT = 0x400000, 0x1000


def section(name, kind, addr, offset, size, link=0, entsize=0):
    return struct.pack("<IIQQQQIIQQ", name, kind, 0, addr, offset, size, link, 0, 1, entsize)


def symbol(name, value, size, info=0x12):
    return struct.pack("<IBBHQQ", name, info, 0, 1, value, size)


def elf(path, sections, segments=1, machine=62):
    """Writes an ELF file; `sections`: (name, type, address, content, link, entsize) from number 1, which is the code, on."""
    names, body, table = b"\0", b"", section(0, 0, 0, 0, 0)
    at = 64 + 56 * segments
    for name, kind, addr, content, link, entsize in sections:
        table += section(len(names), kind, addr, at + len(body), len(content), link, entsize)
        names += name + b"\0"
        body += content
    table += section(0, 3, 0, at + len(body), len(names))
    body += names
    # Of many segments only the last has the code.
    load = struct.pack("<IIQQQQQQ", 1, 5, 1 << 40, 1 << 40, 1 << 40, 1, 1, 1) * (segments - 1) + \
        struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 0x100000, 0x100000, 4096)
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, at + len(body), 0, 64, 56, segments,
                                                     64, len(sections) + 2, len(sections) + 1)
    content = head + load + body + table
    open(path, "wb").write(content)
    return len(content)


def record(kind, body):
    return struct.pack("<IHH", kind, 2, 8 + len(body)) + body


def capture(path, files, samples):
    """A capture in which process 7 maps the files in turn and has the samples: (number of the file, offset)."""
    records = b""
    for i, name in enumerate(files):
        text = name + b"\0" * (8 - len(name) % 8)
        records += record(1, struct.pack("<IIQQQ", 7, 7, BASE + (i << 24), 0x100000, 0) + text)
    for i, (number, offset) in enumerate(samples):
        records += record(9, struct.pack("<QIIQ", BASE + (number << 24) + offset, 7, 7, 1000 + i))
    return put(path, records)


def put(path, records):
    """A capture of these records, with samples of address, thread and time."""
    attr = struct.pack("<IIQQQQQ", 1, 112, 0, 1, 1 | 2 | 4, 0, 0) + bytes(64)
    attrs = attr + struct.pack("<QQ", 0, 0)
    words = struct.pack("<8Q", 104, len(attrs), 104, len(attrs), 104 + len(attrs), len(records), 0, 0)
    content = b"PERFILE2" + words + bytes(32) + attrs + records
    open(path, "wb").write(content)
    return len(content)


def stacks(path, name, offsets):
    """A capture with user registers and copied stacks of 64 bytes of x86-64, at offsets in one file."""
    text = name + b"\0" * (8 - len(name) % 8)
    records = record(1, struct.pack("<IIQQQ", 7, 7, BASE, 0x1000000, 0) + text)
    for i, offset in enumerate(offsets):
        registers = struct.pack("<Q9Q", 2, 0, 0, 0, 0, 0, 0, 0x7000, 0x6ff0, BASE + offset)
        records += record(9, struct.pack("<QIIQQ", BASE + offset, 7, 7, 1000 + i, 0) + registers +
                          struct.pack("<Q", 64) + bytes(64) + struct.pack("<Q", 64))
    attr = struct.pack("<IIQQQQQ", 1, 112, 0, 1, 0x3027, 0, 0) + bytes(32) + struct.pack("<QI", 0x1ff, 64) + bytes(20)
    attrs = attr + struct.pack("<QQ", 0, 0)
    arch = struct.pack("<I", 8) + b"x86_64\0\0"
    end = 104 + len(attrs) + len(records)
    words = struct.pack("<8Q", 104, len(attrs), 104, len(attrs), 104 + len(attrs), len(records), 0, 0)
    content = b"PERFILE2" + words + (1 << 6).to_bytes(32, "little") + attrs + records + \
        struct.pack("<QQ", end + 16, len(arch)) + arch
    open(path, "wb").write(content)
    return len(content)


def one_file(path, samples=((0, TEXT),), **made):
    name = os.path.abspath(path) + ".elf"
    return elf(name, **made) + capture(path, [name.encode()], samples)


def code(name=b".text"):
    return (name, 1, TEXT, bytes(64), 0, 0)


def one_address(path, size):
    """Half of the file is one name, and each symbol has a part of it."""
    n = size // 48
    strings = b"\0" + b"_" * (size // 2) + b"\0"
    return one_file(path, sections=[code(), (b".strtab", 3, 0, strings, 0, 0),
                                    (b".symtab", 2, 0, b"".join(symbol(i, TEXT, 16) for i in range(1, n)), 2, 24)])


def labels(path, size):
    """Labels in a section whose name is half of the file."""
    return one_file(path, sections=[code(b"t" * (size // 2)), (b".strtab", 3, 0, b"\0m\0", 0, 0),
                                    (b".symtab", 2, 0, b"".join(symbol(1, TEXT + i, 0, 0x10) for i in range(size // 48)), 2, 24)])


def plt(path, size):
    """Relocations of one symbol with a long name."""
    n = size // 32
    return one_file(path, machine=3, sections=[
        code(), (b".dynstr", 3, 0, b"\0" + b"a" * 4080 + b"\0", 0, 0),
        (b".dynsym", 11, 0, symbol(0, 0, 0, 0) + symbol(1, TEXT, 16), 2, 24), (b".plt", 1, 0x2000, bytes(16 * (n + 1)), 0, 16),
        (b".rel.plt", 9, 0, struct.pack("<QQ", 0, 1 << 32 | 7) * n, 3, 16)])


def segments(path, size):
    """As many segments as half of the bytes can be, and samples in the last."""
    return one_file(path, samples=[(0, TEXT + i % 4096) for i in range(size // 64)], segments=min(65535, size // 112),
                    sections=[code(), (b".strtab", 3, 0, b"\0main\0", 0, 0),
                              (b".symtab", 2, 0, symbol(0, 0, 0, 0) + symbol(1, TEXT, 4096), 2, 24)])


def aliases(path, size):
    """Many names of one file, of half of the bytes."""
    name, n = os.path.abspath(path) + ".elf", max(1, size // 1024)
    folder, base = os.path.split(name)
    written = elf(name, [code(), (b".strtab", 3, 0, b"\0main\0", 0, 0),
                         (b".symtab", 2, 0, b"".join(symbol(1, TEXT + i, 1) for i in range(size // 48)), 2, 24)])
    files = [("%s/%s%s%s" % (folder, "./" * (i % 40), "/" * (i // 40), base)).encode() for i in range(n)]
    return written + capture(path, files, [(i, TEXT) for i in range(n)])


def debuglink(path, size):
    """A debug file of the right name that is as long as no one can read, and empty for the most part."""
    debug = os.path.abspath(path) + ".debug"
    elf(debug, [code(), (b".strtab", 3, 0, b"\0main\0", 0, 0), (b".symtab", 2, 0, symbol(1, TEXT, 16), 2, 24)])
    os.truncate(debug, 16 << 30)
    link = os.path.basename(debug).encode() + b"\0"
    return one_file(path, sections=[code(), (b".gnu_debuglink", 1, 0, link + bytes(-len(link) % 4) + bytes(4), 0, 0),
                                    (b".padding", 1, 0, bytes(size), 0, 0)])


def frames(path, head, one, n):
    """Call frame information: a common entry, and `n` functions of it whose entries end with `one`."""
    name = os.path.abspath(path) + ".elf"
    common = struct.pack("<I", 0) + b"\1\0" + head + b"\x10"
    frame = bytearray(struct.pack("<I", len(common)) + common)
    for i in range(n):
        body = struct.pack("<QQ", TEXT, 0x100000) + one
        frame += struct.pack("<II", 4 + len(body), len(frame) + 4) + body
    return elf(name, [code(), (b".eh_frame", 1, 0x200000, bytes(frame), 0, 0)]) + \
        stacks(path, name.encode(), [TEXT + 16 + i for i in range(n)])


def long_number(path, size):
    """Functions of a common entry with a number of half of the bytes."""
    return frames(path, b"\x80" * (size // 2) + b"\1" + b"\x78", b"", size // 512)


def long_program(path, size):
    """A program with a number of half of the bytes, and many addresses at which it is asked for."""
    name = os.path.abspath(path) + ".elf"
    common = struct.pack("<I", 0) + b"\1\0" + b"\1\x78\x10" + b"\x0c\x07\x08\x90\x01"
    frame = struct.pack("<I", len(common)) + common
    body = struct.pack("<QQ", TEXT, 0x100000) + b"\x2e" + b"\x80" * (size // 2) + b"\0"
    frame += struct.pack("<II", 4 + len(body), len(frame) + 4) + body
    return elf(name, [code(), (b".eh_frame", 1, 0x200000, frame, 0, 0)]) + \
        stacks(path, name.encode(), [TEXT + 16 + i for i in range(size // 512)])


def programs(path, size):
    """A program of 8 KiB, and many addresses at which all of it is executed."""
    name = os.path.abspath(path) + ".elf"
    common = struct.pack("<I", 0) + b"\1\0" + b"\1\x78\x10" + b"\x0c\x07\x08\x90\x01"
    frame = struct.pack("<I", len(common)) + common
    body = struct.pack("<QQ", TEXT, 0x100000) + b"\x0a\x0b" * 4096
    frame += struct.pack("<II", 4 + len(body), len(frame) + 4) + body
    return elf(name, [code(), (b".eh_frame", 1, 0x200000, frame, 0, 0)]) + \
        stacks(path, name.encode(), [TEXT + 16 + i for i in range(size // 512)])


# Of debug information: what a compilation unit with lines, one without, a function, one with ranges and an inlined one have.
ABBREVIATIONS = b"".join(leb(i + 1) + tag + b"".join(leb(n) + leb(f) for n, f in attributes) + b"\0\0" for i, (tag, attributes) in enumerate([
    (b"\x11\1", [(3, 8), (0x11, 1), (0x12, 7), (0x10, 0x17)]), (b"\x11\0", [(0x11, 1), (0x12, 7)]),
    (b"\x2e\1", [(3, 8), (0x11, 1), (0x12, 7)]), (b"\x2e\0", [(0x55, 0x17)]), (b"\x1d\0", [(0x11, 1), (0x12, 0xb)])]))


def unit(entries):
    body = struct.pack("<HIB", 4, 0, 8) + entries
    return struct.pack("<I", len(body)) + body


def first_unit(entries):
    """A unit with a function that covers all, and `entries` in it."""
    function = b"\3main\0" + struct.pack("<QQ", TEXT, 0x100000) + entries + b"\0"
    return unit(b"\1a.c\0" + struct.pack("<QQI", TEXT, 0x100000, 0) + function + b"\0")


def debug(path, info, samples=((0, TEXT),), lines=b"", ranges=b"", abbreviations=ABBREVIATIONS):
    """A file with debug information."""
    return one_file(path, samples, sections=[
        code(), (b".strtab", 3, 0, b"\0main\0", 0, 0), (b".symtab", 2, 0, symbol(0, 0, 0, 0) + symbol(1, TEXT, 0x100000), 2, 24),
        (b".debug_abbrev", 1, 0, abbreviations + b"\0", 0, 0), (b".debug_info", 1, 0, info, 0, 0),
        (b".debug_line", 1, 0, lines, 0, 0), (b".debug_ranges", 1, 0, ranges, 0, 0)])


def debug_lines(path, size):
    """A program of lines, of which each byte is a row."""
    head = bytes([1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]) + b"\0a.c\0\0\0\0\0"
    body = struct.pack("<HI", 3, len(head)) + head + b"\0\x09\2" + struct.pack("<Q", TEXT) + b"\x14" * size + b"\0\1\1"
    return debug(path, first_unit(b""), lines=struct.pack("<I", len(body)) + body)


def debug_ranges(path, size):
    """Functions of half of the bytes that share a list of addresses."""
    return debug(path, first_unit((b"\4" + bytes(4)) * (size // 10)), ranges=struct.pack("<QQ", 1, 1) * (size // 32) + bytes(16))


def debug_inlined(path, size):
    """A function with many inlined ones, none of which is at the addresses."""
    return debug(path, first_unit((b"\5" + struct.pack("<QB", 0x900000, 1)) * (size // 20)),
                 samples=[(0, TEXT + i) for i in range(size // 128)])


def debug_abbreviations(path, size):
    """Units that all have the last of many abbreviations."""
    n = size // 32
    table = b"".join(leb(i + 2) + b"\x34\0\0\0" for i in range(n)) + b"\1\x11\0\x11\1\x12\7\0\0"
    return debug(path, b"".join(unit(b"\1" + struct.pack("<QQ", TEXT + 16 * i, 16)) for i in range(n)), abbreviations=table)


def base36(n):
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return ("" if n < 36 else base36(n // 36)) + digits[n % 36]


def manglings(path, size):
    """Names that take the demangler very long: each argument of a pack has the one before it twice, binders are without end."""
    names, table, n = b"\0", symbol(0, 0, 0, 0), max(8, size // 1024)
    pack = "Pi"
    for level in range(45):
        pack = "Fv%sS%s_E" % (pack, base36(level))
    for i in range(n):
        table += symbol(len(names), TEXT + 16 * i, 16)
        names += (("_Z%df%dIDp" % (len(str(i)) + 1, i)) + pack + "Evv" if i % 2 else "_RNvC1a1bINvC1a1bFGzzzzzzzzz%d_EuE" % i).encode() + b"\0"
    return one_file(path, [(0, TEXT + 16 * i) for i in range(n)], sections=[
        code(), (b".strtab", 3, 0, names, 0, 0), (b".symtab", 2, 0, table, 2, 24)])


def long_functions(path, size):
    """Chains of functions of the longest names, no two of which are alike."""
    names = [c * 4090 for c in (b"n", b"m")]
    strings = b"\0" + b"".join(name + b"\0" for name in names)
    symbols = symbol(0, 0, 0, 0) + symbol(1, TEXT, 16) + symbol(4092, TEXT + 16, 16)
    name = os.path.abspath(path) + ".elf"
    n = elf(name, [code(), (b".symtab", 2, 0, symbols, 3, 24), (b".strtab", 3, 0, strings, 0, 0)])
    text = name.encode() + b"\0" * (8 - len(name) % 8)
    records = record(1, struct.pack("<IIQQQ", 7, 7, BASE, 0x100000, 0) + text)
    for i in range(max(1, size // 4 // 1060)):
        chain = [BASE + TEXT + 16 * (i >> k % 16 & 1) for k in range(127)]
        records += record(9, struct.pack("<QIIQQQ", chain[0], 7, 7, 1000 + i, 128, (1 << 64) - 512) +
                          struct.pack("<127Q", *chain))
    attr = struct.pack("<IIQQQQQ", 1, 112, 0, 1, 0x27, 0, 0) + bytes(64) + bytes(16)
    words = struct.pack("<8Q", 104, len(attr), 104, len(attr), 104 + len(attr), len(records), 0, 0)
    content = b"PERFILE2" + words + bytes(32) + attr + records
    open(path, "wb").write(content)
    return n + len(content)


# Larger than other inputs: files of this kind are read fast, so that what is quadratic shows late.
INPUTS = {"symbols-" + f.__name__: lambda path, size, f=f: f(path, 4 * size)
          for f in (one_address, labels, plt, segments, aliases, debuglink, long_number,
                    long_program, programs, debug_lines, debug_ranges, debug_inlined, debug_abbreviations, manglings,
                    long_functions)}

# What perfile-symbolizer may have on top for them, whatever their size: format/limits.md.
BY_SYMBOLIZER = {"symbols-debug_lines", "symbols-debug_ranges", "symbols-debug_inlined", "symbols-debug_abbreviations",
                 "symbols-manglings"}
SYMBOLIZER_MEMORY, SYMBOLIZER_SECONDS = 288 << 20, 2

# Command lines beside those of cost.py; of all commands only these are run.
LINES = {
    "stats": ["--by dso,sym {in}", "--by srcline {in}"],
    "script": ["{in}", "-F +srcline {in}"],
    "export": ["--to folded -o {out} {in}", "--to folded --inline -o {out} {in}",
               "--to chrome -o {out} {in}", "--to speedscope --lines -o {out} {in}", "--to pprof --lines --inline -o {out} {in}"],
}
