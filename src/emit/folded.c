/* The form `folded`: a line for each stack, outermost frame first, with its weight behind it.
 *
 *     work;[libc.so.6+0x27675];[work+0x11c4] 17
 *
 * It is what scripts that collapse stacks print, and what most viewers of flame graphs read.
 * Names have no `;`, no control characters, and are UTF-8 (profile/name.h), so that a line is
 * frames, a space, and a number, whatever a capture says.  Lines come in the order of the tree.
 * Compared captures have two numbers, before and now, as scripts for differences read them.
 *
 * A frame's name is in the line of each stack that has it, so that a few deep stacks of long names
 * make far more output than they took bytes: then names are shortened. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "emit/export.h"

enum { WRITE_BYTES = 1 << 20 };

/* What the lines of a tree would have in bytes of names, if none were longer than `most`. */
static uint64_t names_bytes(const void *user, size_t most)
{
    const pf_tree *t = user;
    uint64_t sum = 0, path = 0;
    uint32_t before = 0; /* the node before this one */
    for (uint32_t i = pf_tree_next(t, 0); i && sum < UINT64_MAX / 2; i = pf_tree_next(t, i)) {
        const pf_node *node = pf_tree_at(t, i);
        for (uint32_t n = before; n != node->parent; n = pf_tree_at(t, n)->parent)
            path -= strnlen(t->names[pf_tree_at(t, n)->name], most);
        path += strnlen(t->names[node->name], most);
        sum += node->self[PF_NOW] || node->self[PF_BEFORE] ? path : 0;
        before = i;
    }
    return sum;
}

/* Cuts the path back to the parent of `node`, and appends the name of the node, of at most `most`
 * bytes.  `ends`: where the path ends at each depth. */
static bool extend_path(const pf_tree *t, const pf_node *node, size_t most, pf_buffer *path,
                        pf_buffer *ends)
{
    uint8_t room[PF_TEXT_MOST];
    const char *whole = t->names[node->name];
    const perfile_bytes name =
        pf_shortened((perfile_bytes){(const uint8_t *)whole, strlen(whole)}, most, room);
    size_t end = 0;
    ends->len = node->depth * sizeof end; /* the root has depth 0 and none */
    if (node->depth > 1)
        memcpy(&end, ends->ptr + ends->len - 2 * sizeof end, sizeof end);
    ends->len -= sizeof end;
    path->len = end;
    if ((end && !pf_buffer_append_u8(path, ';')) || !pf_buffer_append(path, name.ptr, name.len))
        return false;
    end = path->len;
    return pf_buffer_append(ends, &end, sizeof end);
}

/* Writes the lines of a tree. */
static perfile_status write_lines(pf_exporter *x, const pf_tree *t, perfile_error *err)
{
    pf_buffer path = {0}, ends = {0};
    perfile_status st = PERFILE_OK;
    char weight[64];
    const size_t most = pf_export_names_most(x, names_bytes, t);
    for (uint32_t i = pf_tree_next(t, 0); i && st == PERFILE_OK; i = pf_tree_next(t, i)) {
        const pf_node *node = pf_tree_at(t, i);
        if (!extend_path(t, node, most, &path, &ends)) {
            st = pf_fail_nomem(err, "export");
            break;
        }
        if (!node->self[PF_NOW] && !node->self[PF_BEFORE])
            continue;
        pf_emit_bytes(&x->base, path.ptr, path.len);
        int n = x->compares ? snprintf(weight, sizeof weight, " %" PRIu64 " %" PRIu64 "\n",
                                       node->self[PF_BEFORE], node->self[PF_NOW])
                            : snprintf(weight, sizeof weight, " %" PRIu64 "\n", node->self[PF_NOW]);
        pf_emit_bytes(&x->base, weight, (size_t)n);
        if (x->base.out.len >= WRITE_BYTES || x->base.no_memory)
            st = pf_emitter_write_out(&x->base, err);
    }
    pf_buffer_free(&path);
    pf_buffer_free(&ends);
    return st;
}

static perfile_status finish(perfile_emitter *e, perfile_error *err)
{
    pf_exporter *x = (pf_exporter *)e;
    pf_tree tree = {0};
    const pf_tree_options options = pf_export_tree_options(x);
    perfile_status st = pf_export_end_input(x, err);
    if (st == PERFILE_OK)
        st = pf_tree_make(&tree, &x->profile, &options, err);
    if (st == PERFILE_OK)
        st = write_lines(x, &tree, err);
    pf_tree_free(&tree);
    return st;
}

const pf_emit_ops pf_emit_folded = {
    .name = "folded",
    .doc = "a line for each stack, for flame graph scripts and viewers",
    .size = sizeof(pf_exporter),
    .open = pf_export_open,
    .close = pf_export_close,
    .begin = pf_export_begin,
    .put = pf_export_put,
    .finish = finish,
    .exports = &pf_export_adds_up,
};
