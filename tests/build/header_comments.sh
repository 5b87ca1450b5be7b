#!/bin/bash
# Comments of the public headers say what is true: the examples compile, and every name in them exists.
#
# An example is a run of lines that are indented by five columns.  `…` stands for statements of the program; the
# variables that examples use without declaring them are in `prelude`.
set -eu

cat >extract.py <<'END'
"""extract.py INCLUDE OUT: writes each example as a function of OUT, prints unknown names; prints their numbers."""
import os, re, sys
include, out = sys.argv[1:3]
texts = {n: open(os.path.join(include, n), encoding="utf-8").read() for n in sorted(os.listdir(include)) if n.endswith(".h")}
comment = re.compile(r"/\*.*?\*/", re.S)
known = set()
for text in texts.values():
    known |= set(re.findall(r"\b(?:PERFILE|perfile)_\w+", comment.sub(" ", text)))
names = examples = unknown = 0
with open(out, "w", encoding="utf-8") as code:
    for name, text in texts.items():
        for c in comment.finditer(text):
            for word in re.findall(r"\b(?:PERFILE|perfile)_\w*…?", c[0]):
                stem = word.rstrip("…")
                if "NAME" in word or "NOUN" in word:
                    continue  # perfile_NAME_decode()
                names += 1
                if not (any(k.startswith(stem) for k in known) if word != stem or stem.endswith("_") else stem in known):
                    print(f"{name}: there is no {word}")
                    unknown += 1
            line = text[:c.start()].count("\n") + 1
            block = []
            for i, l in enumerate((c[0][:-2] + "\n").split("\n")):
                m = re.match(r" \*     (.*)", l)
                if m:
                    block.append((line + i, m[1]))
                elif block and l == " *":
                    block.append((line + i, ""))
                elif block:
                    body = "\n".join(b for _, b in block)
                    if ";" in body:  # others are no C
                        examples += 1
                        body = re.sub(r"^(\s*)…$", r"\1;", body, flags=re.M)
                        whole = re.match(r"(typedef|perfile_status perfile_\w+\((?!.*=))", body)
                        head = "" if whole else f"void example_{examples}(void);\nvoid example_{examples}(void)\n{{\n"
                        code.write(f'{head}#line {block[0][0]} "{name}"\n{body}\n' + ("" if whole else "}\n"))
                    block = []
print(f"{examples} examples, {names} names")
sys.exit(unknown > 0)
END

cat >prelude <<'END'
#include <perfile/perfile.h>
#include <stdio.h>
extern perfile_status st;
extern perfile_error err;
extern perfile_stream *s, *stream, *a, *b, *passes[8];
extern perfile_source *one, *two;
extern perfile_sink *sink;
extern perfile_writer *w, *writer;
extern perfile_filter_state *filter;
extern perfile_filter_options options;
extern perfile_emitter *e;
extern perfile_model *model;
extern perfile_symbols *symbols;
extern perfile_symbols_options symbols_options;
extern perfile_target_options target_options;
extern perfile_profile *p;
extern perfile_profile_row row;
extern perfile_ring *ring;
extern perfile_session *session;
extern const perfile_record *r, *first, *record;
extern perfile_attr attr;
extern perfile_new_event event;
extern perfile_sample sample;
extern perfile_put_options how;
extern size_t n, map_bytes, page_size;
extern uint32_t pid, index;
extern uint64_t addr, time;
extern void *map, *me;
perfile_status my_next(void *user, perfile_bytes *record, perfile_error *error);
END

# compiles INCLUDE: true if the names exist and the examples compile.
compiles() {
    python3 extract.py "$1/perfile" examples || return 1
    cat prelude examples >examples.c
    "$PERFILE_CC" -std=c11 -Wall -Wextra -Werror -Wno-empty-body -fno-builtin -fsyntax-only -I"$1" examples.c
}

compiles "$PERFILE_BUILD/include" >said 2>&1 || { cat said; exit 1; }
read -r examples _ names _ < <(tail -n 1 said)
[ "$examples" -ge 15 ] && [ "$names" -gt 300 ] || { echo "found little: $(cat said)"; exit 1; }

# The test itself, on headers that are wrong.
wrong() {
    rm -rf wrong && mkdir wrong && cp -rL "$PERFILE_BUILD/include/perfile" wrong/perfile
    sed -i "$2" "wrong/perfile/$1"
    ! cmp -s "wrong/perfile/$1" "$PERFILE_BUILD/include/perfile/$1" || { echo "self-check: $2 changes nothing"; exit 1; }
    ! compiles wrong >said 2>&1 || { echo "self-check: does not see $1: $2"; exit 1; }
}
wrong filter.h 's/{.kind = PERFILE_FILTER_BY_TIME, .text = /{PERFILE_FILTER_BY_TIME, /'
wrong filter.h 's,/\* PERFILE_FILTER_BY_…,/* PERFILE_BY_…,'
wrong symbol.h 's/st = perfile_symbols_find(symbols, m/st = perfile_symbols_find(m, symbols/'
wrong base.h 's/perfile_printable() escapes/perfile_escaped() escapes/'
wrong encode.h '1,9s/size_t room, size_t/size_t/'
