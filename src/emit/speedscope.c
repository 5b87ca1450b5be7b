/* The form `speedscope`: JSON for the viewer of that name, with a profile for each thread and
 * event, whose samples stand in order of time.
 *
 * `shared.frames` has each function once, and each other name of an object; a sample is a list of
 * positions in it, outermost first.  Weights of samples are 1, or with PERFILE_EXPORT_PERIODS their
 * periods. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "emit/export.h"

typedef struct speedscope {
    pf_exporter x;
    pf_timeline samples;
    pf_shown shown;
    pf_buffer name;
} speedscope;

static perfile_status open(perfile_emitter *e, perfile_error *err)
{
    speedscope *s = (speedscope *)(void *)e;
    perfile_status st = pf_export_open(e, err);
    pf_shown_init(&s->shown, &s->x.profile);
    return st;
}

static void close(perfile_emitter *e)
{
    speedscope *s = (speedscope *)(void *)e;
    pf_timeline_free(&s->samples);
    pf_shown_free(&s->shown);
    pf_buffer_free(&s->name);
    pf_export_close(e);
}

static bool take(pf_exporter *x, const pf_profiled *sample, uint32_t label)
{
    speedscope *s = (speedscope *)(void *)x;
    const pf_moment m = {.time = sample->time,
                         .weight = x->options.flags & PERFILE_EXPORT_PERIODS ? sample->period : 1,
                         .label = label,
                         .stack = sample->stack};
    return pf_timeline_add(&s->samples, &x->profile, &m);
}

static void put(speedscope *s, const char *text)
{
    pf_export_put_text(&s->x, text);
}

static perfile_status put_frames(speedscope *s, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    put(s, "\"shared\":{\"frames\":[");
    for (uint32_t i = 0; i < s->shown.names.n && st == PERFILE_OK; i++) {
        const pf_shown_name *frame = pf_shown_at(&s->shown, i);
        const pf_object *object = pf_profile_object_at(&s->x.profile, frame->object);
        put(s, i ? ",\n{\"name\":" : "\n{\"name\":");
        pf_export_put_string(&s->x, frame->name);
        if (object) {
            pf_buffer_clear(&s->name);
            if (!pf_name_text(object->name, PF_NAME_MOST, &s->name) ||
                !pf_buffer_append_u8(&s->name, 0))
                return pf_fail_nomem(err, "export");
            put(s, ",\"file\":");
            pf_export_put_string(&s->x, (const char *)s->name.ptr);
        }
        put(s, "}");
        st = pf_export_write_some(&s->x, err);
    }
    put(s, "\n]},\n");
    return st;
}

/* "work 123/124 cpu-clock": what a profile is called. */
static bool name_label(speedscope *s, const pf_label *label)
{
    char numbers[48] = "";
    pf_buffer_clear(&s->name);
    if (label->pid != PF_NO_LABEL && label->tid != PF_NO_LABEL)
        snprintf(numbers, sizeof numbers, " %" PRIu32 "/%" PRIu32, label->pid, label->tid);
    else if (label->pid != PF_NO_LABEL || label->tid != PF_NO_LABEL)
        snprintf(numbers, sizeof numbers, " %" PRIu32,
                 label->pid != PF_NO_LABEL ? label->pid : label->tid);
    if (label->cpu != PF_NO_LABEL)
        snprintf(numbers + strlen(numbers), sizeof numbers - strlen(numbers), " [%" PRIu32 "]",
                 label->cpu);
    return (!label->comm || pf_name_text(label->comm, PF_NAME_MOST, &s->name)) &&
           pf_buffer_append(&s->name, numbers, strlen(numbers)) &&
           (!label->event || (pf_buffer_append_u8(&s->name, ' ') &&
                              pf_name_text(label->event, PF_NAME_MOST, &s->name))) &&
           pf_buffer_append_u8(&s->name, 0);
}

