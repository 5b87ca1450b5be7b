/* Entries of a source that is a directory: their names in the order of their numbers, and opening
 * one by name.  Independent of what kind of source holds them (source_dir.c, or a test). */
#include "io/source.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* PERFILE_E_USAGE unless `s` is a directory. */
static perfile_status need_entries(const perfile_source *s, perfile_error *err)
{
    if (pf_source_has_entries(s))
        return PERFILE_OK;
    return pf_fail(err, PERFILE_E_USAGE, "source.entry", "'%s' is not a directory", s->name);
}

perfile_status pf_source_entry(const perfile_source *dir, const char *entry,
                               perfile_source **source, perfile_error *err)
{
    perfile_status st = need_entries(dir, err);
    if (st != PERFILE_OK)
        return st;
    /* Nothing that leads out of the directory. */
    const bool is_path = strchr(entry, '/') && !perfile_is_companion_file(entry);
    if (!entry[0] || is_path || strcmp(entry, ".") == 0 || strcmp(entry, "..") == 0)
        return pf_fail(err, PERFILE_E_USAGE, "source.entry", "'%s' is not the name of a file",
                       entry);
    return dir->ops->entry(dir, entry, source, err);
}

perfile_status pf_source_again(const perfile_source *dir, perfile_source **source,
                               perfile_error *err)
{
    return dir->ops->again ? dir->ops->again(dir, source, err)
                           : perfile_source_path(dir->name, &dir->options, source, err);
}

/* A name in the list of the kind, while it is sorted. */
typedef struct entry_name {
    const char *name;
    const char *rest; /* behind the prefix */
} entry_name;

/* True if `text` consists of decimal digits only, at least one. */
static bool is_number(const char *text)
{
    return text[0] && !text[strspn(text, "0123456789")];
}

/* qsort() order: numbers first, by value (compared as digits, so that no length overflows), then
 * other names by bytes.  Equal numbers with different leading zeros go by bytes. */
static int compare_by_rest(const void *x, const void *y)
{
    const char *a = ((const entry_name *)x)->rest, *b = ((const entry_name *)y)->rest;
    bool na = is_number(a), nb = is_number(b);
    if (na != nb)
        return na ? -1 : 1;
    if (na) {
        /* Without leading zeros the longer number is the greater one. */
        const char *da = a + strspn(a, "0"), *db = b + strspn(b, "0");
        size_t la = strlen(da), lb = strlen(db);
        if (la != lb)
            return la < lb ? -1 : 1;
        int c = strcmp(da, db);
        if (c)
            return c;
    }
    return strcmp(a, b);
}

perfile_status pf_source_list(const perfile_source *dir, const char *prefix, char ***names,
                              size_t *n, perfile_error *err)
{
    pf_buffer text = {0};
    entry_name *entries = NULL;
    size_t count = 0;
    perfile_status st = need_entries(dir, err);
    if (st == PERFILE_OK)
        st = dir->ops->list(dir, prefix, &text, &count, err);
    if (st != PERFILE_OK)
        goto out;

    /* One block for the caller: the array of pointers, then the texts in sorted order. */
    entries = pf_alloc(count, sizeof *entries);
    char **list = entries ? pf_alloc(count * sizeof *list + text.len, 1) : NULL;
    if (!list) {
        st = pf_fail_nomem(err, "source.list");
        goto out;
    }
    const char *at = (const char *)text.ptr;
    for (size_t i = 0; i < count; i++, at += strlen(at) + 1)
        entries[i] = (entry_name){at, at + strlen(prefix)};
    if (count > 1 && !dir->ordered)
        qsort(entries, count, sizeof *entries, compare_by_rest);
    char *copy = (char *)(list + count);
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(entries[i].name) + 1;
        list[i] = memcpy(copy, entries[i].name, len);
        copy += len;
    }
    *names = list;
    *n = count;
out:
    pf_free(entries);
    pf_buffer_free(&text);
    return st;
}

perfile_status pf_source_companions(const perfile_source *dir, char ***names, size_t *n,
                                    perfile_error *err)
{
    size_t kept = 0;
    perfile_status st = pf_source_list(dir, "", names, n, err);
    for (size_t i = 0; st == PERFILE_OK && i < *n; i++)
        if (perfile_is_companion_file((*names)[i]))
            (*names)[kept++] = (*names)[i];
    if (st == PERFILE_OK)
        *n = kept;
    return st;
}
