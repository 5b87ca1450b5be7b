"""completion.py SHELL SCRIPT: what SHELL offers with the completion SCRIPT is what the command takes, no more and no less.

Options are compared with --help, and whether the command takes those of the other commands is tried, too; words with
what the command says when it gets a wrong one, or by giving it each of them.
"""
import os
import re
import subprocess
import sys

from chosen import chosen

PERFILE = os.environ["PERFILE"]
SOURCE = os.environ["PERFILE_SOURCE"]
SHELL, SCRIPT = sys.argv[1:]
OLD = {"--resync", "--report"}  # taken, and not told of every command

COMMANDS = re.findall(r"^COMMAND\((\w+),", open(os.path.join(SOURCE, "src/cli/commands.def"), encoding="utf-8").read(), re.M)
OTHERS = {"help", "version", "completion", "--help", "--version"}


def run(*words):
    return subprocess.run([PERFILE, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def options_of(command):
    """{"--sort": (None, "ORDER"), …}: the short form and the value of each."""
    found = re.findall(r"^  (?:(-\w), )?(--[a-z0-9-]+)((?:\[=| )[^ ]+)?", run(command, "--help").stdout, re.M)
    return {name: (letter or None, value.strip() if value and (value[0] == "[" or value.strip()[:1].isupper() or
                                                               value.strip() in ("json", "start")) else None)
            for letter, name, value in found}


def bash(lines):
    script = ["source " + SCRIPT]
    for line in lines:
        words = re.split(r" +", re.sub("=", " = ", line).lstrip(" ")) if not line.endswith("=") else \
            re.split(r" +", line[:-1]) + ["="]
        script.append("COMP_WORDS=(%s) COMP_CWORD=%d; echo; echo '= %s'; _perfile; printf '%%s\\n' \"${COMPREPLY[@]}\"" %
                      (" ".join("'%s'" % w for w in words), len(words) - 1, line))
    return subprocess.run(["bash", "--norc", "-c", "\n".join(script)], capture_output=True, text=True, check=True).stdout


def zsh(lines):
    return subprocess.run(["zsh", "-f", os.path.join(SOURCE, "tests/cli/completion.zsh"), SCRIPT],
                          input="\n".join(lines) + "\n", capture_output=True, text=True, check=True, timeout=300).stdout


def fish(lines):
    script = ["source " + SCRIPT]
    for line in lines:
        script.append("echo '= %s'; complete -C '%s'" % (line, line))
    out = subprocess.run(["fish", "-N", "-c", "\n".join(script)], capture_output=True, text=True, check=True).stdout
    return re.sub(r"\t.*", "", out)


def ask(lines):
    """{line: set of words}"""
    answers, at = {}, None
    for line in {"bash": bash, "zsh": zsh, "fish": fish}[SHELL](lines).splitlines():
        if line.startswith("= "):
            at = answers.setdefault(line[2:], set())
        elif line and at is not None:
            at.add(line)
    assert set(answers) == set(lines), (set(lines) ^ set(answers))
    return answers


failures = 0


PATHS = ("FILE", "OUT", "IN", "REF", "PATTERN", "DIR", "BEFORE")


def same(what, offered, wanted):
    global failures
    if offered != wanted:
        failures += 1
        print(f"{SHELL}: {what}: offered and not wanted {sorted(offered - wanted)}, "
              f"wanted and not offered {sorted(wanted - offered)}")


def words_that_are_taken(command, option):
    """What the command says that `option` takes; None when it does not list it."""
    said = run(command, f"{option}=zzz", "x").stderr
    found = re.search(r" takes ([\w.-]+(?:(?:, (?!not )| or )[\w.-]+)*), not 'zzz'", said)
    return set(re.split(r", | or ", found[1])) if found else None


def main():
    options = {c: options_of(c) for c in COMMANDS}
    everything = set().union(*options.values())
    subjects = set(re.findall(r"^  ([a-z][a-z-]+)  ", run("list", "--help").stdout, re.M))
    valued = [(c, o) for c in COMMANDS for o, (_, value) in options[c].items() if value and value[0] != "["]
    assert len(valued) > 80, valued

    open("a file", "w", encoding="utf-8").close()
    lines = ["perfile ", "perfile list ", "perfile list ids ", "perfile help ", "perfile completion ", "perfile info "]
    lines += [f"perfile {c} --" for c in COMMANDS] + [f"perfile {c} -" for c in COMMANDS]
    lines += [f"perfile {c} {o} " for c, o in valued] + [f"perfile {c} {o}=" for c, o in valued]
    lines += ["perfile stats --by pid,t", "perfile stats --by=pid,t"]
    got = ask(lines)

    same("commands", got["perfile "], set(COMMANDS) | OTHERS)
    same("help", got["perfile help "], set(COMMANDS))
    same("completion", got["perfile completion "], {"bash", "zsh", "fish"})
    same("list", got["perfile list "], subjects)
    for line in ("perfile list ids ", "perfile info "):
        if not any(w.replace("\\", "") == "a file" for w in got[line]):
            same(line, got[line], {"a file"})

    for c in COMMANDS:
        letters = {letter for letter, _ in options[c].values() if letter}
        same(c + " --", {w for w in got[f"perfile {c} --"]}, set(options[c]))
        same(c + " -", {w for w in got[f"perfile {c} -"]}, set(options[c]) | letters)
        # What does not depend on the shell is tried once.
        for o in everything - OLD if SHELL == "bash" else ():
            if any(mine.startswith(o) and mine != o for mine in options[c]):
                continue  # an abbreviation
            if not chosen():
                continue
            known = "unknown option" not in run(c, o, "--help").stderr
            if known != (o in options[c]):
                same(f"{c}: the command itself and {o}", {o} if known else set(), set(options[c]) & {o})

    plain = 0
    for c, o in valued:
        offered = got[f"perfile {c} {o} "]
        behind = {re.sub("^" + o + "=", "", w) for w in got[f"perfile {c} {o}="]}
        is_path = options[c][o][1] in PATHS
        if is_path:
            assert any(w.replace("\\", "") == "a file" for w in offered), (c, o, offered)
            continue
        same(f"{c} {o}=", behind, offered)
        taken = words_that_are_taken(c, o)
        if taken is not None and o not in ("--target", "--jobs"):
            # Of a command whose output is no directory that word is refused later.
            taken -= {"dir"} if c in ("sort", "merge", "split") and o == "--to" else set()
            same(f"{c} {o}", offered, taken)
            plain += 1
        if SHELL == "bash" and run(c, f"{o}={','.join(sorted(offered))}", "--help").returncode:
            for word in offered:  # it takes one at a time
                said = run(c, f"{o}={word}", "--help")
                if said.returncode:
                    same(f"{c} {o}={word}: {said.stderr.strip()}", {word}, set())
    assert plain > 20, plain
    wanted = {"--by", "--sort", "--to", "--format", "--on-damage", "--byte-order", "--target", "--for", "--severity",
              "--align", "--type", "--drop-field", "--only", "--ignore", "--explain", "--jobs", "--report",
              "--dialect", "--layout", "--partition", "--per", "--weight", "--mark", "--unknown", "--do"}
    same("options with words", {o for c, o in valued if got[f"perfile {c} {o} "] and
                                options[c][o][1] not in PATHS}, wanted)
    for line in ("perfile stats --by pid,t", "perfile stats --by=pid,t"):
        same(line, {re.sub("^--by=", "", w) for w in got[line]} - {""}, {"pid,tid", "pid,time", "pid,type"})
    print(f"{SHELL}: {len(lines)} command lines")
    sys.exit(failures != 0)


main()
