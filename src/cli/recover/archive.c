/* `recover --to archive` of an archive: a new archive of its intact chunks.
 *
 * The capture in it is not looked at: what was intact stays byte for byte what it was, and what is
 * lost is known exactly. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/archive.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/json.h"
#include "cli/note.h"
#include "cli/recover/recover.h"
#include "cli/text.h"
#include "perfile/check.h"

enum { MAX_SHOWN = 20 };

typedef struct repair {
    const char *name;
    const cli_output *o;
    bool json, dry_run;
    uint64_t n; /* findings */
    perfile_archive_repaired sum;
} repair;

static void json_finding(const perfile_archive_finding *f)
{
    cli_json_object(NULL);
    cli_json_string("rule", perfile_rule_of(f->rule)->id);
    if (f->offset == PERFILE_NO_OFFSET)
        cli_json_null("offset");
    else
        cli_json_decimal("offset", f->offset);
    cli_json_string("text", f->text);
    if (f->part_bytes) {
        cli_json_number("capture", f->capture);
        cli_json_number("part", f->part);
        cli_json_decimal("part_offset", f->part_offset);
        cli_json_number("part_bytes", f->part_bytes);
    }
    cli_json_bool("lost", f->is_lost);
    cli_json_object_end();
}

static void on_lost(void *user, const perfile_archive_finding *f)
{
    repair *x = user;
    x->n++;
    if (x->json)
        json_finding(f);
    else if (x->n <= MAX_SHOWN && f->offset != PERFILE_NO_OFFSET)
        cli_message("%s: offset %" PRIu64 ": %s", x->name, f->offset, f->text);
    else if (x->n <= MAX_SHOWN)
        cli_message("%s: %s", x->name, f->text);
}

static void json_begin(const repair *x)
{
    cli_json_object(NULL);
    cli_json_string("file", x->name);
    cli_json_bool("dry_run", x->dry_run);
    cli_json_array("findings");
}

static void json_end(const repair *x, const perfile_error *failed)
{
    const perfile_archive_repaired *s = &x->sum;
    cli_json_array_end();
    if (failed || x->dry_run)
        cli_json_null("out");
    else
        cli_json_string("out", x->o->out);
    cli_json_object("kept");
    cli_json_number("chunks", s->chunks);
    cli_json_number("bytes", s->bytes);
    cli_json_object_end();
    cli_json_object("lost");
    cli_json_number("chunks", s->chunks_lost);
    cli_json_number("metadata", s->metas_lost);
    cli_json_number("gaps", s->gaps);
    cli_json_number("gap_bytes", s->gap_bytes);
    cli_json_number("bytes", s->lost_bytes);
    cli_json_object_end();
    cli_json_bool("whole", !s->damaged && !failed);
    cli_json_error(failed);
    cli_json_object_end();
    cli_json_line();
}

static void report(const repair *x, const perfile_error *failed)
{
    const perfile_archive_repaired *s = &x->sum;
    char bytes[32];
    if (x->n > MAX_SHOWN)
        cli_message("%s: and %" PRIu64 " more; --json lists all", x->name, x->n - MAX_SHOWN);
    if (failed) {
        cli_report_error(x->name, failed);
        cli_message("%s: nothing was written", x->name);
        return;
    }
    cli_message("%s: %s %" PRIu32 " chunk%s", x->name, x->dry_run ? "would keep" : "kept",
                s->chunks, s->chunks == 1 ? "" : "s");
    cli_format_bytes(s->lost_bytes, bytes, sizeof bytes);
    if (!s->damaged)
        cli_message("%s: nothing was lost", x->name);
    else if (s->lost_bytes)
        cli_message("%s: lost %s of what was packed", x->name, bytes);
    else
        cli_message("%s: no byte of what was packed is known to be lost", x->name);
}

static int repair_archive(repair *x, perfile_archive *a)
{
    perfile_error err = {0};
    perfile_sink *sink = NULL;
    int status = x->dry_run ? cli_protect_inputs_verbose(x->o->inputs, x->o->n_inputs)
                            : cli_output_open(x->o, &sink);
    if (status != CLI_DONE)
        return CLI_FAILED;
    cli_writing_begin(x->name);
    if (x->json)
        json_begin(x);
    perfile_status st = perfile_archive_repair(a, sink, on_lost, x, &x->sum, sizeof x->sum, &err);
    if (x->json)
        json_end(x, st == PERFILE_OK ? NULL : &err);
    if (!x->json || st != PERFILE_OK)
        report(x, st == PERFILE_OK ? NULL : &err);
    cli_writing_end(sink);
    return cli_status_of(st, x->sum.damaged);
}

bool cli_recover_archive(const char *path, const cli_writing *w, bool dry_run, int *status)
{
    perfile_error err = {0};
    perfile_archive *a;
    /* The sink gets the bytes of an archive: it is not packed once more. */
    const cli_output o = {.out = w->out, .replace = w->replace, .inputs = &path, .n_inputs = 1};
    repair x = {.name = cli_input_name(path), .o = &o, .json = w->json, .dry_run = dry_run};
    perfile_status st = cli_archive_open(path, w->limits, false, &a, &err);
    if (st == PERFILE_END)
        return false;
    if (st != PERFILE_OK) {
        cli_report_error(x.name, &err);
        *status = CLI_FAILED;
        return true;
    }
    *status = repair_archive(&x, a);
    perfile_archive_close(a);
    return true;
}
