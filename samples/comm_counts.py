"""comm_counts.py FILE: how many records the threads of each name have.

The whole binding is made of the installed headers: the C compiler's preprocessor reads them, cffi takes what
comes out.  pkg-config says where headers and library are.  Needs python3-cffi, a C compiler and pkg-config.
"""
import collections
import os
import subprocess
import sys
import tempfile

import cffi


def pkg_config(*words):
    return subprocess.run(["pkg-config", *words, "perfile"], check=True, capture_output=True, text=True).stdout.split()


def declarations():
    """The public headers as plain declarations.  cffi has the types of these three headers of its own, and those
    of the system are full of what only its compiler understands."""
    with tempfile.TemporaryDirectory() as own:
        for name in ("stdbool.h", "stddef.h", "stdint.h"):
            open(os.path.join(own, name), "w", encoding="utf-8").close()
        return subprocess.run(
            [os.environ.get("CC", "cc"), "-E", "-P", "-x", "c", "-nostdinc", "-DPERFILE_DECLARATIONS", "-I", own]
            + pkg_config("--cflags-only-I") + ["-"],
            input="#include <perfile/perfile.h>\n", check=True, capture_output=True, text=True).stdout


ffi = cffi.FFI()
ffi.cdef(declarations())
lib = ffi.dlopen(os.path.join(pkg_config("--variable=libdir")[0], "libperfile.so"))
error = ffi.new("perfile_error *")


def check(status):
    if status < 0:
        sys.exit(f"comm_counts: {sys.argv[1]}: {ffi.string(error.message).decode()}")
    return status


def open_capture(path):
    stream = ffi.new("perfile_stream **")
    check(lib.perfile_open_path(os.fsencode(path), ffi.NULL, stream, error))
    return ffi.gc(stream[0], lib.perfile_stream_close)


def records(stream):
    """Each is valid until the next one."""
    record = ffi.new("const perfile_record **")
    while check(lib.perfile_stream_next(stream, record, error)) == lib.PERFILE_OK:
        yield record[0]


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: comm_counts.py FILE")
    # Names may come behind the records that they concern, so the capture is read twice.
    stream = open_capture(sys.argv[1])
    model = ffi.new("perfile_model **")
    check(lib.perfile_model_open(lib.perfile_stream_session(stream), model, error))
    for record in records(stream):
        check(lib.perfile_model_feed(model[0], record, error))
    counts = collections.Counter()
    pid, tid = ffi.new("uint32_t *"), ffi.new("uint32_t *")
    for record in records(open_capture(sys.argv[1])):
        has_task = lib.perfile_record_task(record, pid, tid)
        name = lib.perfile_model_comm(model[0], pid[0], tid[0], lib.perfile_record_time(record)) if has_task else ffi.NULL
        counts[os.fsdecode(ffi.string(name)) if name else "-"] += 1
    for name, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        print(f"{n:8} {name}")
    lib.perfile_model_close(model[0])


main()
