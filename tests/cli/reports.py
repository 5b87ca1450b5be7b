"""reports.py COMMAND SCHEMAS CAPTURE ...: every --json report of every capture fits its schema."""
import json
import pathlib
import re
import subprocess
import sys

import jsonschema

from chosen import CASES

command, schemas, captures = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]

# Every key of stats, from what it says of a wrong one; the schema knows the same.
said = subprocess.run([command, "stats", "--by", "color=1", "x"], stderr=subprocess.PIPE, text=True).stderr
keys = re.split(", | and ", re.search(r"the keys are (.*): '", said)[1])
of_code = [key for key in keys if key in ("sym", "srcline", "parent")]  # these count samples only, and go with other keys but two
every_key = [["--by", ",".join(key for key in keys if key not in of_code).replace("=STEP", "=1ms")],
             ["--by", ",".join(key for key in keys if key not in ("type", "time=STEP"))]]
assert len(of_code) == 3 and len(every_key[1][1].split(",")) == len(keys) - 2
known = json.loads((schemas / "stats.schema.json").read_text())["properties"]["by"]["items"]["anyOf"][0]["enum"]
assert sorted(key.split("=")[0] for key in keys) == sorted(known), (keys, known)
text = subprocess.run([command, "stats", "--help"], stdout=subprocess.PIPE, text=True).stdout
text = re.search(r"--by KEY(.*?)--sort", text, re.DOTALL)[1]
assert all(re.search(rf"\b{key}\b", text) for key in keys), (keys, text)


