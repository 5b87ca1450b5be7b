/* `list processes`, `list threads` and `list mappings`: printed from the model, which gets all
 * records. */
#include "cli/list/list.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/print.h"

/* Adds a process or thread number as a cell; "-" if there is none. */
static void pid_cell(cli_table *t, uint32_t pid)
{
    if (pid == PERFILE_NO_PID)
        cli_cell_string(t, NULL);
    else
        cli_cell(t, "%" PRIu32, pid);
}

static void pid_json(const char *key, uint32_t pid)
{
    if (pid == PERFILE_NO_PID)
        cli_json_null(key);
    else
        cli_json_number(key, pid);
}

/* The functions print_… below print lists of the model.  They return false when out of memory. */
static bool print_processes(cli_listing *l)
{
    static const char *const columns[] = {">PID", ">PPID", ">START", ">END", ">THREADS", "COMM"};
    const perfile_process *p;
    size_t n;
    if (perfile_model_processes(l->model, &p, &n, NULL) != PERFILE_OK)
        return false;
    cli_table *t = cli_table_new(columns, sizeof columns / sizeof columns[0]);
    if (!t)
        return false;
    for (size_t i = 0; i < n; i++, p++) {
        if (l->json) {
            cli_json_object(NULL);
            cli_json_number("pid", p->pid);
            pid_json("ppid", p->ppid);
            cli_json_known("start", p->start);
            cli_json_known("end", p->end);
            cli_json_number("threads", p->n_threads);
            cli_json_string("comm", p->comm);
            cli_json_object_end();
            continue;
        }
        pid_cell(t, p->pid);
        pid_cell(t, p->ppid);
        cli_cell_time(t, p->start);
        cli_cell_time(t, p->end);
        cli_cell(t, "%" PRIu32, p->n_threads);
        cli_cell_string(t, p->comm);
    }
    return cli_table_end(t, !l->json);
}

/* Prints a thread with all its names.  `exec` is true for a name that was set by an exec(). */
static void thread_json(const perfile_thread *x)
{
    cli_json_object(NULL);
    cli_json_number("pid", x->pid);
    cli_json_number("tid", x->tid);
    pid_json("ppid", x->ppid);
    pid_json("ptid", x->ptid);
    cli_json_known("start", x->start);
    cli_json_known("end", x->end);
    cli_json_string("comm", x->comm);
    cli_json_array("names");
    for (uint32_t i = 0; i < x->n_names; i++) {
        cli_json_object(NULL);
        cli_json_decimal("time", x->names[i].time);
        cli_json_string("name", x->names[i].name);
        cli_json_bool("exec", x->names[i].exec);
        cli_json_object_end();
    }
    cli_json_array_end();
    cli_json_object_end();
}

/* Adds a cell with all names of a thread in order of time, "perf-exec > sleep", truncated to 200
 * bytes.  Names in the model are unique strings, so equal names have equal pointers. */
static void names_cell(cli_table *t, const perfile_thread *x)
{
    char text[200];
    size_t len = 0;
    const char *last = NULL;
    text[0] = 0;
    for (uint32_t i = 0; i < x->n_names && len < sizeof text; i++) {
        if (x->names[i].name == last)
            continue;
        last = x->names[i].name;
        int n = snprintf(text + len, sizeof text - len, "%s%s", len ? " > " : "", last);
        len += n > 0 ? (size_t)n : 0;
    }
    if (len)
        cli_cell_string(t, text);
    else
        cli_cell_string(t, x->comm);
}

static bool print_threads(cli_listing *l)
{
    static const char *const columns[] = {">PID",   ">TID", ">PPID", ">PTID",
                                          ">START", ">END", "COMM"};
    const perfile_thread *x;
    size_t n;
    if (perfile_model_threads(l->model, &x, &n, NULL) != PERFILE_OK)
        return false;
    cli_table *t = cli_table_new(columns, sizeof columns / sizeof columns[0]);
    if (!t)
        return false;
    for (size_t i = 0; i < n; i++, x++) {
        if (l->json) {
            thread_json(x);
            continue;
        }
        pid_cell(t, x->pid);
        pid_cell(t, x->tid);
        pid_cell(t, x->ppid);
        pid_cell(t, x->ptid);
        cli_cell_time(t, x->start);
        cli_cell_time(t, x->end);
        names_cell(t, x);
    }
    return cli_table_end(t, !l->json);
}

