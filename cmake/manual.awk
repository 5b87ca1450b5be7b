# Makes a manual page of a public header:
#
#     awk -f manual.awk -v name=perfile_stream include/perfile/stream.h
#
# The comment at the top of the header is the description.  After it come the declarations, each after
# its comment.  Inline functions are shown as such, without their bodies.
#
# The page about the library is made of all headers: perfile.h, base.h and the others.  It has the
# comments of these two, and says what each header is for.

# roff: a backslash is \e, a minus is not a hyphen, and no line of text begins with a dot or an apostrophe.
function escaped(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/…/, "\\[u2026]", text)
    gsub(/×/, "\\[mu]", text)
    gsub(/µ/, "\\[mc]", text)
    sub(/^[.']/, "\\\\\\&&", text)
    return text
}

function begin_example() {
    if (!example)
        print ".PP\n.EX"
    example = 1
}

function end_example() {
    if (example)
        print ".EE"
    example = 0
}

# A line of a comment, without its star.  Lines that are indented are examples.
function put_comment(text) {
    if (text ~ /^    /) {
        is_blank = 0
        begin_example()
        print escaped(substr(text, 5))
        return
    }
    if (example && text != "")
        end_example()
    if (text == "") {
        is_blank = 1
        return
    }
    if (is_blank && text !~ /^- /)
        print ".PP"
    is_blank = 0
    if (text ~ /^- /) {
        print ".IP \\(bu 2"
        text = substr(text, 3)
    }
    sub(/^ +/, "", text)
    print escaped(text)
}

# Lines of the first comment, from line i on.
function put_lines(i) {
    for (; i <= n_top; i++)
        put_comment(top[i])
    end_example()
}

# The first comment: its first sentence is for the line NAME.
function put_top(   i, all, first, rest, at) {
    i = 1
    while (i <= n_top && top[i] != "" && top[i] !~ /^    /) {
        all = all (all == "" ? "" : " ") top[i]
        i++
    }
    at = match(all, /\.( |$)/)
    first = at ? substr(all, 1, at - 1) : all
    rest = at ? substr(all, at + 1) : ""
    sub(/^ +/, "", rest)
    sub(/:$/, "", first)
    if (header != main && header == "base.h") {
        print ".SH CONVENTIONS"
        put_lines(i)
        print ".SH HEADERS"
    }
    if (header != main) {
        print ".TP\n.BR perfile_" substr(header, 1, length(header) - 2) " (3)\n" escaped(first ".")
        return
    }
    print ".TH " toupper(name) " 3 \"\" perfile \"Library functions\""
    print ".nr HY 0\n.nh\n.ad l"
    print ".SH NAME"
    print name " \\- " escaped(tolower(substr(first, 1, 1)) substr(first, 2))
    print ".SH SYNOPSIS\n.nf"
    print ".B #include <perfile/" header ">\n.fi"
    print ".SH DESCRIPTION"
    put_comment(rest == "" && i > n_top ? first "." : rest)
    put_lines(i)
    if (!is_overview)
        print ".SH DECLARATIONS"
}

FNR == 1 {
    header = FILENAME
    sub(/.*\//, "", header)
    is_overview = ARGC > 2
    if (main == "")
        main = header
    in_top = 1
    n_top = 0
}

# Text of a comment line: without its frame.
function text_of(line) {
    sub(/ *\*\/ *$/, "", line)
    sub(/^ *\/\* ?/, "", line)
    sub(/^ \* ?/, "", line)
    return line
}

in_top {
    done = $0 ~ /\*\/ *$/
    line = text_of($0)
    if (!(done && line ~ /^ *$/))
        top[++n_top] = line
    if (done) {
        in_top = 0
        put_top()
    }
    next
}

is_overview { next }

# A comment at the left margin; comments of members are part of their struct.
!in_comment && !depth && /^\/\*/ {
    if ($0 ~ /clang-format|made of format/)
        next
    end_example()
    print ".PP"
    in_comment = 1
}

in_comment {
    done = $0 ~ /\*\/ *$/
    line = text_of($0)
    if (!(done && line ~ /^ *$/))
        put_comment(line)
    if (done) {
        in_comment = 0
        end_example()
    }
    next
}

!skipping && (/^ *#/ || /^extern "C" {$/ || (!depth && /^}$/)) {
    # Constants that are macros are shown.
    if ($0 ~ /^#define PERFILE_[A-Z0-9_]+ +[^ ]/ && $0 !~ /\\$/ && $0 !~ /_H$/) {
        begin_example()
        print escaped($0)
    }
    next
}

# The body of an inline function.
skipping {
    if ($0 ~ /^}/)
        skipping = 0
    next
}

/^$/ {
    if (depth && example)
        print ""
    else
        end_example()
    next
}

# A declaration of a function as one line, broken after commas where it is too long.
function put_function(text,    n, i, words, out) {
    gsub(/PERFILE_API |PERFILE_MUST_USE /, "", text)
    sub(/^static inline /, "inline ", text) # not in the shared library
    gsub(/ +/, " ", text)
    n = split(text, words, " ")
    out = words[1]
    for (i = 2; i <= n; i++)
        if (length(out) + length(words[i]) > 88) {
            print escaped(out)
            out = "    " words[i]
        } else {
            out = out " " words[i]
        }
    print escaped(out)
}

{
    code = $0
    gsub(/\/\*.*\*\//, "", code)
    if (!depth && (pending != "" || code ~ /^PERFILE_(API|MUST_USE)|^static inline/)) {
        begin_example()
        skipping = code ~ /^{$/
        if (!skipping)
            pending = pending (pending == "" ? "" : " ") $0
        if (skipping || code ~ /;$/) {
            put_function(pending (skipping ? ";" : ""))
            pending = ""
        }
        next
    }
    if ($0 ~ /made of format\/.*\*\/$/)
        next
    begin_example()
    print escaped($0)
    depth += gsub(/{/, "", code) - gsub(/}/, "", code)
}

END { end_example() }
