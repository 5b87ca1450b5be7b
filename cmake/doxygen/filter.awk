# What doxygen reads instead of a public header: the same lines with comments in its own marks.
#
# Our comments need no marks.  One in front of declarations holds for all of them up to the next blank line; lines for
# clang-format and for what makes the headers do not count.  Members that every struct has mean the same in all of them.

/clang-format (on|off) \*\/$/ || /^\/\* (BEGIN|END) made of / {
    print ""
    next
}

/^$/ {
    doc = ""
}

# A comment of its own: from here to its end it is gathered.
/^\/\* / {
    doc = ""
    inside = 1
}

inside {
    text = $0
    sub(/^\/?\*? ?\* ?/, "", text)
    sub(/ ?\*\/$/, "", text)
    doc = doc " " text
    if (/\*\/$/)
        inside = 0
    sub(/^\/\* /, "/** ")
    gsub(/\\/, "\\\\&")
    print
    fresh = 1
    next
}

/^(PERFILE_API |(PERFILE_MUST_USE )?static inline |#define PERFILE_|typedef struct [a-z_]+ [a-z_]+;)/ && doc != "" && !fresh {
    $0 = "/**" doc " */ " $0
}

# The comment in front of a typedef holds for the struct in it.
{
    fresh = 0
}

!/\/\*/ {
    sub(/^ +size_t size;$/, "& /* sizeof the struct */")
    sub(/^ +uint[0-9]+_t reserved[0-9]*(\[[0-9]+\])?;$/, "& /* zero */")
    sub(/^ +void \*([a-z_]*_)?user;$/, "& /* what the functions in this struct are called with */")
}

# Several members of one type.
/^ +[^(]*[a-z_0-9], [^(]*; +\/\* .*\*\/$/ {
    comment = substr($0, index($0, "/*"))
    match($0, /^ +(const )?[a-z_0-9]+ /)
    type = substr($0, 1, RLENGTH)
    n = split(substr($0, RLENGTH + 1, index($0, ";") - RLENGTH - 1), member, ", ")
    sub(/^\/\*/, "/**<", comment)
    line = ""
    for (i = 1; i <= n; i++)
        line = line type member[i] "; " comment
    print line
    next
}

# Behind what it is about, or in front of it.
{
    if (!sub(/^ +\/\* /, "&\001"))
        sub(/[^ ] *\/\* /, "&<\001")
    sub(/\/\* \001/, "/** ")
    sub(/\/\* <\001/, "/**< ")
    print
}

END {
    print "/** @file */"
}
