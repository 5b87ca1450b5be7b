"""validate_forms.py COMMAND SCHEMA CAPTURE ...: the JSON document fits its schema, the SARIF document
has what 2.1.0 requires, and both say the same as the text."""
import json
import pathlib
import re
import subprocess
import sys

import jsonschema

command, schema, captures = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]

# The members of the SARIF 2.1.0 schema that this command writes, with what that schema requires of them.
message = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
level = {"enum": ["none", "note", "warning", "error"]}
sarif = {
    "type": "object",
    "required": ["version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"enum": ["2.1.0"]},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool"],
                "properties": {
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name"],
                                "properties": {
                                    "name": {"type": "string"},
                                    "version": {"type": "string"},
                                    "rules": {
                                        "type": "array",
                                        "uniqueItems": True,
                                        "items": {
                                            "type": "object",
                                            "required": ["id"],
                                            "properties": {
                                                "id": {"type": "string"},
                                                "shortDescription": message,
                                                "fullDescription": message,
                                                "help": message,
                                                "defaultConfiguration": {
                                                    "type": "object",
                                                    "properties": {"level": level},
                                                    "additionalProperties": False,
                                                },
                                            },
                                            "additionalProperties": False,
                                        },
                                    },
                                },
                                "additionalProperties": False,
                            }
                        },
                        "additionalProperties": False,
                    },
                    "results": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["message"],
                            "properties": {
                                "ruleId": {"type": "string"},
                                "ruleIndex": {"type": "integer", "minimum": -1},
                                "level": level,
                                "message": message,
                                "locations": {
                                    "type": "array",
                                    "items": {
                                        "type": "object",
                                        "properties": {
                                            "physicalLocation": {
                                                "type": "object",
                                                "anyOf": [
                                                    {"required": ["address"]},
                                                    {"required": ["artifactLocation"]},
                                                ],
                                                "properties": {
                                                    "artifactLocation": {
                                                        "type": "object",
                                                        "properties": {
                                                            "uri": {
                                                                "type": "string",
                                                                "pattern": "^[A-Za-z0-9._~/%-]+$",
                                                            }
                                                        },
                                                        "additionalProperties": False,
                                                    },
                                                    "region": {
                                                        "type": "object",
                                                        "properties": {
                                                            "byteOffset": {
                                                                "type": "integer",
                                                                "minimum": -1,
                                                            }
                                                        },
                                                        "additionalProperties": False,
                                                    },
                                                },
                                                "additionalProperties": False,
                                            }
                                        },
                                        "additionalProperties": False,
                                    },
                                },
                                "properties": {"type": "object"},
                            },
                            "additionalProperties": False,
                        },
                    },
                    "invocations": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["executionSuccessful"],
                            "properties": {"executionSuccessful": {"type": "boolean"}},
                            "additionalProperties": False,
                        },
                    },
                },
                "additionalProperties": False,
            },
        },
    },
}


def run(*words):
    done = subprocess.run([command, "validate", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.stdout.decode(), done.returncode


def problems(capture):
    text, status = run("--all", capture)
    lines = re.findall(r": (error|warning|note) (V-\d+): ", text)
    report, json_status = run("--all", "--format", "json", capture)
    report = json.loads(report)
    log, sarif_status = run("--all", "--format", "sarif", capture)
    log = json.loads(log)
    yield from (e.message for e in fits.iter_errors(report))
    yield from (e.message for e in jsonschema.Draft7Validator(sarif).iter_errors(log))
    if not status == json_status == sarif_status:
        yield f"exit status {status}, {json_status}, {sarif_status}"
    told = [(f["severity"], f["rule"]) for f in report["findings"]]
    results = log["runs"][0]["results"]
    if lines != told:
        yield "text and JSON differ"
    if told != [(r["level"], r["ruleId"]) for r in results]:
        yield "JSON and SARIF differ"
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    if any(rules[r["ruleIndex"]]["id"] != r["ruleId"] for r in results):
        yield "ruleIndex is that of another rule"
    counted = {(r["severity"], r["rule"]): r["count"] for r in report["rules"]}
    if counted != {key: told.count(key) for key in told}:
        yield "counts are not those of the findings"
    if any(s == "error" for s, _ in told) != (status == 3):
        yield f"exit status {status}"


def validator(path):
    """The schema of the JSON document together with the definitions that all of ours share."""
    shared = "shared.json"
    whole, parts = json.loads(path.read_text()), json.loads((path.parent / shared).read_text())
    jsonschema.Draft202012Validator.check_schema(whole)
    try:
        import referencing.jsonschema
    except ImportError:  # jsonschema before 4.18
        resolver = jsonschema.RefResolver("", whole, store={shared: parts})
        return jsonschema.Draft202012Validator(whole, resolver=resolver)
    resource = referencing.jsonschema.DRAFT202012.create_resource(parts)
    registry = referencing.Registry().with_resource(shared, resource)
    return jsonschema.Draft202012Validator(whole, registry=registry)


fits = validator(schema)
# Schemas that accept anything check nothing.
assert list(fits.iter_errors({"findings": [{"rule": 1}]}))
assert list(jsonschema.Draft7Validator(sarif).iter_errors({"version": "2.1.0", "runs": [{}]}))
wrong = findings = 0
for capture in captures:
    for problem in problems(capture):
        print(capture, ":", problem)
        wrong += 1
several, status = run("--format", "json", "--for", "6.1", *captures)
several = json.loads(several)
for error in fits.iter_errors(several):
    print("several:", error.message)
    wrong += 1
if len(several["files"]) != len(captures) or not several["findings"]:
    print("several: a file is missing")
    wrong += 1
missing, status = run("--format", "json", "no-such-file")
if status != 1 or not json.loads(missing)["files"][0]["failure"]:
    print("a file that is missing has no failure")
    wrong += 1
missing, status = run("--format", "sarif", "no-such-file")
if status != 1 or json.loads(missing)["runs"][0]["invocations"][0]["executionSuccessful"]:
    print("a file that is missing is a success")
    wrong += 1
sys.exit(wrong != 0)
