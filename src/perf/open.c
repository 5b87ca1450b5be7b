/* Opens perf.data captures of any form: the driver table, probing, and the way from a source to a
 * stream.
 *
 * Opening reads the header of the first part and, for a file, all sections (file.c), so that
 * session and container are complete before the first record.  A pipe has its facts in records,
 * which the walk passes to the session.  A file that arrives through a pipe is first copied to a
 * temporary file, because its features are after the records.  With options.assume (core/driver.h),
 * the caller's facts replace those of the header, even if there is no valid header. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/byte_order.h"
#include "perf/header.h"
#include "perf/stream.h"
#include "base/command.h"

static const char data_name[] = "data";

/* pf_driver.probe: returns the evidence in bits.  The 8 bytes of the magic count as 64 bits, a
 * known header size as another 64, any other size as 8. */
static unsigned probe(perfile_bytes peek, const perfile_source *source)
{
    if (pf_source_has_entries(source))
        return source->ordered ? 0 : 1; /* a directory: open_perf() reports what is missing in it */
    pf_perf_header h;
    unsigned damage = pf_perf_header_begin(peek, &h);
    if (damage == PERFILE_DAMAGE_BAD_MAGIC)
        return 0;
    if (damage)
        return 64; /* the magic alone */
    return pf_perf_header_size_known(&h) ? 128 : 72;
}

/* Returns true if all bytes are zero. perf writes the header last, so zeros mean that the writer
 * was probably killed. */
static bool all_zero(perfile_bytes b)
{
    for (size_t i = 0; i < b.len; i++)
        if (b.ptr[i])
            return false;
    return true;
}

/* Fails with a message about the bytes found instead of a header; `head` has at most 16 bytes. */
static perfile_status not_a_capture(unsigned damage, perfile_bytes head, perfile_error *err)
{
    perfile_status st = pf_damage_status(damage);
    char found[3 * PF_PERF_PIPE_HEADER + 1] = "";
    for (size_t i = 0; i < head.len && i < 8; i++)
        snprintf(found + 3 * i, 4, " %02x", head.ptr[i]);
    if (!err)
        return st;
    if (head.len == 0)
        pf_fail(err, st, "header", "empty: a perf.data header has at least %d bytes",
                PF_PERF_PIPE_HEADER);
    else if (damage == PERFILE_DAMAGE_TRUNCATED_HEADER)
        pf_fail(err, st, "header", "%zu bytes in all, a perf.data header needs %d", head.len,
                PF_PERF_PIPE_HEADER);
    else if (all_zero(head))
        pf_fail(err, st, "header.magic",
                "begins with zeros: the writer did not finish, or this is no perf.data file");
    else
        pf_fail(err, st, "header.magic",
                "begins with%s, not with PERFILE2, 2ELIFREP or PERFFILE: not a perf.data file",
                found);
    err->damage = (uint16_t)damage;
    err->offset = 0;
    return st;
}

/* Copies the facts of the first 16 bytes to the container. */
static void fill_container(pf_perf_stream *p, const pf_perf_header *h)
{
    perfile_container *c = &p->base.container;
    c->form = h->form;
    c->version = h->version;
    c->byte_order = pf_byte_order_of(h->swap);
    c->magic = h->magic;
    c->header_size = h->size;
}

/* Replaces values of the header by the caller's.  Returns true if the header can be used: it is
 * undamaged, or the caller gave the form. */
static bool assume_header(const perfile_assume *a, pf_perf_header *h, unsigned damage)
{
    if (!a)
        return !damage;
    if (a->byte_order)
        h->swap = (a->byte_order == PERFILE_BYTE_ORDER_BIG) != (bool)PF_NATIVE_BIG;
    if (a->form)
        h->form = a->form;
    if (damage && a->form) {
        h->version = 2;
        h->size = a->form == PERFILE_FORM_PIPE ? PF_PERF_PIPE_HEADER : PF_PERF_FILE_HEADER;
    }
    if (a->form)
        h->used = a->form == PERFILE_FORM_PIPE    ? PF_PERF_PIPE_HEADER
                  : h->used == PF_PERF_OLD_HEADER ? PF_PERF_OLD_HEADER
                                                  : PF_PERF_FILE_HEADER;
    return !damage || a->form;
}

