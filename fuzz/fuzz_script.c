/* Any bytes as a capture, printed like `perf script`.  No line can control a terminal, and several
 * threads print the same as one. */
#include "ensure.h"
#include "limits.h"
#include "perfile/perfile.h"
#include "tests/owned.h"
#include "base/command.h"

#include <string.h>

static const char *const lists[] = {
    NULL,
    "comm,pid,tid,time,cpu,event,ip,sym,dso,symoff,srcline,period,misc,flags",
    "+addr,+data_src,+weight,+ins_lat,+retire_lat",
    "ip,uregs,iregs,brstack,dso",
    "ip,brstacksym,sym",
    "ip,brstackoff,phys_addr,data_page_size,code_page_size",
    "sw:+dsoff hw:comm,tid,trace trace:-event",
    "+bpf-output",
};

/* Prints the capture to `sink`.  Returns false if it cannot be opened or printed in this way. */
static bool print(perfile_bytes in, const perfile_emit_options *how, perfile_sink *sink)
{
    perfile_source *source;
    perfile_stream *s, *sorted;
    perfile_emit_options options = *how;
    perfile_error err;
    const perfile_open_options opening = {
        .size = sizeof opening, .on_damage = PERFILE_ON_DAMAGE_SALVAGE, .limits = &small_limits};
    perfile_open_filtered_options reading = {
        .size = sizeof reading, .how = &opening, .model = true};
    const perfile_sort_options sorting = {.size = sizeof sorting,
                                          .max_memory = PERFILE_SORT_LEAST_MEMORY};
    ENSURE(perfile_source_memory(in, "in", &source, NULL) == PERFILE_OK);
    perfile_status st = perfile_open_filtered(source, NULL, &reading, &s, &options.model, &err);
    if (closed_unless_ok(source, st) != PERFILE_OK)
        return false;
    ENSURE(perfile_sort(s, &sorting, &sorted, NULL) == PERFILE_OK);
    perfile_emitter *e = NULL;
    st = perfile_emitter_open("script", sorted, sink, &options, &e, &err);
    const perfile_record *first;
    size_t n;
    if (st == PERFILE_OK)
        st = perfile_emitter_begin(e, &err);
    while (st == PERFILE_OK && perfile_stream_next_run(sorted, &first, &n, NULL) == PERFILE_OK)
        st = perfile_emitter_put_run(e, first, n, &err);
    if (st == PERFILE_OK)
        st = perfile_emitter_finish(e, &err);
    ENSURE(st == PERFILE_OK || (st < 0 && err.message[0]));
    perfile_emitter_close(e);
    perfile_stream_close(sorted);
    return st == PERFILE_OK;
}

static void check_text(perfile_bytes text)
{
    ENSURE(!text.len || text.ptr[text.len - 1] == '\n');
    for (size_t i = 0, n; i < text.len; i += n) {
        uint32_t code;
        n = perfile_utf8_char(text.ptr + i, text.len - i, &code);
        ENSURE(n && (pf_is_printable(code) || code == '\n' || code == '\t'));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4)
        return 0;
    const uint8_t *choice = data + (size -= 4);
    const perfile_bytes in = {data, size};
    perfile_emit_options how = {.size = sizeof how, .fields = lists[choice[0] & 7]};
    how.flags =
        ((uint32_t)choice[1] << 3 | (uint32_t)choice[2] << 11) & (2 * PERFILE_SCRIPT_SHOW_INFO - 1);
    how.max_stack = choice[3] & 7;
    perfile_sink *one, *two;
    perfile_bytes a, b;
    ENSURE(perfile_sink_memory("one", &one, NULL) == PERFILE_OK);
    ENSURE(perfile_sink_memory("two", &two, NULL) == PERFILE_OK);
    const bool printed = print(in, &how, one);
    if (choice[3] >> 3 & 1) { /* threads cost more than everything else */
        how.threads = 2;
        ENSURE(print(in, &how, two) == printed);
        if (printed) {
            a = perfile_sink_bytes(one);
            b = perfile_sink_bytes(two);
            ENSURE(a.len == b.len && (!a.len || memcmp(a.ptr, b.ptr, a.len) == 0));
        }
    }
    if (printed)
        check_text(perfile_sink_bytes(one));
    perfile_sink_close(one);
    perfile_sink_close(two);
    return 0;
}
