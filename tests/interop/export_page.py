"""The page of npm's speedscope: see export_viewers.sh.

    export_page.py load FILE     a script that lets the page load FILE
    export_page.py self PAGE     the sum of the column Self of its table, without unit
"""
import base64
import html
import os
import re
import sys

UNITS = {"ns": 1, "\u00b5s": 1e3, "\u03bcs": 1e3, "us": 1e3, "ms": 1e6, "s": 1e9, "": 1}


def load(path):
    with open(path, "rb") as f:
        data = base64.b64encode(f.read()).decode()
    print("speedscope.loadFileFromBase64('%s', '%s')" % (os.path.basename(path), data))


def sum_of_self(path):
    with open(path, encoding="utf-8") as f:
        page = f.read()
    total = 0
    for row in re.findall("<tr.*?</tr>", page, re.S):
        cells = [html.unescape(re.sub("<[^>]*>", "", c)) for c in re.findall("<td.*?</td>", row, re.S)]
        m = len(cells) >= 2 and re.match(r"\s*([\d.,]+)\s*(\D*?)\s*\(", cells[1])
        total += float(m[1].replace(",", "")) * UNITS[m[2]] if m else 0
    print(round(total))


{"load": load, "self": sum_of_self}[sys.argv[1]](sys.argv[2])
