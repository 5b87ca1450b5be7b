/* Frames as text.
 *
 * What is printed of a frame follows from the frame alone, so that its text is made once for each
 * type of events and copied from then on: the line in a call chain, which begins with an address in
 * the file, and what follows the address of a sample, which is that of the process. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/shorten.h"
#include "script/script.h"
#include "symbol/state.h"

/* A frame, looked up. */
typedef struct found {
    const pf_call_frame *frame;
    const pf_object *object; /* NULL: nothing is known to be mapped there */
    perfile_symbol symbol;   /* `name` NULL: no function is known */
    uint64_t address;        /* in the first mapping of the object */
} found;

static void lock(const pf_script_state *s)
{
    if (s->resolver->lock)
        pthread_mutex_lock(s->resolver->lock);
}

static void unlock(const pf_script_state *s)
{
    if (s->resolver->lock)
        pthread_mutex_unlock(s->resolver->lock);
}

/* The kernel as it was mapped; NULL: no frame was in it yet. */
static const pf_object *kernel_of(pf_script_state *s)
{
    const pf_profile *p = s->resolver->profile;
    for (uint32_t i = 0; i < p->objects.n && s->kernel == PF_NO_OBJECT; i++)
        if (strncmp(pf_profile_object_at(p, i)->name, "[kernel.", 8) == 0)
            s->kernel = i;
    return pf_profile_object_at(p, s->kernel);
}

/* Asks for the function at an address of f->object; false if there is no memory. */
static bool ask(pf_script_state *s, found *f)
{
    f->address = pf_object_address(f->object, f->frame->offset);
    if (!s->x->symbols && f->object->kind == PERFILE_MAPPING_SYMBOL) {
        f->symbol.name = f->object->name;
        f->symbol.start = f->object->first.addr;
    }
    if (!s->x->symbols)
        return true;
    lock(s);
    const perfile_status st = perfile_symbols_find(s->x->symbols, &f->object->first, f->address,
                                                   PERFILE_NO_TIME, &f->symbol, NULL);
    unlock(s);
    return st == PERFILE_OK;
}

/* Looks up a frame; false if there is no memory.
 *
 * The mapping of the kernel ends before code that is only used to start it, which has symbols all
 * the same: an address in nothing that was mapped is the kernel's if that has a symbol for it. */
static bool find(pf_script_state *s, uint32_t number, found *f)
{
    const pf_profile *p = s->resolver->profile;
    *f = (found){.frame = pf_profile_frame_at(p, number)};
    f->object = pf_profile_object_at(p, f->frame->object);
    f->address = f->frame->offset;
    if (f->object)
        return ask(s, f);
    f->object = f->frame->code == PF_CODE_KERNEL ? kernel_of(s) : NULL;
    if (!f->object || !s->x->symbols)
        f->object = NULL;
    else if (!ask(s, f))
        return false;
    else if (!f->symbol.name)
        f->object = NULL;
    return true;
}

/* True if addresses in call chains are those of the kernel, not places in a file. */
static bool is_kernel(const pf_object *object)
{
    return object && (object->kind == PERFILE_MAPPING_SYMBOL || pf_is_kernel(&object->first));
}

const char *pf_script_kernel_function(pf_script_state *s, uint32_t frame, uint64_t *offset)
{
    found f;
    if (!find(s, frame, &f) || !f.symbol.name || !is_kernel(f.object))
        return NULL;
    *offset = f.address - f.symbol.start;
    return f.symbol.name;
}

static bool put_string(pf_buffer *out, const char *text)
{
    return pf_buffer_append(out, text, strlen(text));
}

static bool put_name(const found *f, bool offset, pf_buffer *out)
{
    if (!f->symbol.name)
        return put_string(out, "[unknown]");
    return pf_script_put_text(out, f->symbol.name, strlen(f->symbol.name), PF_SCRIPT_FUNCTION) &&
           (!offset || pf_script_printf(out, "+0x%" PRIx64, f->address - f->symbol.start));
}

