/* What META chunks say about a capture that is being packed; see packer_about.h. */
#include "archive/packer.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/out.h"
#include "perfile/version.h"

static uint64_t now(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

perfile_status pf_about_init(pf_about *x, const perfile_archive_options *options,
                             perfile_error *err)
{
    const uint32_t expanded = options->flags & PERFILE_ARCHIVE_EXPANDED ? PF_LOSSY_EXPANDED : 0;
    const uint32_t scrubbed = options->flags & PERFILE_ARCHIVE_SCRUBBED ? PF_LOSSY_SCRUBBED : 0;
    *x = (pf_about){.created = now(), .modified = options->modified, .lossy = expanded | scrubbed};
    pf_arena_init(&x->strings, UINT64_MAX, "archive.events");
    if (!options->name)
        return PERFILE_OK;
    const perfile_bytes name = {(const uint8_t *)options->name, strlen(options->name)};
    if (!pf_meta_name_is_safe(name))
        return pf_fail(err, PERFILE_E_USAGE, "archive.name",
                       "a capture is called by the name of its file: 1 to %d bytes, without '/'",
                       PF_META_MOST_NAME);
    x->name = pf_alloc(name.len + 1, 1);
    if (!x->name)
        return pf_fail_nomem(err, "archive");
    memcpy(x->name, name.ptr, name.len);
    return PERFILE_OK;
}

void pf_about_free(pf_about *x)
{
    pf_free(x->name);
    pf_free(x->events);
    pf_arena_free(&x->strings);
}

perfile_status pf_about_events(pf_about *x, const perfile_session *s, perfile_error *err)
{
    if (!s || (s == x->session && perfile_session_generation(s) == x->generation))
        return PERFILE_OK;
    x->session = s;
    x->generation = perfile_session_generation(s);
    const uint32_t n = perfile_session_n_events(s);
    pf_free(x->events);
    pf_arena_free(&x->strings);
    x->n_events = 0;
    x->events = pf_alloc(n, sizeof *x->events);
    if (!x->events)
        return pf_fail_nomem(err, "archive");
    for (uint32_t i = 0; i < n; i++) {
        const perfile_event *e = perfile_session_event(s, i);
        const perfile_bytes name = {(const uint8_t *)e->name, strlen(e->name)};
        pf_meta_event *copy = &x->events[i];
        perfile_status st = pf_arena_text(&x->strings, name, &copy->name, err);
        if (st == PERFILE_OK)
            st = pf_arena_copy(&x->strings, e->stored, &copy->attr, err);
        if (st != PERFILE_OK)
            return st;
        x->n_events++;
    }
    return PERFILE_OK;
}

perfile_status pf_about_encode(const pf_about *x, pf_meta_part *parts, uint32_t n, bool complete,
                               pf_buffer *out, perfile_error *err)
{
    char creator[48];
    snprintf(creator, sizeof creator, "perfile %d.%d.%d", PERFILE_VERSION_MAJOR,
             PERFILE_VERSION_MINOR, PERFILE_VERSION_PATCH);
    const char *lossy[PF_META_LOSSY_WORDS];
    const pf_meta m = {.creator = creator,
                       .name = x->name,
                       .has_modified = x->modified != 0,
                       .modified = x->modified,
                       .has_created = true,
                       .created = x->created,
                       .has_lossy = x->lossy != 0,
                       .lossy = lossy,
                       .n_lossy = pf_meta_lossy_words(x->lossy, lossy),
                       .parts = parts,
                       .n_parts = n,
                       .has_events = complete && x->n_events,
                       .events = x->events,
                       .n_events = complete ? x->n_events : 0};
    return pf_meta_encode(&m, out, err);
}
