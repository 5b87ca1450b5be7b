/* The form `firefox`: markers of a thread, and the schema that tells the profiler how to show each
 * kind.
 *
 * Markers are slices on a CPU, records other than samples, and samples of events other than the one
 * that firefox_threads.c chose. */
#include "export/firefox.h"
#include "schema/command.h"

#include <stdio.h>
#include <string.h>

/* Markers. */

/* A marker of a label: a slice on a CPU, a record, or a sample. */
typedef struct marker {
    uint64_t begin, end; /* ns from the first time */
    const pf_mark *mark; /* NULL: a slice on a CPU */
    uint64_t period;     /* of a sample */
    uint32_t cpu, stack;
} marker;

typedef struct markers {
    pf_firefox *f;
    uint32_t label;
    size_t slice, mark; /* the next slice and mark */
    uint64_t untimed;
} markers;

static bool next_marker(markers *w, marker *out)
{
    const pf_tracks *t = &w->f->tracks;
    const pf_timeline *line = &t->marks;
    pf_slice slice;
    if (pf_tracks_slice(t, w->label, &w->slice, &slice)) {
        *out = (marker){slice.begin - t->first, slice.end - t->first, NULL, 0, slice.cpu,
                        PF_EMPTY_STACK};
        return true;
    }
    if (w->mark == line->begins[w->label + 1] - line->begins[w->label])
        return false;
    const pf_moment *m = &line->at[line->begins[w->label] + w->mark++];
    const uint64_t time = pf_tracks_time(t, m->time, &w->untimed);
    *out = (marker){time, time, pf_marks_at(&t->said, m->said), m->weight, PF_NO_LABEL, m->stack};
    return true;
}

/* Writes the data of a marker for a sample. */
static void sample_data(pf_firefox *f, const marker *m)
{
    if (m->period) {
        pf_firefox_put(f, ",\"period\":");
        pf_export_put_number(&f->x, m->period);
    }
    if (m->stack == PF_EMPTY_STACK)
        return;
    pf_firefox_put(f, ",\"cause\":{\"time\":");
    pf_firefox_ms(f, m->begin);
    pf_firefox_put(f, ",\"stack\":");
    pf_firefox_put_stack(f, m->stack);
    pf_firefox_put(f, "}");
}