/* Adds the caller's events; the events of the capture are then ignored. */
static perfile_status assume_events(pf_perf_stream *p, perfile_error *err)
{
    const perfile_assume *a = p->base.options.assume;
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; a && i < a->n_events && st == PERFILE_OK; i++) {
        st = pf_item_check(&a->events[i], "options.assume", err);
        if (st != PERFILE_OK)
            return st;
        pf_attr_fact fact = {.attr = a->events[i].attr,
                             .ids = a->events[i].ids,
                             .offset = PERFILE_NO_OFFSET,
                             .origin = PERFILE_ORIGIN_CONTAINER};
        st = pf_session_add_attr(p->base.session, &fact, err);
    }
    return st;
}

/* Reads the header of the first part and the sections that it names, and makes the session.  A
 * directory is opened even if its `data` has no valid header: the other parts have records. */
static perfile_status open_first(pf_perf_stream *p, perfile_error *err)
{
    pf_perf_part *part = &p->parts[0];
    perfile_bytes head;
    pf_perf_header h;
    perfile_status st = pf_source_run(part->source, 0, PF_PERF_PIPE_HEADER, &head, err);
    if (st != PERFILE_OK)
        return st;
    if (head.len > PF_PERF_PIPE_HEADER)
        head.len = PF_PERF_PIPE_HEADER;
    unsigned damage = pf_perf_header_begin(head, &h);
    const perfile_assume *a = p->base.options.assume;
    /* If it is not usable, the form is unknown, so neither sections nor records of this part can be
     * read. */
    bool usable = assume_header(a, &h, damage);
    if (!usable && !p->base.container.directory)
        return not_a_capture(damage, head, err);
    p->swap = damage && !(a && a->byte_order) ? PF_NATIVE_BIG : h.swap;
    st = pf_session_open(p->swap, &p->base.options, &p->base.session, err);
    if (st == PERFILE_OK)
        st = assume_events(p, err);
    if (st == PERFILE_OK && damage)
        st = pf_perf_container_damage(p, damage, PERFILE_EXTENT_HEADER, 0, err);
    if (st != PERFILE_OK || !usable)
        return st == PERFILE_OK ? pf_session_resolve(p->base.session, err) : st;

    fill_container(p, &h);
    if (h.form == PERFILE_FORM_PIPE) {
        part->start = PF_PERF_PIPE_HEADER;
        part->end = part->source->size;
    } else {
        /* The features are after the records, so a file from a pipe is copied to disk first. */
        if (!part->source->seekable)
            st = pf_source_spool(part->source, &part->source, err);
        if (st == PERFILE_OK)
            st = pf_perf_file(p, part, &h, err);
    }
    if (st == PERFILE_OK)
        st = pf_session_resolve(p->base.session, err);
    return st == PERFILE_OK ? pf_perf_extents(p, &h, part->source->size, err) : st;
}

/* perfile_stream.release, for pf_stream_release(). */
static void release(perfile_stream *s, uint32_t part, uint64_t offset, uint64_t len)
{
    pf_perf_stream *p = pf_perf_of(s);
    if (part < p->n_parts && p->parts[part].source)
        pf_source_release(p->parts[part].source, offset, len);
}

perfile_status pf_perf_stream_new(const perfile_open_options *options, pf_perf_stream **out,
                                  perfile_error *err)
{
    pf_perf_stream *p = pf_alloc(1, sizeof *p);
    if (!p)
        return pf_fail_nomem(err, "stream");
    perfile_status st = pf_options_copy(&p->base.options, options, "options", err);
    if (st == PERFILE_OK && p->base.options.assume) {
        st = pf_options_copy(&p->assume, p->base.options.assume, "options.assume", err);
        p->base.options.assume = &p->assume;
    }
    if (st == PERFILE_OK)
        st = pf_on_damage_resolve(&p->base.options.on_damage, PERFILE_ON_DAMAGE_STOP,
                                  PERFILE_ON_DAMAGE_SALVAGE, "options", err);
    if (st == PERFILE_OK)
        st = pf_byte_order_check(p->assume.byte_order, "options.assume", err);
    if (st == PERFILE_OK)
        st = pf_limits_copy(&p->base.limits, p->base.options.limits, err);
    if (st != PERFILE_OK) {
        pf_free(p);
        return st;
    }
    /* From here on the options do not refer to the caller's memory. */
    p->base.options.limits = &p->base.limits;
    p->base.ops = &pf_perf_ops;
    p->base.release = release;
    p->parts = pf_alloc(1, sizeof *p->parts);
    if (!p->parts) {
        pf_free(p);
        return pf_fail_nomem(err, "stream");
    }
    p->n_parts = 1;
    *out = p;
    return PERFILE_OK;
}

