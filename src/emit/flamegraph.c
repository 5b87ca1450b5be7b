/* The form `flamegraph`: one HTML file with a picture of the tree of samples, to zoom and search in
 * any browser, without anything from elsewhere.
 *
 * This file writes the data, as JSON in a script element that is not run; the page that draws it is
 * flamegraph_page.c.  `nodes` has four numbers for each frame, in the order of the tree: depth,
 * position of its name in `names`, weight with all that it called, and kind (PF_CODE_…).  Frames
 * too small to be seen are left out, and counted in `pruned`.  Where captures are compared,
 * `before` has the weight that each of these frames had before. */
#include "emit/export.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"

enum {
    LEAST_SHARE = 20000, /* frames of less than 1/LEAST_SHARE of all are left out */
    WRITE_BYTES = 1 << 20
};
#define LEAST_TEXT "0.005 %" /* LEAST_SHARE in words */

static void put(pf_exporter *x, const char *text)
{
    pf_emit_bytes(&x->base, text, strlen(text));
}

/* Writes a title that a program gave, made printable like a name. */
static bool put_title(pf_exporter *x)
{
    pf_buffer title = {0};
    bool ok = pf_name_text(x->title ? x->title : "Flame graph", PF_FUNCTION_MOST, &title) &&
              pf_buffer_append_u8(&title, '\0');
    if (ok)
        pf_export_put_string(x, (const char *)title.ptr);
    pf_buffer_free(&title);
    return ok;
}

static bool is_shown(const pf_node *node, const uint64_t *all)
{
    bool shown = false;
    for (size_t when = PF_NOW; when <= PF_BEFORE; when++)
        shown |= node->total[when] && node->total[when] >= all[when] / LEAST_SHARE;
    return shown;
}

/* The next node that is shown; 0 at the end.  What lies on a node that is left out is so, too. */
static uint32_t next_shown(pf_exporter *x, const pf_tree *t, uint32_t at)
{
    for (at = pf_tree_next(t, at); at; at = pf_tree_next(t, at)) {
        if (is_shown(pf_tree_at(t, at), pf_tree_at(t, 0)->total))
            return at;
        x->sum.pruned++;
    }
    return 0;
}

/* Writes the nodes, and renumbers their names in the order in which they occur: `numbers` has room
 * for one more than names. */
static perfile_status put_nodes(pf_exporter *x, const pf_tree *t, uint32_t *numbers, uint32_t *used,
                                perfile_error *err)
{
    uint32_t n_used = 0, at = 0;
    char text[96];
    do {
        const pf_node *node = pf_tree_at(t, at);
        if (!numbers[node->name]) {
            used[n_used++] = node->name;
            numbers[node->name] = n_used;
        }
        int n = snprintf(text, sizeof text, "%s%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu32,
                         at ? "," : "", node->depth, numbers[node->name] - 1, node->total[PF_NOW],
                         at ? node->code : PF_CODE_LABEL);
        pf_emit_bytes(&x->base, text, (size_t)n);
        if (x->base.out.len >= WRITE_BYTES) {
            perfile_status st = pf_emitter_write_out(&x->base, err);
            if (st != PERFILE_OK)
                return st;
        }
        at = next_shown(x, t, at);
    } while (at);
    put(x, "],\n\"names\":[");
    for (uint32_t i = 0; i < n_used; i++) {
        put(x, i ? "," : "");
        pf_export_put_string(x, used[i] ? t->names[used[i]] : "all");
    }
    return PERFILE_OK;
}

/* Writes the weights before, of the nodes that are shown. */
static void put_before(pf_exporter *x, const pf_tree *t)
{
    const uint64_t pruned = x->sum.pruned; /* counted already */
    char text[32];
    put(x, ",\n\"before\":[");
    uint32_t at = 0;
    do {
        int n = snprintf(text, sizeof text, "%s%" PRIu64, at ? "," : "",
                         pf_tree_at(t, at)->total[PF_BEFORE]);
        pf_emit_bytes(&x->base, text, (size_t)n);
        at = next_shown(x, t, at);
    } while (at);
    put(x, "]");
    x->sum.pruned = pruned;
}

/* Writes the data: everything that the script reads. */
static perfile_status put_data(pf_exporter *x, const pf_tree *t, perfile_error *err)
{
    char text[64];
    perfile_status st = PERFILE_E_NOMEM;
    uint32_t *numbers = pf_alloc(t->n_names, sizeof *numbers);
    uint32_t *used = pf_alloc(t->n_names, sizeof *used);
    put(x, "<script id='data' type='application/json'>{\"title\":");
    if (numbers && used && put_title(x)) {
        put(x, x->options.flags & PERFILE_EXPORT_PERIODS ? ",\"unit\":\"events (periods)\""
                                                         : ",\"unit\":\"samples\"");
        put(x, ",\"nodes\":[");
        st = put_nodes(x, t, numbers, used, err);
        put(x, "]");
        if (x->compares)
            put_before(x, t);
        snprintf(text, sizeof text, ",\n\"pruned\":%" PRIu64 ",\"least\":\"%s\"}", x->sum.pruned,
                 LEAST_TEXT);
        put(x, text);
        put(x, "</script>\n");
    }
    pf_free(numbers);
    pf_free(used);
    return st == PERFILE_E_NOMEM ? pf_fail_nomem(err, "export") : st;
}

static perfile_status finish(perfile_emitter *e, perfile_error *err)
{
    pf_exporter *x = (pf_exporter *)e;
    pf_tree tree = {0};
    const pf_tree_options options = pf_export_tree_options(x);
    perfile_status st = pf_export_end_input(x, err);
    if (st == PERFILE_OK)
        st = pf_tree_make(&tree, &x->profile, &options, err);
    put(x, "<!DOCTYPE html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
           "<meta name='viewport' content='width=device-width'>\n<title>Flame graph</title>\n");
    if (st == PERFILE_OK)
        st = put_data(x, &tree, err);
    for (const char *const *line = pf_flamegraph_page; *line; line++) {
        put(x, *line);
        put(x, "\n");
    }
    pf_tree_free(&tree);
    return st;
}

const pf_emit_ops pf_emit_flamegraph = {
    .name = "flamegraph",
    .doc = "a picture to zoom and search, one HTML file for any browser",
    .size = sizeof(pf_exporter),
    .open = pf_export_open,
    .close = pf_export_close,
    .begin = pf_export_begin,
    .put = pf_export_put,
    .finish = finish,
    .exports = &pf_export_adds_up,
};