static void marker_data(pf_firefox *f, const marker *m)
{
    if (m->mark) {
        pf_firefox_put(f, "{\"type\":");
        pf_export_put_name(&f->x, &f->name, pf_marks_name(&m->mark->kind));
        pf_firefox_put(f, m->mark->text);
        if (m->mark->kind.type == PERFILE_RECORD_SAMPLE)
            sample_data(f, m);
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
    pf_firefox_text(f, m->mark ? pf_marks_name(&m->mark->kind) : "on cpu", PF_NAME_MOST);
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

/* Writes the table of markers by columns, iterating over all markers once per column. */
perfile_status pf_firefox_put_markers(pf_firefox *f, uint32_t label, perfile_error *err)
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

/* The schema of markers. */

/* Returns the profiler's format for values of a field. */
static const char *format_of(const perfile_field *field)
{
    static const struct {
        uint8_t kind;
        const char *format;
    } formats[] = {{PERFILE_KIND_PID, "pid"},
                   {PERFILE_KIND_TID, "tid"},
                   {PERFILE_KIND_SIZE, "bytes"},
                   {PERFILE_KIND_DURATION, "nanoseconds"},
                   {PERFILE_KIND_PATH, "file-path"}};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (formats[i].kind == field->kind)
            return formats[i].format;
    const bool number = field->type <= PERFILE_STORED_S32 || field->type == PERFILE_STORED_S64;
    return number && pf_kind_base(field->kind) == PERFILE_BASE_DEC ? "integer" : "string";
}

static void put_field(pf_firefox *f, const char *key, const char *label, const char *format)
{
    pf_firefox_put(f, "{\"key\":\"");
    pf_firefox_put(f, key);
    pf_firefox_put(f, "\",\"label\":");
    pf_export_put_string(&f->x, label);
    pf_firefox_put(f, ",\"format\":\"");
    pf_firefox_put(f, format);
    pf_firefox_put(f, "\"}");
}

/* Begins a schema, up to its fields. */
static void begin_schema(pf_firefox *f, const char *name, bool in_overview)
{
    pf_firefox_put(f, "{\"name\":");
    pf_export_put_name(&f->x, &f->name, name);
    pf_firefox_put(f, ",\"display\":[\"marker-chart\",\"marker-table\"");
    pf_firefox_put(f, in_overview ? ",\"timeline-overview\"],\"fields\":[" : "],\"fields\":[");
}

/* Ends a schema with the labels of a marker in the table, in the chart, and in the tooltip.  Names
 * in braces are fields of the marker. */
static void end_schema(pf_firefox *f, const char *table, const char *chart)
{
    const char *const labels[][2] = {
        {"tableLabel", table}, {"chartLabel", chart}, {"tooltipLabel", "{marker.name}"}};
    pf_firefox_put(f, "]");
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        pf_firefox_put(f, ",\"");
        pf_firefox_put(f, labels[i][0]);
        pf_firefox_put(f, "\":\"");
        pf_firefox_put(f, labels[i][1]);
        pf_firefox_put(f, "\"");
    }
    pf_firefox_put(f, "}");
}

/* Appends a field to the table label of a record: texts alone, numbers with their key.  If a record
 * has texts, only these are used. */
static void add_label(char *label, size_t size, const perfile_field *field, bool texts)
{
    const size_t n = strlen(label);
    const char *key = pf_marks_key(field);
    const bool is_text = field->type == PERFILE_STORED_TEXT;
    if (is_text != texts || field->kind == PERFILE_KIND_PID || field->kind == PERFILE_KIND_TID)
        return;
    char part[128];
    const int length = snprintf(part, sizeof part, "%s%s%s{marker.data.%s}", n ? ", " : "",
                                texts ? "" : key, texts ? "" : " ", key);
    if (length > 0 && (size_t)length < sizeof part && n + (size_t)length < size)
        memcpy(label + n, part, (size_t)length + 1);
}

static bool is_of(const pf_mark_field *field, const pf_mark_kind *kind)
{
    return field->kind.type == kind->type && field->kind.event == kind->event;
}

/* Makes the table label for marks of a kind from the fields that were seen, or `other` if there are
 * none. */
static void make_label(const pf_firefox *f, const pf_mark_kind *kind, const char *other,
                       char *label, size_t size)
{
    const pf_intern *fields = &f->tracks.said.fields;
    label[0] = '\0';
    for (unsigned texts = 2; texts-- > 0 && !label[0];)
        for (uint32_t i = 0; i < fields->n; i++) {
            const pf_mark_field *m = pf_intern_at(fields, i);
            if (is_of(m, kind))
                add_label(label, size, m->field, texts);
        }
    if (!label[0])
        snprintf(label, size, "%s", other);
}

/* Writes the schema for marks of a record, with the fields that were seen. */
static void put_record_schema(pf_firefox *f, const pf_mark_kind *kind)
{
    const pf_intern *fields = &f->tracks.said.fields;
    char label[256];
    unsigned n = 0;
    begin_schema(f, pf_marks_name(kind), false);
    for (uint32_t i = 0; i < fields->n; i++) {
        const pf_mark_field *m = pf_intern_at(fields, i);
        if (!is_of(m, kind))
            continue;
        pf_firefox_put(f, n++ ? "," : "");
        put_field(f, pf_marks_key(m->field), m->field->doc, format_of(m->field));
    }
    make_label(f, kind, "{marker.name}", label, sizeof label);
    end_schema(f, label, "{marker.name}");
}

void pf_firefox_put_schemas(pf_firefox *f)
{
    pf_firefox_put(f, ",\"markerSchema\":[\n");
    begin_schema(f, "on-cpu", true);
    put_field(f, "cpu", "CPU", "integer");
    end_schema(f, "CPU {marker.data.cpu}", "CPU {marker.data.cpu}");
    for (uint32_t i = 0; i < f->tracks.said.kinds.n; i++) {
        const pf_mark_kind *kind = pf_intern_at(&f->tracks.said.kinds, i);
        pf_firefox_put(f, ",\n");
        if (kind->type != PERFILE_RECORD_SAMPLE) {
            put_record_schema(f, kind);
            continue;
        }
        begin_schema(f, pf_marks_name(kind), true);
        for (uint32_t k = 0; k < f->tracks.said.fields.n; k++) {
            const pf_mark_field *m = pf_intern_at(&f->tracks.said.fields, k);
            if (!is_of(m, kind))
                continue;
            put_field(f, pf_marks_key(m->field), m->field->name, format_of(m->field));
            pf_firefox_put(f, ",");
        }
        put_field(f, "period", "period", "integer");
        char label[256];
        make_label(f, kind, "period {marker.data.period}", label, sizeof label);
        end_schema(f, label, "{marker.name}");
    }
    pf_firefox_put(f, "\n]");
}
