"""XXH3 of 64 and 128 bits with a seed, as its specification has it; and the ids of content of format/tables.md.

xxh3.py VECTORS: compares the vectors of that page.  xxh3.py --sum: the 64 and 128 bits, without a seed, of standard input,
as `xxhsum -H3` and `xxhsum -H2` print them (the 128 bits: of more than 240 bytes)."""
import re
import struct
import sys

M64 = 2**64 - 1
P32 = None, 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64 = None, 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
MX1, MX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")
PERFILE = int.from_bytes(b"perfile", "little")


def u32(b, at):
    return struct.unpack_from("<I", b, at)[0]


def u64(b, at):
    return struct.unpack_from("<Q", b, at)[0]


def fold(a, b):
    product = a * b
    return (product ^ product >> 64) & M64


def rotated(h, n):
    return (h << n | h >> 64 - n) & M64


def avalanche(h):
    h = (h ^ h >> 37) * MX1 & M64
    return h ^ h >> 32


def avalanche64(h):
    h = (h ^ h >> 33) * P64[2] & M64
    h = (h ^ h >> 29) * P64[3] & M64
    return h ^ h >> 32


def mix(data, at, secret, seed):
    return fold(u64(data, at) ^ (u64(SECRET, secret) + seed & M64), u64(data, at + 8) ^ (u64(SECRET, secret + 8) - seed & M64))


def up_to_16(data, seed):
    n = len(data)
    if n > 8:
        low = u64(data, 0) ^ ((u64(SECRET, 24) ^ u64(SECRET, 32)) + seed & M64)
        high = u64(data, n - 8) ^ ((u64(SECRET, 40) ^ u64(SECRET, 48)) - seed & M64)
        return avalanche(n + int.from_bytes(low.to_bytes(8, "little"), "big") + high + fold(low, high) & M64)
    if n >= 4:
        seed ^= int.from_bytes(struct.pack("<I", seed & 0xffffffff), "big") << 32
        h = (u32(data, n - 4) + (u32(data, 0) << 32)) ^ ((u64(SECRET, 8) ^ u64(SECRET, 16)) - seed & M64)
        h = (h ^ rotated(h, 49) ^ rotated(h, 24)) * MX2 & M64
        h = (h ^ (h >> 35) + n) * MX2 & M64
        return h ^ h >> 28
    if n:
        both = data[0] << 16 | data[n >> 1] << 24 | data[-1] | n << 8
        return avalanche64(both ^ ((u32(SECRET, 0) ^ u32(SECRET, 4)) + seed & M64))
    return avalanche64(seed ^ u64(SECRET, 56) ^ u64(SECRET, 64))


def up_to_240(data, seed):
    n = len(data)
    h = n * P64[1]
    if n <= 128:
        for i in range((n - 1) // 32 + 1):
            h += mix(data, 16 * i, 32 * i, seed) + mix(data, n - 16 * (i + 1), 32 * i + 16, seed)
        return avalanche(h & M64)
    for i in range(8):
        h += mix(data, 16 * i, 16 * i, seed)
    h = avalanche(h & M64)
    for i in range(8, n // 16):
        h += mix(data, 16 * i, 16 * (i - 8) + 3, seed)
    return avalanche(h + mix(data, n - 16, 136 - 17, seed) & M64)


def accumulate(h, data, at, secret, where):
    for i in range(8):
        value = u64(data, at + 8 * i)
        key = value ^ u64(secret, where + 8 * i)
        h[i ^ 1] = h[i ^ 1] + value & M64
        h[i] = h[i] + (key & 0xffffffff) * (key >> 32) & M64


def long_state(data, seed):
    n = len(data)
    secret = b"".join(struct.pack("<QQ", u64(SECRET, i) + seed & M64, u64(SECRET, i + 8) - seed & M64) for i in range(0, 192, 16))
    h = [P32[3], P64[1], P64[2], P64[3], P64[4], P32[2], P64[5], P32[1]]
    blocks = (n - 1) // 1024
    for block in range(blocks):
        for stripe in range(16):
            accumulate(h, data, 1024 * block + 64 * stripe, secret, 8 * stripe)
        h = [(x ^ x >> 47 ^ u64(secret, 128 + 8 * i)) * P32[1] & M64 for i, x in enumerate(h)]
    for stripe in range((n - 1 - 1024 * blocks) // 64):
        accumulate(h, data, 1024 * blocks + 64 * stripe, secret, 8 * stripe)
    accumulate(h, data, n - 64, secret, 192 - 64 - 7)
    return h, secret


def merged(h, secret, where, begin):
    for i in range(4):
        begin += fold(h[2 * i] ^ u64(secret, where + 16 * i), h[2 * i + 1] ^ u64(secret, where + 16 * i + 8))
    return avalanche(begin & M64)


def xxh3(data, seed=PERFILE):
    if len(data) <= 240:
        return up_to_16(data, seed) if len(data) <= 16 else up_to_240(data, seed)
    return merged(*long_state(data, seed), 11, len(data) * P64[1])


def xxh3_128(data, seed=PERFILE):
    """Of more than 240 bytes."""
    h, secret = long_state(data, seed)
    high = merged(h, secret, 192 - 64 - 11, ~(len(data) * P64[2]) & M64)
    return high << 64 | merged(h, secret, 11, len(data) * P64[1])


def signed(h):
    return h - 2**64 if h >> 63 else h


def module_id(build_id, path):
    """Bytes of the build id, None without one; text."""
    return signed(xxh3(b"\1" + build_id if build_id else b"\2" + path.encode()))


MODES = {"unknown": 0, "user": 1, "jit": 2, "kernel": 3, "hypervisor": 4, "guest": 5}


def frame_id(module, offset, mode, depth=0, function=None):
    key = struct.pack("<QQHH", module & M64, offset, MODES[mode], depth)
    return signed(xxh3(key + (function.encode() if depth and function else b"")))


def stack_id(frames):
    """Innermost first."""
    id = 0
    for frame in reversed(frames):
        id = signed(xxh3(struct.pack("<qq", id, frame)))
    return id


def vectors(page):
    """(what, its values, the id) of each row of the table of vectors."""
    for line in open(page, encoding="utf-8"):
        m = re.match(r"\| (module|frame|stack|capture) \| `(.*)` \| `(\S+)` \|$", line)
        if m:
            yield m[1], m[2].split(), m[3]


def id_of(what, words):
    if what == "module":
        return module_id(bytes.fromhex(words[1]), "") if words[0] == "build_id" else module_id(None, words[1])
    if what == "frame":
        return frame_id(int(words[0]), int(words[1], 16), words[2], int(words[3]), words[4] if len(words) > 4 else None)
    if what == "stack":
        return stack_id([int(w) for w in words])
    return "%032x" % xxh3_128(bytes(range(256)) * int(words[0]))


if __name__ == "__main__":
    if sys.argv[1] == "--sum":
        bytes_ = sys.stdin.buffer.read()
        print("%016x" % xxh3(bytes_, 0), "%032x" % xxh3_128(bytes_, 0) if len(bytes_) > 240 else "")
        sys.exit()
    n = 0
    for what, words, id in vectors(sys.argv[1]):
        n += 1
        if str(id_of(what, words)) != id:
            sys.exit("%s %s is %s, and not %s" % (what, " ".join(words), id_of(what, words), id))
    sys.exit(0 if n >= 8 else "only %d vectors" % n)
