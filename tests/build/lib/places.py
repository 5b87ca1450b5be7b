"""places.py HEADERS: a C program that prints where each member of each public struct stands, and how long it is.

HEADERS is a folder with the public headers.  The program includes <perfile/perfile.h>: it may be compiled with others.
"""
import pathlib
import re
import sys

print("#include <perfile/perfile.h>\n#include <stdio.h>\nint main(void) {")
for header in sorted(pathlib.Path(sys.argv[1]).glob("*.h")):
    text = re.sub(r"/\*.*?\*/", "", header.read_text(encoding="utf-8"), flags=re.S)
    for name, body in re.findall(r"^(?:typedef )?struct (perfile_\w+) \{\n(.*?)^\}", text, re.M | re.S):
        body = re.sub(r"\bunion \{.*?\}", "union", body, flags=re.S)
        for member in re.findall(r"(?:\(\*(\w+)\)\([^;]*\)|(\w+)(?:\[\w+\])?)\s*(?=[;,])", body):
            member = member[0] or member[1]
            if not member.startswith("reserved"):
                print(f'printf("{name}.{member} %zu %zu\\n", offsetof({name}, {member}), sizeof((({name} *)0)->{member}));')
print("}")
