/* The form `firefox`: chooses the event of samples; writes threads, their names, and their samples.
 *
 * Each label is a thread.  The profiler has no events: its samples show how a thread uses its CPU.
 * So only the samples of one event are written as samples: the clock with most samples, or else the
 * hardware counter with most.  Samples of other events become markers, with their stack as cause.
 * If the options separate threads by event, each thread has its own samples, whatever the event. */
#include "base/error.h"
#include "export/firefox.h"

#include <inttypes.h>
#include <stdio.h>

/* The event of samples. */

/* State of choosing an event. */
typedef struct choice {
    uint32_t *event_of;   /* by label: index of its event; the last index: not known */
    uint32_t *group_of;   /* by event: first event that is the same on another kind of CPU */
    uint64_t *samples_of; /* by group */
    uint32_t *marker_of;  /* by label: pf_marks.said of its samples as markers, + 1; 0: none */
    uint32_t *label_of;   /* by label: the label without event */
    size_t n_labels, n_events;
} choice;

static pf_export_event *event_at(const pf_firefox *f, size_t i)
{
    return (pf_export_event *)(void *)f->x.events.ptr + i;
}

static bool open_choice(choice *c, pf_firefox *f)
{
    pf_budget *budget = &f->x.profile.budget;
    c->n_labels = f->x.profile.labels.n;
    c->n_events = f->x.events.len / sizeof(pf_export_event);
    c->event_of = pf_budget_alloc(budget, c->n_labels + 1, sizeof *c->event_of);
    c->marker_of = pf_budget_alloc(budget, c->n_labels + 1, sizeof *c->marker_of);
    c->label_of = pf_budget_alloc(budget, c->n_labels + 1, sizeof *c->label_of);
    c->group_of = pf_budget_alloc(budget, c->n_events + 1, sizeof *c->group_of);
    c->samples_of = pf_budget_alloc(budget, c->n_events + 1, sizeof *c->samples_of);
    return c->event_of && c->marker_of && c->label_of && c->group_of && c->samples_of;
}

static void close_choice(choice *c, pf_firefox *f)
{
    pf_budget *budget = &f->x.profile.budget;
    pf_budget_free(budget, c->event_of, c->n_labels + 1, sizeof *c->event_of);
    pf_budget_free(budget, c->marker_of, c->n_labels + 1, sizeof *c->marker_of);
    pf_budget_free(budget, c->label_of, c->n_labels + 1, sizeof *c->label_of);
    pf_budget_free(budget, c->group_of, c->n_events + 1, sizeof *c->group_of);
    pf_budget_free(budget, c->samples_of, c->n_events + 1, sizeof *c->samples_of);
}

/* Finds the event of each label and the group of each event, and counts the samples of groups. */
static bool count_groups(choice *c, pf_firefox *f)
{
    const pf_profile *p = &f->x.profile;
    pf_index groups = {.seed = pf_index_seed(c), .budget = &f->x.profile.budget};
    bool ok = true;
    for (uint32_t i = 0; i <= c->n_events && ok; i++) {
        const uint64_t kinds = i < c->n_events ? event_at(f, i)->kinds : 0;
        const uint32_t known = kinds ? pf_index_get(&groups, kinds) : PF_INDEX_NONE;
        c->group_of[i] = known == PF_INDEX_NONE ? i : known;
        ok = !kinds || known != PF_INDEX_NONE || pf_index_put(&groups, kinds, i);
    }
    pf_index_free(&groups);
    for (uint32_t i = 0; i < c->n_labels && ok; i++) {
        const char *event = pf_profile_label_at(p, i)->event;
        const uint32_t at =
            event ? pf_index_get(&f->x.event_index, (uintptr_t)event) : PF_INDEX_NONE;
        c->event_of[i] = at < c->n_events ? at : (uint32_t)c->n_events;
    }
    for (size_t i = 0; i < f->tracks.samples.n && ok; i++)
        c->samples_of[c->group_of[c->event_of[f->tracks.samples.at[i].label]]]++;
    return ok;
}

/* Returns the group for the samples; PF_INDEX_NONE if there is none. */
static uint32_t best_group(const choice *c, const pf_firefox *f)
{
    uint32_t best = PF_INDEX_NONE;
    unsigned best_says = PF_EVENT_HAPPENS;
    for (uint32_t i = 0; i <= c->n_events; i++) {
        const unsigned says = i < c->n_events ? event_at(f, i)->says : PF_EVENT_COUNTS;
        const bool more =
            says == best_says && best != PF_INDEX_NONE && c->samples_of[i] > c->samples_of[best];
        if (!c->samples_of[i] || !(says > best_says || more))
            continue;
        best = i;
        best_says = says;
    }
    return best;
}

/* Makes a marker of a sample. */
static bool add_marker(choice *c, pf_firefox *f, const pf_moment *sample)
{
    pf_profile *p = &f->x.profile;
    pf_moment m = *sample;
    if (!c->marker_of[m.label]) {
        pf_label label = *pf_profile_label_at(p, m.label);
        const uint32_t said = pf_marks_event(&f->tracks.said, p, label.event, "");
        label.event = NULL;
        c->label_of[m.label] = pf_profile_label(p, &label);
        if (said == PF_INTERN_NONE || c->label_of[m.label] == PF_INTERN_NONE)
            return false;
        c->marker_of[m.label] = said + 1;
    }
    m.said = m.said ? m.said - 1 : c->marker_of[m.label] - 1;
    m.label = c->label_of[m.label];
    return pf_timeline_add(&f->tracks.marks, p, &m);
}

