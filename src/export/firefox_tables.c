/* The form `firefox`: the stacks, frames, functions and libraries that the samples and markers of
 * one thread use.
 *
 * The format requires that a calling frame is shown one byte before its address, at the call.  So
 * the keys of stacks and frames distinguish callers.
 *
 * Tables list the selected items in the order in which stacks used them. */
#include "base/alloc.h"
#include "base/error.h"
#include "export/firefox.h"

#include <string.h>

enum { LIBRARY = 1 /* resourceTable.type */ };

static bool open_selection(pf_selection *s, pf_profile *p, size_t size)
{
    s->size = size;
    s->place = pf_budget_alloc(&p->budget, size + 1, sizeof *s->place);
    s->at = pf_budget_alloc(&p->budget, size + 1, sizeof *s->at);
    return s->place && s->at;
}

static void clear_selection(pf_selection *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->place[s->at[i]] = 0;
    s->n = 0;
}

static void select_one(pf_selection *s, uint32_t thing)
{
    if (!s->place[thing]) {
        s->at[s->n++] = thing;
        s->place[thing] = (uint32_t)s->n;
    }
}

perfile_status pf_firefox_open_tables(pf_firefox *f, perfile_error *err)
{
    pf_profile *p = &f->x.profile;
    f->files = pf_budget_alloc(&p->budget, f->shown.names.n + 1, sizeof *f->files);
    return f->files && open_selection(&f->stacks, p, 2 * p->stacks.n) &&
                   open_selection(&f->frames, p, 2 * p->frames.n) &&
                   open_selection(&f->functions, p, f->shown.names.n) &&
                   open_selection(&f->resources, p, p->objects.n)
               ? PERFILE_OK
               : pf_profile_fail(p, err);
}

void pf_firefox_close_tables(pf_firefox *f)
{
    pf_selection *const all[] = {&f->stacks, &f->frames, &f->functions, &f->resources};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        pf_free(all[i]->place);
        pf_free(all[i]->at);
    }
    pf_free(f->files);
    pf_buffer_free(&f->path);
    pf_index_free(&f->mains);
}

/* Returns the key of a stack that calls another one. */
static uint32_t caller_of(const pf_firefox *f, uint32_t of_inner, uint32_t stack)
{
    if (stack == PF_EMPTY_STACK)
        return 2 * stack;
    return 2 * stack + pf_line_key(&f->x.profile, stack, of_inner / 2, of_inner) % 2;
}

/* Stores the source file of a function: the first one among its frames. */
static void note_file(pf_firefox *f, uint32_t frame_key, uint32_t function)
{
    const pf_line line = pf_line_at(&f->x.lines, frame_key);
    if (line.file && !f->files[function])
        f->files[function] = line.file;
}

/* Selects a stack and the stacks of its callers, outermost first: in the format a stack comes after
 * its caller. */
static bool select_stack(pf_firefox *f, uint32_t stack)
{
    const pf_profile *p = &f->x.profile;
    uint32_t key = 2 * stack;
    pf_buffer_clear(&f->path);
    while (key / 2 != PF_EMPTY_STACK && !f->stacks.place[key]) {
        if (!pf_buffer_append(&f->path, &key, sizeof key))
            return false;
        const uint32_t inner = key / 2, parent = pf_profile_stack_at(p, inner)->parent;
        key = caller_of(f, key, parent);
    }
    for (size_t i = f->path.len / sizeof key; i-- > 0;) {
        key = ((const uint32_t *)(const void *)f->path.ptr)[i];
        const uint32_t frame = pf_profile_stack_at(p, key / 2)->frame;
        const uint32_t function = f->shown.positions[frame];
        const uint32_t object = pf_shown_at(&f->shown, function)->object;
        select_one(&f->stacks, key);
        select_one(&f->frames, 2 * frame + key % 2);
        select_one(&f->functions, function);
        note_file(f, 2 * frame + key % 2, function);
        if (object != PF_NO_OBJECT)
            select_one(&f->resources, object);
    }
    return true;
}

void pf_firefox_put_stack(pf_firefox *f, uint32_t stack)
{
    if (select_stack(f, stack))
        pf_export_put_number(&f->x, f->stacks.place[2 * stack] - 1);
    else
        f->x.base.no_memory = true;
}

void pf_firefox_clear_tables(pf_firefox *f)
{
    pf_selection *const all[] = {&f->stacks, &f->frames, &f->functions, &f->resources};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        clear_selection(all[i]);
}

/* The rows of the tables: these functions write row `i` of the selection. */

static void null(pf_firefox *f, size_t i)
{
    (void)i;
    pf_firefox_put(f, "null");
}

static void zero(pf_firefox *f, size_t i)
{
    (void)i;
    pf_firefox_put(f, "0");
}

static void put_false(pf_firefox *f, size_t i)
{
    (void)i;
    pf_firefox_put(f, "false");
}

static void library(pf_firefox *f, size_t i)
{
    (void)i;
    pf_export_put_number(&f->x, LIBRARY);
}

static void stack_frame(pf_firefox *f, size_t i)
{
    const uint32_t key = f->stacks.at[i];
    const uint32_t frame = pf_profile_stack_at(&f->x.profile, key / 2)->frame;
    pf_export_put_number(&f->x, f->frames.place[2 * frame + key % 2] - 1);
}

