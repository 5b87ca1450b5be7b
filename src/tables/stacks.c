/* Rows of stacks, frames and modules.
 *
 * Each has an id that is a hash of its content (ids.c), computed once for each number of the
 * profile; the id of a stack depends on the id of its caller's stack.  All frames and modules have
 * a row; a stack has one if a sample ends there. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "tables/tables.h"

enum {
    MOST_FRAMES = 1024 /* maximum number of listed frames of a stack */
};

typedef struct pf_stacks_maker {
    int64_t *modules, *frames, *stacks; /* ids, by number */
    const char **build_ids;             /* by number of the module; NULL: none */
    uint8_t *written;                   /* by number of the stack: its row was made */
    size_t n_modules, n_frames, n_stacks;
    size_t modules_cap, frames_cap, stacks_cap;
} pf_stacks_maker;

static bool begin(pf_tables *x)
{
    x->stacks = pf_alloc(1, sizeof *x->stacks);
    return x->stacks;
}

static void close_maker(pf_tables *x)
{
    pf_stacks_maker *m = x->stacks;
    if (!m)
        return;
    pf_free(m->modules);
    pf_free(m->build_ids);
    pf_free(m->frames);
    pf_free(m->stacks);
    pf_free(m->written);
    pf_free(m);
    x->stacks = NULL;
}

void pf_stacks_forget(pf_tables *x)
{
    pf_stacks_maker *m = x->stacks;
    m->n_modules = m->n_frames = m->n_stacks = 0;
}

/* Makes room for `n` items of an array.  Returns false when out of memory. */
static bool room(void **at, size_t *cap, size_t n, size_t width)
{
    if (n <= *cap)
        return true;
    const size_t more = n + n / 2 + 256;
    void *grown = pf_realloc(*at, more, width);
    if (!grown)
        return false;
    *at = grown;
    *cap = more;
    return true;
}

static const char *kind_of(const pf_object *object, unsigned code)
{
    if (!object)
        return "unknown";
    if (object->kind == PERFILE_MAPPING_SYMBOL || pf_object_is_jit(object))
        return "jit";
    if (strcmp(object->name, "[vdso]") == 0)
        return "vdso";
    if (code == PF_CODE_KERNEL || strncmp(object->name, "[kernel", 7) == 0 ||
        strncmp(object->name, "[guest.kernel", 13) == 0)
        return "kernel";
    return object->name[0] == '/' && object->name[1] != '/' ? "elf" : "unknown";
}

/* Returns the build id in hex digits, in the profile's texts.  Returns NULL if there is none, or
 * when out of memory. */
static const char *build_id_of(pf_tables *x, const pf_object *object)
{
    char hex[2 * sizeof object->build_id + 1] = "";
    for (size_t i = 0; i < object->build_id_size; i++)
        snprintf(hex + 2 * i, 3, "%02x", object->build_id[i]);
    return object->build_id_size ? pf_profile_text(&x->x.profile, hex) : NULL;
}

/* Modules. */

static bool add_module(pf_tables *x, uint32_t number)
{
    const pf_object *object = pf_profile_object_at(&x->x.profile, number);
    const perfile_bytes build_id = {object->build_id, object->build_id_size};
    const int64_t id = pf_id_of_module(build_id, object->name);
    x->stacks->modules[number] = id;
    x->stacks->build_ids[number] = build_id_of(x, object);
    if (!pf_table_wanted(x, PF_TABLE_modules))
        return true;
    const unsigned code = object->first.pid == PERFILE_NO_PID ? PF_CODE_KERNEL : PF_CODE_USER;
    pf_column_number(PF_COLUMN(x, modules, module_id), (uint64_t)id);
    pf_column_text(PF_COLUMN(x, modules, path), object->name);
    pf_column_same_text(PF_COLUMN(x, modules, build_id), x->stacks->build_ids[number]);
    pf_column_text(PF_COLUMN(x, modules, kind), kind_of(object, code));
    if (object->first.len <= INT64_MAX)
        pf_column_number(PF_COLUMN(x, modules, bytes), object->first.len);
    return pf_table_row(x, &x->at[PF_TABLE_modules]);
}

