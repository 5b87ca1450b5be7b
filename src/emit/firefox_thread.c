/* A thread of the form `firefox` (see firefox.h): what it is called, its samples and its markers.
 */
#include "emit/firefox.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* Whether there are labels of different events. */
static bool has_events(const pf_firefox *f)
{
    const pf_profile *p = &f->x.profile;
    const char *one = NULL;
    for (uint32_t i = 0; i < f->tracks.n; i++) {
        const char *event = pf_profile_label_at(p, i)->event;
        if (f->tracks.at[i].sampled && event && one && event != one)
            return true;
        one = event ? event : one;
    }
    return false;
}

/* Finds the main thread of each process. */
static bool find_mains(pf_firefox *f)
{
    const pf_profile *p = &f->x.profile;
    f->mains = (pf_index){.seed = pf_index_seed(f), .budget = &f->x.profile.budget};
    for (unsigned others = 0; others < 2; others++)
        for (uint32_t i = 0; i < f->tracks.n; i++) {
            const pf_label *l = pf_profile_label_at(p, i);
            if (f->tracks.at[i].used && (l->pid != l->tid) == others &&
                pf_index_get(&f->mains, l->pid) == PF_INDEX_NONE &&
                !pf_index_put(&f->mains, l->pid, i))
                return false;
        }
    return true;
}

perfile_status pf_firefox_open_threads(pf_firefox *f, perfile_error *err)
{
    f->per_event = has_events(f);
    return find_mains(f) ? pf_firefox_open_tables(f, err) : pf_profile_fail(&f->x.profile, err);
}

static perfile_status put_samples(pf_firefox *f, uint32_t label, perfile_error *err)
{
    const pf_timeline *line = &f->tracks.samples;
    const pf_moment *m = line->at + line->begins[label];
    const size_t n = line->begins[label + 1] - line->begins[label];
    const bool weighs = f->x.options.flags & PERFILE_EXPORT_PERIODS;
    const bool clock =
        weighs && pf_export_is_clock(pf_profile_label_at(&f->x.profile, label)->event);
    uint64_t untimed = 0;
    perfile_status st = PERFILE_OK;
    pf_firefox_put(f, ",\n\"samples\":{\"length\":");
    pf_export_put_number(&f->x, n);
    pf_firefox_put(f, clock ? ",\"weightType\":\"tracing-ms\"" : ",\"weightType\":\"samples\"");
    pf_firefox_put(f, ",\"stack\":[");
    for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
        pf_firefox_put(f, i ? "," : "");
        if (m[i].stack == PF_EMPTY_STACK)
            pf_firefox_put(f, "null");
        else
            pf_firefox_put_stack(f, m[i].stack);
        st = pf_export_write_some(&f->x, err);
    }
    pf_firefox_put(f, "],\"time\":[");
    for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
        pf_firefox_put(f, i ? "," : "");
        pf_firefox_ms(f, pf_tracks_time(&f->tracks, m[i].time, &untimed));
        st = pf_export_write_some(&f->x, err);
    }
    pf_firefox_put(f, weighs ? "],\"weight\":[" : "],\"weight\":null");
    for (size_t i = 0; i < n && st == PERFILE_OK && weighs; i++) {
        pf_firefox_put(f, i ? "," : "");
        if (clock)
            pf_firefox_ms(f, m[i].weight);
        else
            pf_export_put_number(&f->x, m[i].weight);
        st = pf_export_write_some(&f->x, err);
    }
    pf_firefox_put(f, weighs ? "]}" : "}");
    return st;
}

/* The next marker of a label: on a processor, or a record. */
typedef struct marker {
    uint64_t begin, end; /* ns from the first time */
    const pf_mark *mark; /* NULL: on a processor */
    uint32_t cpu;
} marker;

typedef struct markers {
    pf_firefox *f;
    uint32_t label;
    size_t slice, mark; /* where to go on */
    uint64_t untimed;
} markers;