/* The stack as positions in shared.frames. */
static void put_stack(speedscope *s, uint32_t stack, pf_buffer *path)
{
    const pf_profile *p = &s->x.profile;
    path->len = 0;
    for (; stack != PF_EMPTY_STACK; stack = pf_profile_stack_at(p, stack)->parent) {
        const uint32_t position = s->shown.positions[pf_profile_stack_at(p, stack)->frame];
        if (!pf_buffer_append(path, &position, sizeof position))
            s->x.base.no_memory = true;
    }
    put(s, "[");
    for (size_t i = path->len / sizeof(uint32_t); i-- > 0;) {
        pf_export_put_number(&s->x, ((const uint32_t *)(const void *)path->ptr)[i]);
        put(s, i ? "," : "");
    }
    put(s, "]");
}

/* Writes the profile of a label. */
static perfile_status put_profile(speedscope *s, uint32_t number, pf_buffer *path,
                                  perfile_error *err)
{
    const pf_label *label = pf_profile_label_at(&s->x.profile, number);
    const pf_moment *at = s->samples.at + s->samples.begins[number];
    const size_t n = s->samples.begins[number + 1] - s->samples.begins[number];
    const bool ns = s->x.options.flags & PERFILE_EXPORT_PERIODS && pf_export_is_clock(label->event);
    uint64_t sum = 0;
    perfile_status st = PERFILE_OK;
    if (!name_label(s, label))
        return pf_fail_nomem(err, "export");
    for (size_t i = 0; i < n; i++)
        sum = at[i].weight < UINT64_MAX - sum ? sum + at[i].weight : UINT64_MAX;
    put(s, "{\"type\":\"sampled\",\"name\":");
    pf_export_put_string(&s->x, (const char *)s->name.ptr);
    put(s, ns ? ",\"unit\":\"nanoseconds\"" : ",\"unit\":\"none\"");
    put(s, ",\"startValue\":0,\"endValue\":");
    pf_export_put_number(&s->x, sum);
    put(s, ",\n\"samples\":[");
    for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
        put(s, i ? "," : "");
        put_stack(s, at[i].stack, path);
        st = pf_export_write_some(&s->x, err);
    }
    put(s, "],\n\"weights\":[");
    for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
        put(s, i ? "," : "");
        pf_export_put_number(&s->x, at[i].weight);
        st = pf_export_write_some(&s->x, err);
    }
    put(s, "]}");
    return st;
}

static perfile_status put_all(speedscope *s, pf_buffer *path, perfile_error *err)
{
    put(s, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
           "\"exporter\":\"perfile\",\"name\":");
    pf_buffer_clear(&s->name);
    if (!pf_name_text(s->x.title ? s->x.title : "perfile export", PF_NAME_MOST, &s->name) ||
        !pf_buffer_append_u8(&s->name, 0))
        return pf_fail_nomem(err, "export");
    pf_export_put_string(&s->x, (const char *)s->name.ptr);
    put(s, ",\"activeProfileIndex\":0,\n");
    perfile_status st = put_frames(s, err);
    put(s, "\"profiles\":[");
    for (uint32_t i = 0; i < s->samples.n_labels && st == PERFILE_OK; i++) {
        put(s, i ? ",\n" : "\n");
        st = put_profile(s, i, path, err);
    }
    put(s, "\n]}\n");
    return st;
}

static perfile_status finish(perfile_emitter *e, perfile_error *err)
{
    speedscope *s = (speedscope *)(void *)e;
    pf_buffer path = {0};
    perfile_status st = pf_export_end_input(&s->x, err);
    if (st == PERFILE_OK)
        st = pf_timeline_sort(&s->samples, &s->x.profile, err);
    if (st == PERFILE_OK)
        st = pf_shown_make(&s->shown, &s->x, err);
    if (st == PERFILE_OK)
        st = put_all(s, &path, err);
    pf_buffer_free(&path);
    return st;
}

static const pf_export_ops exports = {
    .put_run = pf_export_put_run,
    .next = pf_export_next,
    .summary = pf_export_summary,
    .take = take,
    .per = {PERFILE_PER_COMM, PERFILE_PER_PID, PERFILE_PER_TID, PERFILE_PER_EVENT},
    .joins = true,
};

const pf_emit_ops pf_emit_speedscope = {
    .name = "speedscope",
    .doc = "JSON for the viewer speedscope, a profile for each thread",
    .size = sizeof(speedscope),
    .open = open,
    .close = close,
    .begin = pf_export_begin,
    .put = pf_export_put,
    .finish = finish,
    .exports = &exports,
};