def load(path):
    schema = json.loads(path.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return schema


def validator(path):
    """A schema together with the definitions that all of them share."""
    shared = "shared.json"
    schema, parts = load(path), load(schemas / shared)
    try:
        import referencing.jsonschema
    except ImportError:  # jsonschema before 4.18
        resolver = jsonschema.RefResolver("", schema, store={shared: parts})
        return jsonschema.Draft202012Validator(schema, resolver=resolver)
    resource = referencing.jsonschema.DRAFT202012.create_resource(parts)
    registry = referencing.Registry().with_resource(shared, resource)
    return jsonschema.Draft202012Validator(schema, registry=registry)


def runs():
    for path in sorted(schemas.glob("*.schema.json")):
        words = path.name.split(".")[0].split("-", 1)
        fits = validator(path)
        yield words, fits
        if words == ["stats"]:
            for by in every_key:
                yield words + by, fits
            yield words + ["--tree"], fits
            yield words + ["--callees", "main", "--tree"], fits
        if words == ["info"]:
            yield words + ["--header"], fits


def wrong(arguments, fits):
    """What is wrong with a report, and whether it tells of damage; None when there is no report."""
    run = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if run.returncode == 1:
        return (["no report and no reason"] if run.stdout or not run.stderr else None), False
    report = json.loads(run.stdout)
    errors = list(fits.iter_errors(report))
    damaged = report["damage"]["count"] > 0
    if run.returncode != (3 if damaged else 0):
        errors.append(f"exit status {run.returncode}")
    return errors, damaged


def wrong_rescue(capture, fits):
    """The same for recover, which has a report whatever happens, once the file could be opened."""
    arguments = [command, "recover", "--dry-run", "--report", "json", capture]
    run = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    report = json.loads(run.stdout)
    errors = list(fits.iter_errors(report))
    status = 1 if "error" in report else 0 if report["whole"] else 3
    if run.returncode != status or len(report["gaps"]) != report["lost"]["gaps"]:
        errors.append(f"exit status {run.returncode}, {len(report['gaps'])} gaps")
    return errors


def wrong_conversion(capture, fits):
    """The same for convert, in the other byte order and in another form."""
    errors = []
    for options in ["--byte-order", "big"], ["--to", "pipe", "--force", "--drop-unknown"]:
        out = "pipe" if "pipe" in options else "dir" if pathlib.Path(capture).is_dir() else "file"
        arguments = [command, "convert", *options, "--report", "json", "-f", "-o", out, capture]
        run = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        report = json.loads(run.stdout)
        errors += fits.iter_errors(report)
        if (run.returncode == 1) != ("error" in report) or (run.returncode == 1 and report["out"]):
            errors.append(f"exit status {run.returncode}")
        if report["losses"] != sum(note["loss"] for note in report["notes"]):
            errors.append("losses and notes differ")
    return errors


def wrong_sort(capture, fits):
    """The same for sort; a round is made wherever there are times."""
    arguments = [command, "sort", "--json", "-f", "-o", "sorted", capture]
    run = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    report = json.loads(run.stdout)
    errors = list(fits.iter_errors(report))
    status = 1 if "error" in report else 3 if report["damages"] else 0
    if run.returncode != status or (status == 1) != (report["out"] is None):
        errors.append(f"exit status {run.returncode}")
    if report["samples"] > report["records"] or (report["out_of_order"] and not report["rounds"]):
        errors.append("the counts make no sense")
    return errors


def wrong_export(capture, fits):
    """The same for export, which has a report whatever happens."""
    arguments = [command, "export", "--to", "folded", "--json", "-f", "-o", "folded", capture]
    run = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    report = json.loads(run.stdout)
    errors = list(fits.iter_errors(report))
    if (run.returncode == 1) != (report["out"] is None):
        errors.append(f"exit status {run.returncode}")
    return errors


def wrong_filter(capture, fits):
    """The same for filter."""
    out = "dir" if pathlib.Path(capture).is_dir() else "file"
    arguments = [command, "filter", "--json", "--head", "3", "-f", "-o", out, capture]
    run = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    report = json.loads(run.stdout)
    errors = list(fits.iter_errors(report))
    status = 1 if "error" in report else 3 if report["damages"] else 0
    if run.returncode != status or report["kept_samples"] > 3:
        errors.append(f"exit status {run.returncode}, {report['kept_samples']} samples")
    return errors


def wrong_merge(capture, fits):
    """The same for merge, of the capture with itself."""
    arguments = [command, "merge", "--report", "json", "-f", "-o", "merged", capture, capture]
    run = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    report = json.loads(run.stdout)
    errors = list(fits.iter_errors(report))
    failed = (1, 2) if "error" in report else (3,) if report["damages"] else (0,)
    if run.returncode not in failed or ("error" in report) != (report["out"] is None):
        errors.append(f"exit status {run.returncode}")
    for count in "records", "samples", "damages", "lost":
        if report["inputs"] and report[count] != sum(i[count] for i in report["inputs"]):
            errors.append(f"{count} of the inputs are another number")
    return errors


def wrong_archive(capture, fits):
    """What an archive of the capture consists of; also of a cut one."""
    errors = []
    packed = subprocess.run([command, "convert", "--to", "archive", "-f", "-o", "packed", capture], stderr=subprocess.PIPE)
    if packed.returncode not in (0, 3):
        return [f"convert --to archive: {packed.stderr}"]
    content = pathlib.Path("packed").read_bytes()
    pathlib.Path("cut").write_bytes(content[:len(content) * 2 // 3])
    for archive in "packed", "cut":
        run = subprocess.run([command, "info", "--chunks", "--columns", "--json", archive], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        if run.returncode == 1 and archive == "cut":
            continue  # nothing is left of it
        report = json.loads(run.stdout)
        errors += fits.iter_errors(report)
        total, chunks = report["total"], report["chunks"]
        # If only the index is cut off, all chunks are there, and nothing is damaged.
        if run.returncode not in ((0, 3) if archive == "cut" else (0,)):
            errors.append(f"{archive}: exit status {run.returncode}")
        if total["chunks"] != len(chunks) or total["bytes"] != sum(c["bytes"] for c in chunks):
            errors.append(f"{archive}: the total is another number")
        if report["column_total"]["stored"] != sum(c["stored"] for c in report["columns"]):
            errors.append(f"{archive}: the total of the columns is another number")
    return errors


def wrong_split(capture, fits):
    """The same for split."""
    arguments = [command, "split", "--json", "--by", "cpu", "-f", "-o", "part-%s", capture]
    run = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    report = json.loads(run.stdout)
    errors = list(fits.iter_errors(report))
    status = 1 if "error" in report else 3 if report["damages"] else 0
    samples = sum(part["samples"] for part in report["parts"])
    if run.returncode != status or (status != 1 and samples != report["samples"]):
        errors.append(f"exit status {run.returncode}, {samples} samples")
    return errors


def wrong_damage(capture, fits):
    """The same for damage, which has no report of what it cannot read, such as a directory."""
    arguments = [command, "damage", "--json", "--do", "record-size-0", "-f", "-o", "damaged", capture]
    run = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if not run.stdout:
        return [] if run.returncode == 1 and run.stderr else [f"exit status {run.returncode}, and no report"]
    report = json.loads(run.stdout)
    errors = list(fits.iter_errors(report))
    failed = "error" in report
    if run.returncode != failed or failed != (report["out"] is None) or len(report["changes"]) != (not failed):
        errors.append(f"exit status {run.returncode}, {len(report['changes'])} changes")
    return errors


# A count in each report, to be found wrong.
counts = {"recover": ["lost", "gaps"], "convert": ["notes", 0, "count"], "sort": ["records"],
          "export": ["stacks"], "filter": ["kept"], "merge": ["inputs", 0, "samples"], "split": ["records"],
          "archive": ["chunks", 0, "bytes"], "damage": ["changes", 0, "bytes"]}
others = {"export": wrong_export, "recover": wrong_rescue, "convert": wrong_conversion, "sort": wrong_sort,
          "filter": wrong_filter, "merge": wrong_merge, "split": wrong_split, "archive": wrong_archive,
          "damage": wrong_damage}

checked = failed = 0
for words, fits in runs():
    # A schema that accepts anything checks nothing.
    assert list(fits.iter_errors({"file": "x"})) and list(fits.iter_errors({"surprise": 1}))
    inside = counts.get(words[0], ["damage", "count"])
    found = -1
    for step in reversed(inside):
        found = [found] if step == 0 else {step: found}
    found = fits.iter_errors(found)
    assert any(list(error.absolute_path) == inside for error in found)
    for capture in captures:
        if words[0] in others:
            errors = others[words[0]](capture, fits)
            for error in errors[:3]:
                print(*words, capture, ":", error)
            failed += bool(errors)
            checked += 1
            continue
        errors, damaged = wrong([command, *words, "--json", capture], fits)
        if damaged:
            errors += wrong([command, *words, "--resync", "--json", capture], fits)[0] or []
        for error in (errors or [])[:3]:
            print(*words, capture, ":", error)
        failed += bool(errors)
        checked += errors is not None
if failed or not checked:
    sys.exit(f"{failed} of {checked} reports are wrong")
print(checked > 100 // CASES or f"only {checked} reports were there")