static bool next_marker(markers *w, marker *out)
{
    const pf_tracks *t = &w->f->tracks;
    const pf_timeline *line = &t->marks;
    pf_slice slice;
    if (pf_tracks_slice(t, w->label, &w->slice, &slice)) {
        *out = (marker){slice.begin - t->first, slice.end - t->first, NULL, slice.cpu};
        return true;
    }
    if (w->mark == line->begins[w->label + 1] - line->begins[w->label])
        return false;
    const pf_moment *m = &line->at[line->begins[w->label] + w->mark++];
    const uint64_t time = pf_tracks_time(t, m->time, &w->untimed);
    *out = (marker){time, time, pf_marks_at(&t->said, m->stack), PF_NO_LABEL};
    return true;
}

static void marker_data(pf_firefox *f, const marker *m)
{
    if (m->mark) {
        pf_firefox_put(f, "{\"type\":\"");
        pf_firefox_put(f, perfile_record_type_name((uint32_t)m->mark->type));
        pf_firefox_put(f, "\"");
        pf_firefox_put(f, m->mark->text);
    } else {
        pf_firefox_put(f, "{\"type\":\"on-cpu\"");
        if (m->cpu != PF_NO_LABEL) {
            pf_firefox_put(f, ",\"cpu\":");
            pf_export_put_number(&f->x, m->cpu);
        }
    }
    pf_firefox_put(f, "}");
}

static void marker_name(pf_firefox *f, const marker *m)
{
    pf_firefox_text(f, m->mark ? perfile_record_type_name((uint32_t)m->mark->type) : "on cpu",
                    PF_NAME_MOST);
}

static void marker_start(pf_firefox *f, const marker *m)
{
    pf_firefox_ms(f, m->begin);
}

static void marker_end(pf_firefox *f, const marker *m)
{
    if (m->mark)
        pf_firefox_put(f, "null");
    else
        pf_firefox_ms(f, m->end);
}

/* Instants are 0, intervals 1. */
static void marker_phase(pf_firefox *f, const marker *m)
{
    pf_firefox_put(f, m->mark ? "0" : "1");
}

static void marker_category(pf_firefox *f, const marker *m)
{
    (void)m;
    pf_export_put_number(&f->x, PF_CODE_UNKNOWN);
}

/* The table of markers has columns too, so that all are gone through once for each. */
static perfile_status put_markers(pf_firefox *f, uint32_t label, perfile_error *err)
{
    static const struct {
        const char *name;
        void (*value)(pf_firefox *f, const marker *m);
    } columns[] = {{"data", marker_data},   {"name", marker_name},   {"startTime", marker_start},
                   {"endTime", marker_end}, {"phase", marker_phase}, {"category", marker_category}};
    perfile_status st = PERFILE_OK;
    uint64_t n = 0;
    pf_firefox_put(f, ",\n\"markers\":{");
    for (size_t i = 0; i < sizeof columns / sizeof columns[0] && st == PERFILE_OK; i++) {
        markers w = {.f = f, .label = label};
        marker m;
        pf_firefox_put(f, "\"");
        pf_firefox_put(f, columns[i].name);
        pf_firefox_put(f, "\":[");
        for (n = 0; st == PERFILE_OK && next_marker(&w, &m); n++) {
            pf_firefox_put(f, n ? "," : "");
            columns[i].value(f, &m);
            st = pf_export_write_some(&f->x, err);
        }
        pf_firefox_put(f, "],");
    }
    pf_firefox_put(f, "\"length\":");
    pf_export_put_number(&f->x, n);
    pf_firefox_put(f, "}");
    return st;
}

/* The name of the thread of a label: as its keys say, else the last one; NULL: not known. */
static const char *comm_of(const pf_firefox *f, uint32_t label)
{
    const char *comm = pf_profile_label_at(&f->x.profile, label)->comm;
    return comm ? comm : f->tracks.at[label].comm;
}

/* The name of the process of a main thread likewise. */
static const char *process_of(const pf_firefox *f, uint32_t main)
{
    return pf_profile_label_at(&f->x.profile, main)->tid ? comm_of(f, main) : "swapper";
}