/* The name of a file without folders. */
static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Appends the name of a kernel module as perf has it, "[nf_tables]", of the path of its file. */
static bool put_module(const char *path, pf_buffer *out)
{
    const char *name = base_name(path);
    const char *end = strstr(name, ".ko");
    const size_t n = end ? (size_t)(end - name) : strlen(name);
    const size_t begin = out->len + 1;
    if (!pf_buffer_append_u8(out, '[') || !pf_script_put_text(out, name, n, PF_NAME_MOST) ||
        !pf_buffer_append_u8(out, ']'))
        return false;
    for (size_t i = begin; i < out->len; i++)
        out->ptr[i] = out->ptr[i] == '-' ? '_' : out->ptr[i];
    return true;
}

static bool put_dso(const found *f, uint64_t fields, pf_buffer *out)
{
    const char *name = f->object ? f->object->name : "[unknown]";
    /* perf calls modules by their path if the capture has their build id. */
    bool ok = is_kernel(f->object) && name[0] == '/' && !f->object->build_id_size
                  ? put_module(name, out)
                  : pf_script_put_text(out, name, strlen(name), PF_NAME_MOST);
    if (ok && f->object && fields & PF_FIELD_DSOFF)
        ok = pf_script_printf(out, "+0x%" PRIx64, f->frame->offset);
    return ok;
}

/* Places in the source, innermost first; *n 0 if none is known. */
static bool find_places(pf_script_state *s, const found *f, const perfile_source_place **places,
                        size_t *n)
{
    *n = 0;
    if (!f->object || !s->x->symbols)
        return true;
    lock(s);
    const perfile_status st = perfile_symbols_source(s->x->symbols, &f->object->first, f->address,
                                                     PERFILE_NO_TIME, places, n, NULL);
    unlock(s);
    return st == PERFILE_OK;
}

/* A line of its own with a place in the source; of the kernel, of which none is known, with the
 * address. */
static bool put_line(const found *f, const perfile_source_place *place, pf_buffer *out)
{
    const bool known = place && place->file;
    if (!known && !is_kernel(f->object))
        return true;
    if (!known)
        return put_string(out, "\n  ") && put_dso(f, 0, out) &&
               pf_script_printf(out, "[%" PRIx64 "]", f->address);
    const char *name = base_name(place->file);
    return put_string(out, "\n  ") && pf_script_put_text(out, name, strlen(name), PF_NAME_MOST) &&
           pf_script_printf(out, ":%" PRIu32, place->line);
}

/* Appends what follows an address: function, file, place in the source. */
static bool put_found(const found *f, uint64_t fields, const perfile_source_place *place,
                      pf_buffer *out)
{
    bool ok = true;
    if (fields & PF_FIELD_SYM)
        ok = pf_buffer_append_u8(out, ' ') && put_name(f, fields & PF_FIELD_SYMOFF, out);
    if (fields & (PF_FIELD_DSO | PF_FIELD_DSOFF))
        ok =
            ok && put_string(out, " (") && put_dso(f, fields, out) && pf_buffer_append_u8(out, ')');
    return ok && (!(fields & PF_FIELD_SRCLINE) || put_line(f, place, out));
}

/* Appends an inlined function to a line. */
static bool put_inlined(const found *f, uint64_t fields, const perfile_source_place *place,
                        pf_buffer *out)
{
    const char *name = place->function ? place->function : "??";
    bool ok = true;
    if (fields & PF_FIELD_SYM)
        ok = pf_buffer_append_u8(out, ' ') &&
             pf_script_put_text(out, name, strlen(name), PF_SCRIPT_FUNCTION);
    if (fields & PF_FIELD_SYMOFF)
        ok = ok && pf_script_printf(out, "+0x%" PRIx64, f->address - f->symbol.start);
    ok = ok && (!(fields & PF_FIELD_SRCLINE) || put_line(f, place, out));
    return ok && put_string(out, " (inlined)");
}

