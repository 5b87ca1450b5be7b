"""arrow.py FILE TABLE [COLUMN...]: a table of a capture, in what Python has for tables.

The rows come as an Arrow C stream, which costs no copy: Rows below is what pyarrow, polars, DuckDB, pandas … take
(`pyarrow.table(Rows(...))`).  A line for each row is printed: where pyarrow is installed, of its table, else of numbers
and texts that are read here.  Needs python3-cffi, a C compiler and pkg-config, as comm_counts.py.
"""
import ctypes
import os
import subprocess
import sys
import tempfile

import cffi


def pkg_config(*words):
    return subprocess.run(["pkg-config", *words, "perfile"], check=True, capture_output=True, text=True).stdout.split()


def declarations():
    """The public headers as plain declarations; see comm_counts.py."""
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


class Rows:
    """The rows of a table of a capture, to be read once."""

    def __init__(self, path, table, columns=None):
        error = ffi.new("perfile_error *")
        source = ffi.new("perfile_source **")
        self.stream = ffi.new("struct ArrowArrayStream *")
        names = [ffi.new("char[]", name.encode()) for name in columns or []]
        options = ffi.new("perfile_table_options *", {"size": ffi.sizeof("perfile_table_options")})
        if names:
            columns = ffi.new("char *[]", names)
            options.columns, options.n_columns = columns, len(names)
        if (lib.perfile_source_path(os.fsencode(path), ffi.NULL, source, error) < 0 or
                lib.perfile_table_stream(source[0], table.encode(), options, self.stream, error) < 0):
            lib.perfile_source_close(source[0])  # the stream owns it on success only
            raise ValueError(ffi.string(error.message).decode(errors="replace"))

    def __del__(self):
        if self.stream.release:
            self.stream.release(self.stream)

    def __arrow_c_stream__(self, requested_schema=None):
        """The capsule of the Arrow PyCapsule interface.  Whoever takes the stream out of it moves it; if nobody does, it
        is released with this object, which has to live as long."""
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(int(ffi.cast("uintptr_t", self.stream)), b"arrow_array_stream", None)

    def check(self, failed):
        if failed:
            raise OSError(failed, ffi.string(self.stream.get_last_error(self.stream)).decode())

    def __iter__(self):
        """Each row as a tuple, without any library of Arrow: only columns of numbers and texts have a value."""
        schema, array = ffi.new("struct ArrowSchema *"), ffi.new("struct ArrowArray *")
        self.check(self.stream.get_schema(self.stream, schema))
        types = [schema.children[i] for i in range(schema.n_children)]
        yield tuple(ffi.string(t.name).decode() for t in types)
        while True:
            self.check(self.stream.get_next(self.stream, array))
            if not array.release:
                break
            yield from zip(*(list(items(t, array.children[i])) for i, t in enumerate(types)))
            array.release(array)
        schema.release(schema)


NUMBERS = {b"i": "int32_t *", b"l": "int64_t *", b"L": "uint64_t *", b"g": "double *", b"tsu:UTC": "int64_t *"}


def texts(dictionary):
    offsets = ffi.cast("int32_t *", dictionary.buffers[1])
    data = ffi.cast("char *", dictionary.buffers[2])
    return [ffi.buffer(data + offsets[i], offsets[i + 1] - offsets[i])[:].decode() for i in range(dictionary.length)]


def items(kind, array):
    """The items of an array; None for those that are null, and of types that are not read here."""
    kept = NUMBERS.get(ffi.string(kind.format))
    valid = ffi.cast("uint8_t *", array.buffers[0])
    words = texts(array.dictionary) if array.dictionary else None
    values = ffi.cast(kept, array.buffers[1]) if kept else None
    for i in range(array.length):
        if not kept or (valid and not valid[i // 8] >> i % 8 & 1):
            yield None
        else:
            yield words[values[i]] if words is not None else values[i]


def main():
    if len(sys.argv) < 3 or sys.argv[1].startswith("-"):
        sys.exit("usage: arrow.py FILE TABLE [COLUMN...]")
    try:
        rows = Rows(sys.argv[1], sys.argv[2], sys.argv[3:])
        try:
            import pyarrow
        except ImportError:
            for row in rows:
                print(*row, sep="\t")
        else:
            table = pyarrow.table(rows)
            print(*table.column_names, sep="\t")
            for row in zip(*(column.to_pylist() for column in table.columns)):
                print(*row, sep="\t")
    except (OSError, ValueError) as error:
        sys.exit(f"arrow: {sys.argv[1]}: {error}")


main()