perfile_status pf_firefox_choose_event(pf_firefox *f, perfile_error *err)
{
    choice c = {0};
    pf_timeline *samples = &f->tracks.samples;
    bool ok = open_choice(&c, f) && count_groups(&c, f);
    const uint32_t best = ok ? best_group(&c, f) : PF_INDEX_NONE;
    if (best < c.n_events) {
        f->sampled = event_at(f, best)->name;
        f->interval = event_at(f, best)->interval;
    }
    f->tracks.joins_events = !f->x.per_event;
    size_t kept = 0;
    for (size_t i = 0; i < samples->n && ok && !f->x.per_event; i++) {
        if (c.group_of[c.event_of[samples->at[i].label]] == best)
            samples->at[kept++] = samples->at[i];
        else
            ok = add_marker(&c, f, &samples->at[i]);
    }
    samples->n = f->x.per_event ? samples->n : kept;
    close_choice(&c, f);
    return ok ? PERFILE_OK : pf_profile_fail(&f->x.profile, err);
}

/* Determining the threads. */

/* Returns true if there are labels of different events. */
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
    f->per_event = f->x.per_event && has_events(f);
    return find_mains(f) ? pf_firefox_open_tables(f, err) : pf_profile_fail(&f->x.profile, err);
}

/* The head of a thread: its name, and when it ran. */

/* Returns the name of the thread of a label: from its keys, else the last one; NULL if not
 * known. */
static const char *comm_of(const pf_firefox *f, uint32_t label)
{
    const char *comm = pf_profile_label_at(&f->x.profile, label)->comm;
    return comm ? comm : f->tracks.at[label].comm;
}

/* Returns the name of the process of a main thread. */
static const char *process_of(const pf_firefox *f, uint32_t main)
{
    return pf_profile_label_at(&f->x.profile, main)->tid ? comm_of(f, main) : "swapper";
}

/* Makes the name of a thread: "work", or "work (cycles)" if there are several events, or ":123" as
 * in perf. */
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
        snprintf(number, sizeof number, "CPU %" PRIu32, l->cpu);
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

/* Returns the track of the main thread of a label's process, or of some thread if it has no main
 * thread. */
static uint32_t main_of(const pf_firefox *f, uint32_t label)
{
    const uint32_t found = pf_index_get(&f->mains, pf_profile_label_at(&f->x.profile, label)->pid);
    return found == PF_INDEX_NONE ? label : found;
}

/* Writes a pid or tid, "?" if it is not known. */
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

/* Returns when a thread began, as far as the capture shows. */
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

/* Samples. */

typedef struct samples {
    const pf_moment *at;
    size_t n;
    bool in_ms;       /* weights are ns, and are written as ms */
    uint64_t untimed; /* for pf_tracks_time() */
} samples;

typedef void sample_value(pf_firefox *f, samples *s, const pf_moment *m);

static samples samples_of(const pf_firefox *f, uint32_t label)
{
    const pf_timeline *line = &f->tracks.samples;
    const char *event =
        f->x.per_event ? pf_profile_label_at(&f->x.profile, label)->event : f->sampled;
    return (samples){.at = line->at + line->begins[label],
                     .n = line->begins[label + 1] - line->begins[label],
                     .in_ms =
                         f->x.options.flags & PERFILE_EXPORT_PERIODS && pf_export_is_clock(event)};
}

static void sample_stack(pf_firefox *f, samples *s, const pf_moment *m)
{
    (void)s;
    if (m->stack == PF_EMPTY_STACK)
        pf_firefox_put(f, "null");
    else
        pf_firefox_put_stack(f, m->stack);
}

static void sample_time(pf_firefox *f, samples *s, const pf_moment *m)
{
    pf_firefox_ms(f, pf_tracks_time(&f->tracks, m->time, &s->untimed));
}

static void sample_weight(pf_firefox *f, samples *s, const pf_moment *m)
{
    if (s->in_ms)
        pf_firefox_ms(f, m->weight);
    else
        pf_export_put_number(&f->x, m->weight);
}

static perfile_status put_column(pf_firefox *f, samples *s, const char *name, sample_value *value,
                                 perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    pf_firefox_put(f, ",\"");
    pf_firefox_put(f, name);
    pf_firefox_put(f, "\":[");
    for (size_t i = 0; i < s->n && st == PERFILE_OK; i++) {
        pf_firefox_put(f, i ? "," : "");
        value(f, s, &s->at[i]);
        st = pf_export_write_some(&f->x, err);
    }
    pf_firefox_put(f, "]");
    return st;
}

static perfile_status put_samples(pf_firefox *f, uint32_t label, perfile_error *err)
{
    samples s = samples_of(f, label);
    pf_firefox_put(f, ",\n\"samples\":{\"length\":");
    pf_export_put_number(&f->x, s.n);
    pf_firefox_put(f, s.in_ms ? ",\"weightType\":\"tracing-ms\"" : ",\"weightType\":\"samples\"");
    perfile_status st = put_column(f, &s, "stack", sample_stack, err);
    if (st == PERFILE_OK)
        st = put_column(f, &s, "time", sample_time, err);
    if (!(f->x.options.flags & PERFILE_EXPORT_PERIODS))
        pf_firefox_put(f, ",\"weight\":null");
    else if (st == PERFILE_OK)
        st = put_column(f, &s, "weight", sample_weight, err);
    pf_firefox_put(f, "}");
    return st;
}

perfile_status pf_firefox_put_thread(pf_firefox *f, uint32_t label, perfile_error *err)
{
    pf_firefox_clear_tables(f);
    perfile_status st = put_head(f, label, err);
    if (st == PERFILE_OK)
        st = put_samples(f, label, err);
    if (st == PERFILE_OK)
        st = pf_firefox_put_markers(f, label, err);
    if (st == PERFILE_OK)
        st = pf_firefox_put_tables(f, err);
    pf_firefox_put(f, "}");
    return st;
}