/* Frames. */

static const char *mode_of(unsigned code)
{
    switch (code) {
    case PF_CODE_USER:
    case PF_CODE_JIT:
        return "user";
    case PF_CODE_KERNEL:
        return "kernel";
    case PF_CODE_HYPERVISOR:
        return "hypervisor";
    case PF_CODE_GUEST:
        return "guest";
    default:
        return NULL;
    }
}

/* Returns the offset of a frame.  In the kernel it is relative to the symbol with the address
 * `pgoff`, so that it does not depend on the kernel's load address. */
static uint64_t offset_of(const pf_object *object, const pf_call_frame *frame)
{
    const bool is_kernel = object && strncmp(object->name, "[kernel.", 8) == 0;
    return is_kernel ? frame->offset - object->first.pgoff : frame->offset;
}

const char *pf_stacks_function(const pf_tables *x, uint32_t number)
{
    const pf_profile *p = &x->x.profile;
    const pf_call_frame *frame = pf_profile_frame_at(p, number);
    const pf_object *object = pf_profile_object_at(p, frame->object);
    if (object && object->kind == PERFILE_MAPPING_SYMBOL)
        return object->name;
    const pf_function *function = pf_profile_function_of(p, frame);
    return function ? function->name : NULL;
}

/* Writes the source line at the address of a frame. */
static bool put_line(pf_tables *x, uint32_t number)
{
    pf_line line = {0};
    const uint32_t key = 2 * number; /* not as a caller */
    if (!x->with_lines || !x->x.symbols)
        return true;
    if (pf_line_find(&x->x.profile, x->x.symbols, key, &line, &x->failed) != PERFILE_OK)
        return false;
    if (line.file) {
        pf_column_same_text(PF_COLUMN(x, frames, file), line.file);
        if (line.line && line.line <= INT32_MAX)
            pf_column_number(PF_COLUMN(x, frames, line), line.line);
    }
    return true;
}

static bool put_frame(pf_tables *x, uint32_t number, int64_t id, uint64_t offset)
{
    const pf_profile *p = &x->x.profile;
    const pf_call_frame *frame = pf_profile_frame_at(p, number);
    const pf_object *object = pf_profile_object_at(p, frame->object);
    const pf_function *function = pf_profile_function_of(p, frame);
    const char *name = pf_stacks_function(x, number);
    pf_column_number(PF_COLUMN(x, frames, frame_id), (uint64_t)id);
    if (object) {
        pf_column_number(PF_COLUMN(x, frames, module_id),
                         (uint64_t)x->stacks->modules[frame->object]);
        pf_column_same_text(PF_COLUMN(x, frames, module), object->name);
        pf_column_same_text(PF_COLUMN(x, frames, build_id), x->stacks->build_ids[frame->object]);
    }
    pf_column_number(PF_COLUMN(x, frames, offset), offset);
    pf_column_same_text(PF_COLUMN(x, frames, mode), mode_of(frame->code));
    pf_column_same_text(PF_COLUMN(x, frames, function), name);
    if (function && function->mangled && strcmp(function->mangled, name) != 0)
        pf_column_text(PF_COLUMN(x, frames, raw_name), function->mangled);
    pf_column_bool(PF_COLUMN(x, frames, inlined), frame->inlined);
    pf_column_same_text(PF_COLUMN(x, frames, kind), kind_of(object, frame->code));
    return put_line(x, number) && pf_table_row(x, &x->at[PF_TABLE_frames]);
}

static bool add_frame(pf_tables *x, uint32_t number)
{
    const pf_profile *p = &x->x.profile;
    const pf_call_frame *frame = pf_profile_frame_at(p, number);
    const pf_object *object = pf_profile_object_at(p, frame->object);
    const uint64_t offset = offset_of(object, frame);
    const int64_t module = object ? x->stacks->modules[frame->object] : 0;
    const int64_t id = pf_id_of_frame(module, offset, frame->code, frame->inlined,
                                      frame->inlined ? pf_stacks_function(x, number) : NULL);
    x->stacks->frames[number] = id;
    return !pf_table_wanted(x, PF_TABLE_frames) || put_frame(x, number, id, offset);
}