/* The address at the beginning of a line of a call chain. */
static bool put_address(const found *f, pf_buffer *out)
{
    uint8_t text[40], digits[32];
    const uint64_t address = is_kernel(f->object) ? f->address : f->frame->offset;
    const size_t n = (size_t)(pf_put_hex(digits, address) - digits);
    memset(text, ' ', 17);
    text[0] = '\t';
    memcpy(text + 17 - n, digits, n);
    return pf_buffer_append(out, text, 17);
}

/* True if a place in the source is of the function that the symbol names. */
static bool is_of_symbol(const found *f, const perfile_source_place *place)
{
    return place->function && strcmp(place->function, f->symbol.name) == 0;
}

/* True if call chains end at this function. */
static bool is_stop(const pf_script *x, const char *name)
{
    const char *stop = (const char *)x->stops.ptr, *const end = stop + x->stops.len;
    for (; x->stops.len && name && stop < end; stop += strlen(stop) + 1)
        if (strcmp(stop, name) == 0)
            return true;
    return false;
}

/* Makes the lines of a frame in a call chain: with `inlines` one for each place in the source,
 * innermost first, where functions of other names than the symbol are inlined ones.  *is_last: the
 * last line is that of a function at which call chains end. */
static bool make_lines(pf_script_state *s, const found *f, uint64_t fields, bool inlines,
                       bool *is_last, pf_buffer *out)
{
    const perfile_source_place *places = NULL;
    size_t n = 0;
    bool ok = true;
    inlines = inlines && f->symbol.name && !is_kernel(f->object);
    if ((inlines || fields & PF_FIELD_SRCLINE) && !find_places(s, f, &places, &n))
        return false;
    if (!n || !inlines) {
        *is_last = is_stop(s->x, f->symbol.name);
        return put_address(f, out) && put_found(f, fields, n ? &places[0] : NULL, out) &&
               pf_buffer_append_u8(out, '\n');
    }
    for (size_t i = 0; i < n && ok && !*is_last; i++) {
        ok = put_address(f, out) &&
             (is_of_symbol(f, &places[i]) ? put_found(f, fields, &places[i], out)
                                          : put_inlined(f, fields, &places[i], out)) &&
             pf_buffer_append_u8(out, '\n');
        *is_last = is_stop(s->x, places[i].function);
    }
    return ok;
}

/* Keeps a text; false if there is no memory or the limit of the profile is exceeded. */
static bool keep(pf_script_state *s, const pf_buffer *text, pf_script_piece *piece)
{
    const size_t needed = s->n_texts + text->len;
    if (needed > UINT32_MAX)
        return false;
    if (needed > s->texts_cap) {
        const size_t cap = needed + needed / 2 + 4096;
        uint8_t *more =
            pf_budget_realloc(&s->resolver->profile->budget, s->texts, s->texts_cap, cap, 1);
        if (!more)
            return false;
        s->texts = more;
        s->texts_cap = cap;
    }
    memcpy(s->texts + s->n_texts, text->ptr, text->len);
    piece->at = (uint32_t)s->n_texts;
    piece->n = (uint32_t)text->len;
    s->n_texts = needed;
    return true;
}

/* Makes room for the piece of a frame. */
static bool reserve(pf_script_state *s, pf_script_pieces *p, uint32_t frame)
{
    if (frame < p->n)
        return true;
    const size_t n = (size_t)frame + frame / 2 + 256;
    pf_script_piece *more =
        pf_budget_realloc(&s->resolver->profile->budget, p->at, p->n, n, sizeof *more);
    if (!more)
        return false;
    memset(more + p->n, 0, (n - p->n) * sizeof *more);
    p->at = more;
    p->n = n;
    return true;
}

