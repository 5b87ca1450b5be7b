/* Frames as text.
 *
 * All locations in a function share one frame (pf_resolver.joins), because their text only differs
 * in numbers: the address in the file at the beginning of a callchain line, and the distance from
 * the beginning of the function.  So the text of each frame is made once for each type of events,
 * and the numbers are inserted.  If more depends on the location, such as source lines, each
 * location gets its own frame and text. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/shorten.h"
#include "script/script.h"
#include "symbol/state.h"

enum {
    COPY = 32, /* bytes of text copied at a time; reads may exceed the text by as many */
    PIECE_ROOM = 2 * COPY + 64 /* bytes of numbers, and of copying beyond the end */
};

/* A location, looked up. */
typedef struct found {
    const pf_call_frame *frame;
    const pf_object *object; /* NULL if no mapping is known there */
    perfile_symbol symbol;   /* `name` is NULL if the function is not known */
    uint64_t offset;         /* in the object */
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

/* Returns the kernel as it was mapped, NULL if no frame was in it yet. */
static const pf_object *kernel_of(pf_script_state *s)
{
    const pf_profile *p = s->resolver->profile;
    for (uint32_t i = 0; i < p->objects.n && s->kernel == PF_NO_OBJECT; i++)
        if (strncmp(pf_profile_object_at(p, i)->name, "[kernel.", 8) == 0)
            s->kernel = i;
    return pf_profile_object_at(p, s->kernel);
}

/* Looks up the function at an address of f->object.  Returns false when out of memory. */
static bool ask(pf_script_state *s, found *f)
{
    f->address = pf_object_address(f->object, f->offset);
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

/* Looks up a location.  Returns false when out of memory.
 *
 * The mapping of the kernel ends before code that only runs at boot, which still has symbols.  So
 * an address outside all mappings belongs to the kernel if the kernel has a symbol for it. */
static bool find(pf_script_state *s, const pf_code_place *place, found *f)
{
    const pf_profile *p = s->resolver->profile;
    *f = (found){.frame = pf_profile_frame_at(p, place->frame), .offset = place->offset};
    f->object = pf_profile_object_at(p, f->frame->object);
    f->address = f->offset;
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

/* Returns true if callchains show kernel addresses for this object, not offsets in a file. */
static bool is_kernel(const pf_object *object)
{
    return object && (object->kind == PERFILE_MAPPING_SYMBOL || pf_is_kernel(&object->first));
}

const char *pf_script_kernel_function(pf_script_state *s, const pf_code_place *place,
                                      uint64_t *offset)
{
    found f;
    if (!find(s, place, &f) || !f.symbol.name || !is_kernel(f.object))
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

/* Returns the name of a file without folders. */
static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Appends the name of a kernel module as in perf, "[nf_tables]", made from the path of its file. */
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
    /* perf shows modules by path if the capture has their build id. */
    bool ok = is_kernel(f->object) && name[0] == '/' && !f->object->build_id_size
                  ? put_module(name, out)
                  : pf_script_put_text(out, name, strlen(name), PF_NAME_MOST);
    if (ok && f->object && fields & PF_FIELD_DSOFF)
        ok = pf_script_printf(out, "+0x%" PRIx64, f->offset);
    return ok;
}

/* Finds the source locations of an address, innermost first.  Sets *n to 0 if none is known. */
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

/* Appends a separate line with a source location.  For kernel code without a known location, the
 * line has the address. */
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

/* Appends the text after an address: function, file, source location. */
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

/* Returns the address at the beginning of a callchain line. */
static uint64_t shown_address(const found *f)
{
    return is_kernel(f->object) ? f->address : f->offset;
}

uint8_t *pf_script_put_address(uint8_t *at, uint64_t address)
{
    const unsigned blanks = (unsigned)__builtin_clzll(address | 1) / 4;
    memset(at, ' ', 16);
    return pf_put_hex(at + blanks, address);
}

static bool put_address(const found *f, pf_buffer *out)
{
    uint8_t text[PF_ADDRESS_ROOM] = "\t";
    const uint8_t *end = pf_script_put_address(text + 1, shown_address(f));
    return pf_buffer_append(out, text, (size_t)(end - text));
}

/* Returns true if a source location is in the function of the symbol. */
static bool is_of_symbol(const found *f, const perfile_source_place *place)
{
    return place->function && strcmp(place->function, f->symbol.name) == 0;
}

/* Returns true if callchains end at this function. */
static bool is_stop(const pf_script *x, const char *name)
{
    if (!x->stops.len || !name)
        return false;
    const char *stop = (const char *)x->stops.ptr, *const end = stop + x->stops.len;
    for (; stop < end; stop += strlen(stop) + 1)
        if (strcmp(stop, name) == 0)
            return true;
    return false;
}

/* Makes the lines of a frame in a callchain.  With `inlines` there is one line for each source
 * location, innermost first; a function with another name than the symbol is inlined.  Sets
 * *is_last if callchains end at the function of the last line. */
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

/* Stores a text.  Returns false when out of memory or over the limit of the profile. */
static bool keep(pf_script_state *s, const pf_buffer *text, pf_script_piece *piece)
{
    const size_t needed = s->n_texts + text->len;
    if (needed > UINT32_MAX)
        return false;
    if (needed + COPY > s->texts_cap) {
        const size_t cap = needed + needed / 2 + 4096;
        uint8_t *more =
            pf_budget_realloc(&s->resolver->profile->budget, s->texts, s->texts_cap, cap, 1);
        if (!more)
            return false;
        s->texts = more;
        s->texts_cap = cap;
    }
    if (text->len)
        memcpy(s->texts + s->n_texts, text->ptr, text->len);
    piece->at = (uint32_t)s->n_texts;
    piece->made = true;
    s->n_texts = needed;
    return true;
}

/* Returns the piece of a frame, making room for it.  NULL when out of memory. */
static pf_script_piece *piece_of(pf_script_state *s, pf_script_pieces *p, uint32_t frame)
{
    if (frame < p->n)
        return &p->at[frame];
    const size_t n = (size_t)frame + frame / 2 + 256;
    pf_script_piece *more =
        pf_budget_realloc(&s->resolver->profile->budget, p->at, p->n, n, sizeof *more);
    if (!more)
        return NULL;
    memset(more + p->n, 0, (n - p->n) * sizeof *more);
    p->at = more;
    p->n = n;
    return &p->at[frame];
}

/* The kind of text of a location. */
enum form { FORM_LINES, FORM_LINES_UNWOUND, FORM_PLACE };

static bool make(pf_script_state *s, const pf_code_place *place, uint64_t fields, enum form form,
                 bool *is_last, pf_buffer *out)
{
    const perfile_source_place *places = NULL;
    size_t n = 0;
    found f;
    if (!find(s, place, &f))
        return false;
    if (form != FORM_PLACE)
        return make_lines(s, &f, fields, form == FORM_LINES_UNWOUND && s->x->inlines, is_last, out);
    if (fields & PF_FIELD_SRCLINE && !find_places(s, &f, &places, &n))
        return false;
    return put_found(&f, fields, n ? &places[0] : NULL, out);
}

/* Appends the text of a location, which is made if it is new. */
static bool put_by_place(pf_script_state *s, const pf_script_event *e, const pf_code_place *place,
                         enum form form, bool *is_last, pf_buffer *out)
{
    pf_script_pieces *const all[] = {s->chains, s->unwound, s->places};
    const pf_call_frame *f = pf_profile_frame_at(s->resolver->profile, place->frame);
    const uint32_t own = pf_profile_frame(s->resolver->profile, f->object, f->code, place->offset);
    pf_script_piece *piece = own == PF_INTERN_NONE ? NULL : piece_of(s, &all[form][e->type], own);
    if (!piece)
        return false;
    if (!piece->made) {
        pf_buffer_clear(&s->scratch);
        if (!make(s, place, e->fields, form, &piece->is_last, &s->scratch) ||
            !keep(s, &s->scratch, piece))
            return false;
        piece->before = (uint32_t)s->scratch.len;
    }
    *is_last = piece->is_last;
    return pf_buffer_append(out, s->texts + piece->at, piece->before);
}

/* Makes the text of a frame from one of its locations. */
static bool make_piece(pf_script_state *s, uint64_t fields, const pf_code_place *place,
                       pf_script_piece *piece)
{
    found f;
    pf_buffer *text = &s->scratch;
    if (!find(s, place, &f))
        return false;
    /* Kernel addresses without a mapping are looked up one by one, see find(). */
    piece->by_place =
        fields & (PF_FIELD_DSOFF | PF_FIELD_SRCLINE) ||
        (f.frame->object == PF_NO_OBJECT && f.frame->code == PF_CODE_KERNEL && s->x->symbols);
    piece->to_address = shown_address(&f) - place->offset;
    piece->to_distance = f.address - f.symbol.start - place->offset;
    piece->is_last = is_stop(s->x, f.symbol.name);
    piece->has_distance = f.symbol.name && fields & PF_FIELD_SYM && fields & PF_FIELD_SYMOFF;
    pf_buffer_clear(text);
    if ((fields & PF_FIELD_SYM &&
         (!pf_buffer_append_u8(text, ' ') || !put_name(&f, false, text))) ||
        (piece->has_distance && !put_string(text, "+0x")))
        return false;
    piece->before = (uint32_t)text->len;
    if (fields & PF_FIELD_DSO &&
        (!put_string(text, " (") || !put_dso(&f, 0, text) || !pf_buffer_append_u8(text, ')')))
        return false;
    piece->behind = (uint32_t)text->len - piece->before;
    return keep(s, text, piece);
}

/* Copies `n` bytes of text in units of COPY bytes; most names are shorter than that. */
static inline uint8_t *put_copy(uint8_t *at, const uint8_t *from, size_t n)
{
    memcpy(at, from, COPY);
    for (size_t i = COPY; i < n; i += COPY)
        memcpy(at + i, from + i, COPY);
    return at + n;
}

/* Appends a line of a callchain, or the text after the address of a sample (FORM_PLACE).  Sets
 * *is_last if callers are not shown. */
static inline bool put_place(pf_script_state *s, const pf_script_event *e,
                             const pf_code_place *place, enum form form, bool *is_last,
                             pf_buffer *out)
{
    pf_script_piece *piece = piece_of(s, &s->frames[e->type], place->frame);
    if (!piece || (!piece->made && !make_piece(s, e->fields, place, piece)))
        return false;
    if (piece->by_place || (form == FORM_LINES_UNWOUND && s->x->inlines && s->x->symbols))
        return put_by_place(s, e, place, form, is_last, out);
    *is_last = piece->is_last;
    if (!pf_buffer_reserve(out, (size_t)piece->before + piece->behind + PIECE_ROOM))
        return false;
    uint8_t *at = out->ptr + out->len;
    const uint8_t *text = s->texts + piece->at;
    if (form != FORM_PLACE) {
        *at = '\t';
        at = pf_script_put_address(at + 1, place->offset + piece->to_address);
    }
    at = put_copy(at, text, piece->before);
    if (piece->has_distance)
        at = pf_put_hex(at, place->offset + piece->to_distance);
    at = put_copy(at, text + piece->before, piece->behind);
    if (form != FORM_PLACE)
        *at++ = '\n';
    out->len = (size_t)(at - out->ptr);
    return true;
}

bool pf_script_shows_place(const pf_script_event *e)
{
    return e->fields & (PF_FIELD_SYM | PF_FIELD_DSO | PF_FIELD_DSOFF | PF_FIELD_SRCLINE);
}

bool pf_script_put_place(pf_script_state *s, const pf_script_event *e, const pf_code_place *place,
                         pf_buffer *out)
{
    bool is_last;
    return put_place(s, e, place, FORM_PLACE, &is_last, out);
}

bool pf_script_put_chain(pf_script_state *s, const pf_script_event *e, const pf_unresolved *u,
                         pf_buffer *out)
{
    const pf_code_place *places;
    size_t n, n_unwound;
    if (!u->n)
        return true;
    bool ok = pf_resolve_chain(s->resolver, u, s->x->most_frames, &places, &n, &n_unwound);
    bool is_last = false;
    for (size_t i = 0; ok && i < n && !is_last; i++)
        ok = put_place(s, e, &places[i], i < n - n_unwound ? FORM_LINES : FORM_LINES_UNWOUND,
                       &is_last, out);
    return ok;
}

bool pf_script_put_symbol(pf_script_state *s, const pf_code_place *place, bool offset,
                          pf_buffer *out)
{
    found f;
    return find(s, place, &f) && put_name(&f, offset, out);
}

bool pf_script_put_dso(pf_script_state *s, const pf_code_place *place, pf_buffer *out)
{
    const pf_profile *p = s->resolver->profile;
    const pf_call_frame *f = pf_profile_frame_at(p, place->frame);
    const found known = {.frame = f, .object = pf_profile_object_at(p, f->object)};
    return put_dso(&known, 0, out);
}

uint64_t pf_script_offset(const pf_script_state *s, const pf_code_place *place)
{
    const pf_profile *p = s->resolver->profile;
    const pf_call_frame *f = pf_profile_frame_at(p, place->frame);
    const pf_object *object = pf_profile_object_at(p, f->object);
    return object && is_kernel(object) ? place->offset - object->first.addr : place->offset;
}

bool pf_script_place(pf_script_state *s, const pf_unresolved *u, unsigned code, uint64_t addr,
                     pf_code_place *place)
{
    if (code == PF_CODE_KERNEL || code == PF_CODE_USER)
        code = addr >> 63 ? PF_CODE_KERNEL : PF_CODE_USER;
    return pf_resolve_address(s->resolver, u->s.pid, code, addr, u->s.time, place);
}