static void stack_prefix(pf_firefox *f, size_t i)
{
    const uint32_t key = f->stacks.at[i];
    const uint32_t parent = pf_profile_stack_at(&f->x.profile, key / 2)->parent;
    if (parent == PF_EMPTY_STACK)
        null(f, i);
    else
        pf_export_put_number(&f->x, f->stacks.place[caller_of(f, key, parent)] - 1);
}

static const pf_call_frame *frame_at(const pf_firefox *f, size_t i)
{
    return pf_profile_frame_at(&f->x.profile, f->frames.at[i] / 2);
}

static void frame_address(pf_firefox *f, size_t i)
{
    const pf_call_frame *frame = frame_at(f, i);
    const pf_object *object = pf_profile_object_at(&f->x.profile, frame->object);
    const uint64_t base = object && object->by_address ? object->first.addr : 0;
    const bool caller = f->frames.at[i] % 2;
    if (!object || frame->offset < base || frame->offset - base < caller)
        pf_firefox_put(f, "-1");
    else
        pf_export_put_number(&f->x, frame->offset - base - caller);
}

static void frame_category(pf_firefox *f, size_t i)
{
    pf_export_put_number(&f->x, frame_at(f, i)->code);
}

static void frame_function(pf_firefox *f, size_t i)
{
    const uint32_t function = f->shown.positions[f->frames.at[i] / 2];
    pf_export_put_number(&f->x, f->functions.place[function] - 1);
}

static void frame_depth(pf_firefox *f, size_t i)
{
    pf_export_put_number(&f->x, frame_at(f, i)->inlined);
}

/* Writes the line of a frame, if it is in the file of its function. */
static void frame_line(pf_firefox *f, size_t i)
{
    const pf_line line = pf_line_at(&f->x.lines, f->frames.at[i]);
    if (line.file && line.line && line.file == f->files[f->shown.positions[f->frames.at[i] / 2]])
        pf_export_put_number(&f->x, line.line);
    else
        null(f, i);
}

static void function_file(pf_firefox *f, size_t i)
{
    const char *file = f->files[f->functions.at[i]];
    if (file)
        pf_firefox_text(f, file, PF_NAME_MOST);
    else
        null(f, i);
}

static void function_name(pf_firefox *f, size_t i)
{
    pf_firefox_text(f, pf_shown_at(&f->shown, f->functions.at[i])->name, PF_TEXT_MOST);
}

static void function_resource(pf_firefox *f, size_t i)
{
    const uint32_t object = pf_shown_at(&f->shown, f->functions.at[i])->object;
    if (object == PF_NO_OBJECT)
        pf_firefox_put(f, "-1");
    else
        pf_export_put_number(&f->x, f->resources.place[object] - 1);
}

static void resource_lib(pf_firefox *f, size_t i)
{
    pf_export_put_number(&f->x, f->resources.at[i]);
}

static void resource_name(pf_firefox *f, size_t i)
{
    const char *name = pf_profile_object_at(&f->x.profile, f->resources.at[i])->name;
    const char *slash = strrchr(name, '/');
    pf_firefox_text(f, slash && slash[1] ? slash + 1 : name, PF_NAME_MOST);
}

typedef struct column {
    const char *name;
    pf_firefox_value *value;
} column;

static perfile_status put_table(pf_firefox *f, const char *name, size_t n, const column *columns,
                                perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    pf_firefox_put(f, ",\n\"");
    pf_firefox_put(f, name);
    pf_firefox_put(f, "\":{\"length\":");
    pf_export_put_number(&f->x, n);
    for (; columns->name && st == PERFILE_OK; columns++) {
        pf_firefox_put(f, ",");
        st = pf_firefox_column(f, columns->name, n, columns->value, err);
    }
    pf_firefox_put(f, "}");
    return st;
}

static const column of_stacks[] = {{"frame", stack_frame}, {"prefix", stack_prefix}, {0}};
static const column of_frames[] = {{"address", frame_address},
                                   {"inlineDepth", frame_depth},
                                   {"category", frame_category},
                                   {"subcategory", zero},
                                   {"func", frame_function},
                                   {"nativeSymbol", null},
                                   {"innerWindowID", null},
                                   {"line", frame_line},
                                   {"column", null},
                                   {0}};
static const column of_functions[] = {{"name", function_name},      {"isJS", put_false},
                                      {"relevantForJS", put_false}, {"resource", function_resource},
                                      {"fileName", function_file},  {"lineNumber", null},
                                      {"columnNumber", null},       {0}};
static const column of_resources[] = {
    {"lib", resource_lib}, {"name", resource_name}, {"host", null}, {"type", library}, {0}};
static const column of_symbols[] = {
    {"libIndex", null}, {"address", null}, {"name", null}, {"functionSize", null}, {0}};

perfile_status pf_firefox_put_tables(pf_firefox *f, perfile_error *err)
{
    const struct {
        const char *name;
        size_t n;
        const column *columns;
    } tables[] = {{"stackTable", f->stacks.n, of_stacks},
                  {"frameTable", f->frames.n, of_frames},
                  {"funcTable", f->functions.n, of_functions},
                  {"resourceTable", f->resources.n, of_resources},
                  /* The profiler determines where functions begin; it is not known here. */
                  {"nativeSymbols", 0, of_symbols}};
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && st == PERFILE_OK; i++)
        st = put_table(f, tables[i].name, tables[i].n, tables[i].columns, err);
    return st;
}