perfile_status pf_perf_name_stream(pf_perf_stream *p, const char *name, perfile_error *err)
{
    p->name = pf_alloc(strlen(name) + 1, 1);
    if (!p->name)
        return pf_fail_nomem(err, "stream");
    memcpy(p->name, name, strlen(name) + 1);
    p->base.name = p->name;
    return PERFILE_OK;
}

perfile_status pf_perf_name_parts(pf_perf_stream *p, perfile_error *err)
{
    perfile_container *c = &p->base.container;
    p->part_names = pf_alloc(p->n_parts, sizeof *p->part_names);
    if (!p->part_names)
        return pf_fail_nomem(err, "parts");
    for (uint32_t i = 0; i < p->n_parts; i++)
        p->part_names[i] =
            (perfile_part){.name = p->parts[i].name, .size = p->parts[i].source->size};
    c->parts = p->part_names;
    c->n_parts = p->n_parts;
    return PERFILE_OK;
}

/* pf_driver.open: owns `source` if it succeeds. */
static perfile_status open_perf(perfile_source *source, const perfile_open_options *options,
                                perfile_stream **stream, perfile_error *err)
{
    pf_perf_stream *p = NULL;
    perfile_source *first = source;
    perfile_status st = pf_perf_stream_new(options, &p, err);
    if (st != PERFILE_OK)
        return st;
    if (pf_source_has_entries(source)) {
        p->base.container.directory = true;
        st = pf_source_entry(source, data_name, &first, err);
        if (st != PERFILE_OK && p->base.options.assume && p->base.options.assume->n_events) {
            /* `data` is missing, but the caller gave the events: the other parts have records. */
            st = perfile_source_memory((perfile_bytes){NULL, 0}, source->name, &first, err);
        }
        if (st != PERFILE_OK) {
            if (err && err->sys == ENOENT)
                pf_fail_io(
                    err, ENOENT, "directory",
                    "a directory is a capture when it holds a file 'data', as those of `perf "
                    "record --threads`");
            p->n_parts = 0;
            perfile_stream_close(&p->base);
            return st;
        }
    }
    p->parts[0].source = first;
    st = pf_perf_name_stream(p, source->name, err);
    if (st == PERFILE_OK)
        st = open_first(p, err);
    if (st == PERFILE_OK && pf_source_has_entries(source))
        st = pf_perf_directory(p, source, err);
    if (st == PERFILE_OK)
        st = pf_perf_name_parts(p, err);
    if (st != PERFILE_OK) {
        /* On failure the source still belongs to the caller, so the stream must not close it.
         * After spooling, the part has another source, which belongs to the stream. */
        if (!pf_source_has_entries(source) && p->parts[0].source == source)
            p->parts[0].source = NULL;
        perfile_stream_close(&p->base);
        return st;
    }
    if (pf_source_has_entries(source)) {
        p->directory = source;
        pf_session_set_files(p->base.session, source);
    } else if (p->parts[0].source != source) {
        perfile_source_close(source);
    }
    *stream = &p->base;
    return PERFILE_OK;
}

/* pf_driver.head. */
static bool head(perfile_bytes bytes, pf_head *head)
{
    pf_perf_header h;
    if (pf_perf_header_begin(bytes, &h))
        return false;
    *head = (pf_head){.form = h.form, .swap = h.swap};
    return true;
}

static const perfile_output outputs[] = {
    {.name = "perf.data",
     .alias = "file",
     .doc = "a file",
     .format = "perf.data",
     .form = PERFILE_FORM_FILE},
    {.name = "pipe",
     .doc = "what `perf record -o -` writes",
     .format = "perf.data",
     .form = PERFILE_FORM_PIPE},
    {.name = "dir",
     .doc = "a directory, as those of `perf record --threads`",
     .format = "perf.data",
     .form = PERFILE_FORM_FILE,
     .directory = true},
};