static perfile_bytes build_id_of(const perfile_mapping *m)
{
    return (perfile_bytes){m->build_id, m->build_id_size};
}

/* Prints a mapping.  Members that only some kinds of MMAP records have are omitted if they are
 * unknown.  A mapping with start 0 is synthesized and has no time. */
static void mapping_json(const perfile_mapping *m)
{
    cli_json_object(NULL);
    pid_json("pid", m->pid);
    pid_json("tid", m->tid);
    cli_json_hex("addr", m->addr);
    cli_json_hex("len", m->len);
    cli_json_hex("pgoff", m->pgoff);
    cli_json_known("start", m->start ? m->start : PERFILE_NO_TIME);
    cli_json_known("end", m->end);
    cli_json_string("name", m->name);
    cli_json_string("kind", m->kind == PERFILE_MAPPING_SYMBOL ? "symbol" : "file");
    cli_json_number("cpumode", m->cpumode);
    cli_json_bool("data", m->data);
    if (m->build_id_size)
        cli_json_bytes("build_id", build_id_of(m));
    if (m->has_inode) {
        cli_json_number("maj", m->maj);
        cli_json_number("min", m->min);
        cli_json_decimal("ino", m->ino);
        cli_json_decimal("ino_generation", m->ino_generation);
    }
    if (m->has_prot) {
        cli_json_number("prot", m->prot);
        cli_json_number("flags", m->flags);
    }
    cli_json_object_end();
}

/* Adds the row of a mapping.  The protection is printed as in /proc/PID/maps; if it is unknown, the
 * row says whether the mapping is code or data. */
static void mapping_row(cli_table *t, const perfile_mapping *m)
{
    char id[2 * sizeof m->build_id + 1] = "-";
    for (unsigned i = 0; i < m->build_id_size; i++)
        snprintf(id + 2 * i, 3, "%02x", m->build_id[i]);
    if (m->pid == PERFILE_NO_PID)
        cli_cell_string(t, "kernel");
    else
        cli_cell(t, "%" PRIu32, m->pid);
    cli_cell(t, "%" PRIx64, m->addr);
    cli_cell(t, "%" PRIx64, m->len);
    cli_cell(t, "%" PRIx64, m->pgoff);
    if (m->has_prot)
        cli_cell(t, "%c%c%c%c", m->prot & 1 ? 'r' : '-', m->prot & 2 ? 'w' : '-',
                 m->prot & 4 ? 'x' : '-', m->flags & 1 ? 's' : 'p');
    else
        cli_cell_string(t, m->data ? "data" : "code");
    cli_cell_time(t, m->start ? m->start : PERFILE_NO_TIME);
    cli_cell_time(t, m->end);
    cli_cell_string(t, id);
    cli_cell_string(t, m->name);
}

static bool print_mappings(cli_listing *l)
{
    static const char *const columns[] = {">PID",   ">ADDR", ">LEN",     ">PGOFF", "PROT",
                                          ">START", ">END",  "BUILD-ID", "NAME"};
    const perfile_mapping *m;
    size_t n;
    if (perfile_model_mappings(l->model, &m, &n, NULL) != PERFILE_OK)
        return false;
    cli_table *t = cli_table_new(columns, sizeof columns / sizeof columns[0]);
    if (!t)
        return false;
    for (size_t i = 0; i < n; i++, m++) {
        if (l->json)
            mapping_json(m);
        else
            mapping_row(t, m);
    }
    return cli_table_end(t, !l->json);
}

const cli_subject cli_list_processes = {
    .name = "processes", .member = "processes", .model = true, .print = print_processes};
const cli_subject cli_list_threads = {
    .name = "threads", .member = "threads", .model = true, .print = print_threads};
const cli_subject cli_list_mappings = {
    .name = "mappings", .member = "mappings", .model = true, .print = print_mappings};