/* Stacks. */

static bool add_stack(pf_tables *x, uint32_t number)
{
    pf_stacks_maker *m = x->stacks;
    const pf_call_stack *stack = pf_profile_stack_at(&x->x.profile, number);
    m->written[number] = 0;
    m->stacks[number] = number == PF_EMPTY_STACK
                            ? 0
                            : pf_id_of_stack(m->stacks[stack->parent], m->frames[stack->frame]);
    return true;
}

/* Calls `add` for the numbers from *done to `n`.  The caller has made room. */
static bool add_all(pf_tables *x, size_t *done, size_t n,
                    bool (*add)(pf_tables *x, uint32_t number))
{
    bool ok = true;
    for (; *done < n && ok; ++*done)
        ok = add(x, (uint32_t)*done);
    return ok;
}

bool pf_stacks_update(pf_tables *x)
{
    pf_stacks_maker *m = x->stacks;
    pf_profile *p = &x->x.profile;
    if (x->x.symbols && pf_name_functions(p, x->x.symbols, x->x.n_named, &x->failed) != PERFILE_OK)
        return false;
    x->x.n_named = (uint32_t)p->frames.n;
    size_t written_cap = m->stacks_cap, build_ids_cap = m->modules_cap;
    if (!room((void **)&m->build_ids, &build_ids_cap, p->objects.n, sizeof *m->build_ids) ||
        !room((void **)&m->modules, &m->modules_cap, p->objects.n, sizeof *m->modules) ||
        !room((void **)&m->frames, &m->frames_cap, p->frames.n, sizeof *m->frames) ||
        !room((void **)&m->written, &written_cap, p->stacks.n, sizeof *m->written) ||
        !room((void **)&m->stacks, &m->stacks_cap, p->stacks.n, sizeof *m->stacks))
        return false;
    return add_all(x, &m->n_modules, p->objects.n, add_module) &&
           add_all(x, &m->n_frames, p->frames.n, add_frame) &&
           add_all(x, &m->n_stacks, p->stacks.n, add_stack);
}

int64_t pf_stacks_frame(const pf_tables *x, uint32_t frame)
{
    return x->stacks->frames[frame];
}

/* Makes the row of a stack. */
static bool put_stack(pf_tables *x, uint32_t number)
{
    const pf_profile *p = &x->x.profile;
    pf_table_column *frames = PF_COLUMN(x, stacks, frames);
    size_t depth = 0;
    for (uint32_t at = number; at != PF_EMPTY_STACK; depth++) {
        const pf_call_stack *stack = pf_profile_stack_at(p, at);
        if (depth < MOST_FRAMES)
            pf_column_element(frames, (uint64_t)x->stacks->frames[stack->frame]);
        at = stack->parent;
    }
    pf_column_list_end(frames, depth < MOST_FRAMES ? depth : MOST_FRAMES);
    pf_column_number(PF_COLUMN(x, stacks, stack_id), (uint64_t)x->stacks->stacks[number]);
    pf_column_number(PF_COLUMN(x, stacks, depth), depth);
    pf_column_bool(PF_COLUMN(x, stacks, truncated), depth > MOST_FRAMES);
    return pf_table_row(x, &x->at[PF_TABLE_stacks]);
}

bool pf_stacks_stack(pf_tables *x, uint32_t number, int64_t *id)
{
    pf_stacks_maker *m = x->stacks;
    *id = m->stacks[number];
    if (m->written[number] || !pf_table_wanted(x, PF_TABLE_stacks))
        return true;
    m->written[number] = 1;
    return put_stack(x, number);
}

const pf_table_maker pf_make_stacks = {.begin = begin, .close = close_maker};