const pf_driver pf_perf_driver = {
    .name = "perf.data",
    .doc = "Linux perf.data, file, pipe and directory",
    .family = PERFILE_FAMILY_PERF,
    .probe = probe,
    .open = open_perf,
    .create = pf_perf_create,
    .can = PF_CAN_COMPRESS | PF_CAN_TARGET,
    .outputs = outputs,
    .n_outputs = sizeof outputs / sizeof outputs[0],
    .head = head,
    .byteswap_head = pf_perf_byteswap_head,
    .byteswap_facts = pf_perf_byteswap_facts,
    .repair = &pf_perf_repair_ops,
};

/* Directories.  The file `data` is a complete capture.  The files data.N are records without a
 * header, one file for each thread of `perf record --threads`.  They share the events of `data` and
 * become the parts after it.  If a number is missing, this is damage of the container and not an
 * error. */

static char *copy_name(const char *name)
{
    size_t n = strlen(name) + 1;
    char *copy = pf_alloc(n, 1);
    if (copy)
        memcpy(copy, name, n);
    return copy;
}

/* Opens the file `name` of `dir` as the next part; p->parts has room for it. */
static perfile_status add_part(pf_perf_stream *p, const perfile_source *dir, const char *name,
                               perfile_error *err)
{
    pf_perf_part *part = &p->parts[p->n_parts];
    perfile_status st = pf_source_entry(dir, name, &part->source, err);
    if (st != PERFILE_OK)
        return st;
    p->n_parts++;
    part->name = copy_name(name);
    part->end = part->source->size;
    return part->name ? PERFILE_OK : pf_fail_nomem(err, "parts");
}

/* Records damage if the numbers of data.N are not 0, 1, 2 …, so that a file is missing.  `names`
 * are sorted by number. */
static perfile_status check_numbers(pf_perf_stream *p, char *const *names, size_t n,
                                    perfile_error *err)
{
    for (size_t i = 0; i < n; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "data.%zu", i);
        bool number = names[i][5] && strspn(names[i] + 5, "0123456789") == strlen(names[i] + 5);
        if (number && strcmp(names[i], expected) != 0)
            return pf_perf_container_damage(p, PERFILE_DAMAGE_BAD_DIRECTORY, PERFILE_EXTENT_RECORDS,
                                            PERFILE_NO_OFFSET, err);
    }
    return PERFILE_OK;
}

/* Records damage if DIR_FORMAT is 1, which means that the samples are in files data.N, and there
 * are no such files. */
static perfile_status check_any_part(pf_perf_stream *p, size_t n, perfile_error *err)
{
    enum { PARTS_IN_DIRECTORY = 1 };
    perfile_dir_format v;
    const perfile_feature *f = perfile_session_feature(p->base.session, PERFILE_FEATURE_DIR_FORMAT);
    if (n || !f || perfile_dir_format_decode(f, &v, sizeof v, NULL) != PERFILE_OK ||
        v.version != PARTS_IN_DIRECTORY)
        return PERFILE_OK;
    return pf_perf_container_damage(p, PERFILE_DAMAGE_BAD_DIRECTORY, PERFILE_EXTENT_RECORDS,
                                    f->offset, err);
}

/* p->parts grows once for all files, so that &p->parts[0] does not move after the walk has begun.
 */
perfile_status pf_perf_directory(pf_perf_stream *p, const perfile_source *dir, perfile_error *err)
{
    char **names = NULL;
    size_t n = 0;
    perfile_status st = pf_source_list(dir, "data.", &names, &n, err);
    if (st != PERFILE_OK)
        return st;
    pf_perf_part *parts = pf_realloc(p->parts, n + 1, sizeof *parts);
    if (!parts) {
        st = pf_fail_nomem(err, "parts");
        goto out;
    }
    memset(parts + 1, 0, n * sizeof *parts);
    p->parts = parts;
    p->parts[0].name = copy_name("data");
    if (!p->parts[0].name)
        st = pf_fail_nomem(err, "parts");
    for (size_t i = 0; st == PERFILE_OK && i < n; i++)
        st = add_part(p, dir, names[i], err);
    if (st == PERFILE_OK && !p->base.options.as_stored)
        st = check_numbers(p, names, n, err);
    if (st == PERFILE_OK && !p->base.options.as_stored)
        st = check_any_part(p, n, err);
out:
    pf_free(names);
    return st;
}