/* What the text of a frame is. */
enum form { FORM_LINES, FORM_LINES_UNWOUND, FORM_PLACE };

static bool make(pf_script_state *s, uint32_t frame, uint64_t fields, enum form form, bool *is_last,
                 pf_buffer *out)
{
    const perfile_source_place *places = NULL;
    size_t n = 0;
    found f;
    if (!find(s, frame, &f))
        return false;
    if (form != FORM_PLACE)
        return make_lines(s, &f, fields, form == FORM_LINES_UNWOUND && s->x->inlines, is_last, out);
    if (fields & PF_FIELD_SRCLINE && !find_places(s, &f, &places, &n))
        return false;
    return put_found(&f, fields, n ? &places[0] : NULL, out);
}

/* Appends the text of a frame, which is made if it is new. */
static inline bool put_piece(pf_script_state *s, pf_script_pieces *p, uint32_t frame,
                             uint64_t fields, enum form form, pf_buffer *out)
{
    if (frame >= p->n || !p->at[frame].n) {
        pf_buffer_clear(&s->scratch);
        if (!reserve(s, p, frame) ||
            !make(s, frame, fields, form, &p->at[frame].is_last, &s->scratch) ||
            !keep(s, &s->scratch, &p->at[frame]))
            return false;
    }
    return pf_buffer_append(out, s->texts + p->at[frame].at, p->at[frame].n);
}

bool pf_script_put_place(pf_script_state *s, const pf_script_event *e, uint32_t frame,
                         pf_buffer *out)
{
    return !(e->fields & (PF_FIELD_SYM | PF_FIELD_DSO | PF_FIELD_DSOFF | PF_FIELD_SRCLINE)) ||
           put_piece(s, &s->places[e->type], frame, e->fields, FORM_PLACE, out);
}

bool pf_script_put_chain(pf_script_state *s, const pf_script_event *e, const pf_unresolved *u,
                         pf_buffer *out)
{
    const uint32_t *frames;
    size_t n, n_unwound;
    if (!u->n)
        return true;
    bool ok = pf_resolve_chain(s->resolver, u, s->x->most_frames, &frames, &n, &n_unwound);
    for (size_t i = 0; ok && i < n; i++) {
        const bool unwound = i >= n - n_unwound;
        pf_script_pieces *pieces = unwound ? &s->unwound[e->type] : &s->chains[e->type];
        ok = put_piece(s, pieces, frames[i], e->fields, unwound ? FORM_LINES_UNWOUND : FORM_LINES,
                       out);
        if (ok && pieces->at[frames[i]].is_last)
            break;
    }
    return ok;
}

bool pf_script_put_symbol(pf_script_state *s, uint32_t frame, bool offset, pf_buffer *out)
{
    found f;
    return find(s, frame, &f) && put_name(&f, offset, out);
}

bool pf_script_put_dso(pf_script_state *s, uint32_t frame, pf_buffer *out)
{
    const pf_profile *p = s->resolver->profile;
    const pf_call_frame *f = pf_profile_frame_at(p, frame);
    const found known = {.frame = f, .object = pf_profile_object_at(p, f->object)};
    return put_dso(&known, 0, out);
}

uint64_t pf_script_offset(const pf_script_state *s, uint32_t frame)
{
    const pf_profile *p = s->resolver->profile;
    const pf_call_frame *f = pf_profile_frame_at(p, frame);
    const pf_object *object = pf_profile_object_at(p, f->object);
    return object && is_kernel(object) ? f->offset - object->first.addr : f->offset;
}

uint32_t pf_script_frame(pf_script_state *s, const pf_unresolved *u, unsigned code, uint64_t addr)
{
    if (code == PF_CODE_KERNEL || code == PF_CODE_USER)
        code = addr >> 63 ? PF_CODE_KERNEL : PF_CODE_USER;
    return pf_resolve_address(s->resolver, u->s.pid, code, addr, u->s.time);
}