/* "work", or "work (cycles)" if there are several events, or ":123" as perf has it. */
static bool name_thread(pf_firefox *f, uint32_t label)
{
    const pf_label *l = pf_profile_label_at(&f->x.profile, label);
    const char *comm = comm_of(f, label);
    char number[40];
    if (l->tid != PF_NO_LABEL)
        snprintf(number, sizeof number, ":%" PRId32, (int32_t)l->tid);
    else if (l->pid != PF_NO_LABEL)
        snprintf(number, sizeof number, "pid %" PRId32, (int32_t)l->pid);
    else if (l->cpu != PF_NO_LABEL)
        snprintf(number, sizeof number, "processor %" PRIu32, l->cpu);
    else
        snprintf(number, sizeof number, "all");
    pf_buffer_clear(&f->name);
    return pf_name_text(comm ? comm : number, PF_NAME_MOST, &f->name) &&
           (!f->per_event || !l->event ||
            (pf_buffer_append(&f->name, " (", 2) &&
             pf_name_text(l->event, PF_NAME_MOST, &f->name) &&
             pf_buffer_append(&f->name, ")", 1))) &&
           pf_buffer_append_u8(&f->name, 0);
}

/* The track of the main thread of the process of a label; if it has none, that of some thread. */
static uint32_t main_of(const pf_firefox *f, uint32_t label)
{
    const uint32_t found = pf_index_get(&f->mains, pf_profile_label_at(&f->x.profile, label)->pid);
    return found == PF_INDEX_NONE ? label : found;
}

/* A thread without a number is called by its position. */
static void put_id(pf_firefox *f, uint32_t number, const char *quote)
{
    pf_firefox_put(f, quote);
    if (number == PF_NO_LABEL)
        pf_firefox_put(f, *quote ? "?" : "\"?\"");
    else
        pf_export_put_number(&f->x, number);
    pf_firefox_put(f, quote);
}

static void put_time(pf_firefox *f, const char *key, uint64_t time)
{
    pf_firefox_put(f, key);
    if (time == PERFILE_NO_TIME)
        pf_firefox_put(f, "null");
    else
        pf_firefox_ms(f, time - f->tracks.first);
}

/* When a thread began, as far as the capture says. */
static uint64_t began(const pf_firefox *f, uint32_t label)
{
    const pf_track *t = &f->tracks.at[label];
    const uint64_t first = t->first <= t->last ? t->first : f->tracks.first;
    return t->began != PERFILE_NO_TIME && t->began < first ? t->began : first;
}

static perfile_status put_head(pf_firefox *f, uint32_t label, perfile_error *err)
{
    const pf_label *l = pf_profile_label_at(&f->x.profile, label);
    const uint32_t main = main_of(f, label);
    if (!name_thread(f, label))
        return pf_fail_nomem(err, "export");
    pf_firefox_put(f, "{\"name\":");
    pf_export_put_string(&f->x, (const char *)f->name.ptr);
    pf_buffer_clear(&f->name);
    const char *process = process_of(f, main);
    if (process &&
        (!pf_name_text(process, PF_NAME_MOST, &f->name) || !pf_buffer_append_u8(&f->name, 0)))
        return pf_fail_nomem(err, "export");
    if (f->name.len) {
        pf_firefox_put(f, ",\"processName\":");
        pf_export_put_string(&f->x, (const char *)f->name.ptr);
    }
    pf_firefox_put(f, ",\"processType\":\"default\",\"isMainThread\":");
    pf_firefox_put(f, main == label ? "true" : "false");
    pf_firefox_put(f, ",\"pid\":");
    put_id(f, l->pid, "\"");
    pf_firefox_put(f, ",\"tid\":");
    put_id(f, l->tid, "");
    put_time(f, ",\"processStartupTime\":", began(f, main));
    put_time(f, ",\"processShutdownTime\":", f->tracks.at[main].ended);
    put_time(f, ",\"registerTime\":", began(f, label));
    put_time(f, ",\"unregisterTime\":", f->tracks.at[label].ended);
    pf_firefox_put(f, ",\"pausedRanges\":[],\"showMarkersInTimeline\":true");
    return PERFILE_OK;
}

perfile_status pf_firefox_put_thread(pf_firefox *f, uint32_t label, perfile_error *err)
{
    pf_firefox_clear_tables(f);
    perfile_status st = put_head(f, label, err);
    if (st == PERFILE_OK)
        st = put_samples(f, label, err);
    if (st == PERFILE_OK)
        st = put_markers(f, label, err);
    if (st == PERFILE_OK)
        st = pf_firefox_put_tables(f, err);
    pf_firefox_put(f, "}");
    return st;
}
