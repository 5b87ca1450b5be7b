/* A capture read in pieces gives the same as read at once: the pipe form through a pipe, the file
 * form through a window. */
#include "ensure.h"
#include "tests/dripping.h"
#include "tests/streamed.h"

static perfile_status read_all(perfile_source *source, const perfile_open_options *options,
                               transcript *t)
{
    perfile_stream *s;
    perfile_error err = {0};
    perfile_status st = perfile_open(source, options, &s, &err);
    if (st != PERFILE_OK) {
        perfile_source_close(source);
        return st;
    }
    st = streamed(t, s, 0, &err);
    perfile_stream_close(s);
    return st;
}

static perfile_status read_whole(perfile_bytes bytes, const perfile_open_options *options,
                                 transcript *t)
{
    perfile_source *source;
    ENSURE(perfile_source_memory(bytes, "whole", &source, NULL) == PERFILE_OK);
    return read_all(source, options, t);
}

static perfile_status read_pieces(dripping d, bool seekable, const perfile_open_options *options,
                                  transcript *t)
{
    perfile_source *source;
    ENSURE(dripping_open(&d, seekable, NULL, &source, NULL) == PERFILE_OK);
    return read_all(source, options, t);
}

static void show_difference(const transcript *a, const transcript *b)
{
    size_t at = 0;
    while (at < a->len && at < b->len && a->text[at] == b->text[at])
        at++;
    size_t from = at < 300 ? 0 : at - 300;
    fprintf(stderr, "--- whole\n%.600s\n--- in pieces\n%.600s\n", a->text + from, b->text + from);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {data, size};
    uint64_t flags = choose(&c, 1);
    dripping d = {.most = 16 * (size_t)(255 - choose(&c, 1)) + 1, .state = size};
    d.bytes = (perfile_bytes){data, c.left};
    perfile_limits limits = {.size = sizeof limits,
                             .inflate_bytes = 1 << 20,
                             .zstd_window = 21,
                             .session_bytes = 16 << 20};
    perfile_open_options options = {
        .size = sizeof options,
        .limits = &limits,
        .deliver = PERFILE_DELIVER_DAMAGE,
        .on_damage = flags & 1 ? PERFILE_ON_DAMAGE_RESYNC : PERFILE_ON_DAMAGE_STOP,
        .as_stored = flags & 4,
    };
    /* Spooling needs a file, so the file form is read through a window instead. */
    static const uint8_t pipe_size[2][8] = {{16}, {0, 0, 0, 0, 0, 0, 0, 16}};
    bool is_pipe = c.left < 16 || memcmp(data + 8, pipe_size[0], 8) == 0 ||
                   memcmp(data + 8, pipe_size[1], 8) == 0;
    transcript whole = {0}, pieces = {0};
    perfile_status a = read_whole(d.bytes, &options, &whole);
    perfile_status b = read_pieces(d, !is_pipe, &options, &pieces);
    if (a != b || whole.hash != pieces.hash) {
        fprintf(stderr, "whole: %d, in pieces: %d\n", a, b);
        whole = (transcript){.with_text = true};
        pieces = (transcript){.with_text = true};
        read_whole(d.bytes, &options, &whole);
        read_pieces(d, !is_pipe, &options, &pieces);
        show_difference(&whole, &pieces);
    }
    ENSURE(a == b && whole.hash == pieces.hash);
    return 0;
}
