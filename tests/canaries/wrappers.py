"""wrappers.py HEADERS CC OUT: results are untouched on failure, for every public function that can fail.

Writes OUT/wrappers.c, a function __wrap_NAME for each function of the public headers that returns a status and has
results, and OUT/options, linker options which put it in the place of that function.  It keeps the results as they are
before the call, and ends the program if they are others after a call that failed.  Programs of the tests are linked with
it, so that whatever any of them lets fail is looked at.

Results are what pointers to numbers, to pointers and to structs that are not const lead to; a struct that a caller fills
with `size` counts as far as that size.  Not looked at are errors, objects whose struct is not public, and bytes.

A program that is run with PERFILE_CANARIES=FILE appends to FILE the names of the functions that it saw fail."""
import re
import shutil
import subprocess
import sys
import tempfile

HEADERS, CC, OUT = sys.argv[1:4]
NUMBERS = {"bool", "int", "unsigned", "size_t", "int16_t", "int32_t", "int64_t", "uint16_t", "uint32_t", "uint64_t",
           "float", "double", "perfile_status"}
# What is a result also of calls that fail, and says so where it is declared: how far it went.
ALSO_ON_FAILURE = {
    "pf_archive_repair": {"result"},
    "perfile_convert_capture": {"result"},
    "perfile_copy": {"result"},
    "perfile_filter_capture": {"filtered", "copied"},
    "perfile_merge_captures": {"summary"},
    "perfile_recover_capture": {"result"},
    "perfile_split_capture": {"sum"},
    "perfile_stream_sample": {"sample"},
}


TELL = '''__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("PERFILE_CANARIES");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (failed[i])
            fprintf(file, "%s\\n", names[i]);
    fclose(file);
}

'''


def declarations():
    """The headers in one, with a word before each function."""
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(HEADERS + "/perfile", copy + "/perfile")
        base = copy + "/perfile/base.h"
        with open(base, encoding="utf-8") as file:
            text = re.sub(r"^#define PERFILE_API$", "#define PERFILE_API PERFILE_API_MARK", file.read(), flags=re.M)
        with open(base, "w", encoding="utf-8") as file:
            file.write(text)
        command = [CC, "-std=c11", "-E", "-P", "-DPERFILE_DECLARATIONS", "-I" + copy, "-x", "c", "-"]
        return subprocess.run(command, input="#include <perfile/perfile.h>\n", capture_output=True, text=True, check=True).stdout


def parameters(text):
    """Split at the commas that are in no brackets."""
    depth, part, parts = 0, "", []
    for letter in text:
        depth += letter in "(["
        depth -= letter in ")]"
        if letter == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    return [*parts, part.strip()]


def name_of(param):
    return (re.search(r"\(\*(\w+)\)", param) or re.search(r"(\w+)(\[\w*\])?$", param))[1]


def results(function, params, structs):
    """(name of the parameter, bytes of it that count)."""
    names = [name_of(p) for p in params]
    for param, name in zip(params, names):
        found = re.fullmatch(r"(const )?(?:struct )?(\w+) (\*+) ?(\w+)", re.sub(r"\s*(\*+)\s*", r" \1", param))
        decoder = "_decode" in function and name == "out"  # holds what was read before
        if not found or decoder or name in ALSO_ON_FAILURE.get(function, ()):
            continue
        const, kind, stars = found[1], found[2], len(found[3])
        if stars == 2:
            yield name, "sizeof *%s" % name
        elif stars == 1 and not const and kind in NUMBERS:
            yield name, "sizeof *%s" % name
        elif stars == 1 and not const and (kind in structs or kind == "void") and kind != "perfile_error":
            at = names.index(name)
            sized = at + 1 < len(names) and names[at + 1] == "size"
            if kind == "void":  # a struct of the type that another parameter says
                if sized:
                    yield name, "(size < MOST_STRUCT ? size : MOST_STRUCT)"
                continue
            yield name, "(size < sizeof *%s ? size : sizeof *%s)" % (name, name) if sized else "sizeof *%s" % name


def main():
    text = declarations()
    structs = set(re.findall(r"\}\s*(perfile_\w+);", text))
    marked = re.findall(r"PERFILE_API_MARK(?:\s+__attribute__\(\(.*?\)\))*\s+perfile_status\s+(perfile_\w+)\(([^;]*)\)\s*"
                        r"(?:__attribute__\(\(.*?\)\)\s*)?;", text)
    code, names = [], []
    for function, arguments in marked:
        params = parameters(arguments)
        if "..." in params or params == ["void"]:
            continue
        kept = list(results(function, params, structs))
        if not kept:
            continue
        call = ", ".join(map(name_of, params))
        names.append(function)
        code.append("perfile_status __real_%s(%s);\nperfile_status __wrap_%s(%s);\nperfile_status __wrap_%s(%s)\n{" %
                    (function, arguments, function, arguments, function, arguments))
        for name, size in kept:
            room = "MOST_STRUCT" if "MOST_STRUCT" in size else "sizeof *" + name
            code.append("    unsigned char was_%s[%s];\n    const size_t n_%s = %s ? %s : 0;\n"
                        "    if (n_%s)\n        memcpy(was_%s, %s, n_%s);" % (name, room, name, name, size, name, name, name, name))
        code.append("    const perfile_status status = __real_%s(%s);" % (function, call))
        for name, _ in kept:
            code.append('    if (status < 0 && n_%s && memcmp(was_%s, %s, n_%s) != 0)\n        changed("%s", "%s");' %
                        (name, name, name, name, function, name))
        code.append("    if (status < 0)\n        failed[%d] = 1;\n    return status;\n}" % (len(names) - 1))
    with open(OUT + "/wrappers.c", "w", encoding="utf-8") as out:
        out.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <perfile/perfile.h>\n\n"
                  "enum { MOST_STRUCT = 4096 };\n\n"
                  "static void changed(const char *function, const char *result)\n{\n"
                  '    fprintf(stderr, "%s() has failed, and changed its result %s\\n", function, result);\n    abort();\n}\n\n')
        out.write("static const char *const names[] = {%s};\n"
                  "static volatile char failed[sizeof names / sizeof names[0]];\n\n" % ", ".join('"%s"' % name for name in names))
        out.write(TELL + "\n".join(code) + "\n")
    with open(OUT + "/options", "w", encoding="utf-8") as out:
        out.writelines("--wrap=%s\n" % name for name in names)
    print("%d of %d functions that return a status have results" % (len(names), len(marked)))


main()
