/* Names as text (see name.h). */
#include "profile/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "perfile/text.h"
#include "symbol/state.h"
#include "symbol/protocol.h"

bool pf_name_text(const char *text, size_t most, pf_buffer *out)
{
    uint8_t room[PF_TEXT_MOST];
    const perfile_bytes shown =
        pf_shortened((perfile_bytes){(const uint8_t *)text, strlen(text)}, most, room);
    if (!shown.len)
        return pf_buffer_append_u8(out, '?');
    if (!pf_buffer_reserve(out, shown.len))
        return false;
    for (size_t i = 0, length; i < shown.len; i += length) {
        uint32_t code = 0;
        length = perfile_utf8_char(shown.ptr + i, shown.len - i, &code);
        if (length && perfile_is_printable(code) && code != ';') {
            memcpy(out->ptr + out->len, shown.ptr + i, length);
            out->len += length;
        } else {
            out->ptr[out->len++] = code == ';' ? ':' : '?';
            length = length ? length : 1;
        }
    }
    return true;
}

/* The name behind the last slash. */
static const char *base_name(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash && slash[1] ? slash + 1 : name;
}

bool pf_name_function(const pf_profile *p, const pf_call_frame *frame, pf_buffer *out, bool *known)
{
    const pf_object *object = pf_profile_object_at(p, frame->object);
    const bool is_symbol = object && object->kind == PERFILE_MAPPING_SYMBOL;
    const pf_function *function = pf_profile_function_of(p, frame);
    const char *name = is_symbol ? object->name : function ? function->name : NULL;
    *known = name;
    return !name || pf_name_text(name, is_symbol ? PF_NAME_MOST : PF_FUNCTION_MOST, out);
}

bool pf_name_frame(const pf_profile *p, const pf_call_frame *frame, bool join, pf_buffer *out)
{
    char offset[32] = "]";
    bool known;
    const pf_object *object = pf_profile_object_at(p, frame->object);
    const char *name = object ? base_name(object->name) : "unknown";
    if (!pf_name_function(p, frame, out, &known))
        return false;
    if (known)
        return true;
    if (join && name[0] == '[') /* [kernel.kallsyms], [vdso] */
        return pf_name_text(name, PF_NAME_MOST, out);
    if (!join)
        snprintf(offset, sizeof offset, "+0x%" PRIx64 "]", frame->offset);
    return pf_buffer_append_u8(out, '[') && pf_name_text(name, PF_NAME_MOST, out) &&
           pf_buffer_append(out, offset, strlen(offset));
}

/* A frame that has no name yet, but an address in an object; NULL: nothing to look up. */
static const pf_object *unnamed(const pf_profile *p, uint32_t i, pf_call_frame **frame)
{
    *frame = pf_intern_at(&p->frames, i);
    return (*frame)->function ? NULL : pf_profile_object_at(p, (*frame)->object);
}

/* Announces the next frames from `first` on; returns the one after them. */
static uint32_t expect(const pf_profile *p, perfile_symbols *symbols, uint32_t first)
{
    pf_call_frame *frame;
    uint32_t i = first;
    for (; i < p->frames.n && i - first < PF_DEMANGLE_MOST; i++) {
        const pf_object *object = unnamed(p, i, &frame);
        if (object)
            pf_symbols_expect(symbols, &object->first, pf_object_address(object, frame->offset));
    }
    return i;
}

perfile_status pf_name_functions(pf_profile *p, perfile_symbols *symbols, uint32_t first,
                                 perfile_error *err)
{
    pf_call_frame *frame;
    for (uint32_t i = first, expected = first; i < p->frames.n; i++) {
        if (i == expected)
            expected = expect(p, symbols, i);
        const pf_object *object = unnamed(p, i, &frame);
        perfile_symbol symbol;
        if (!object)
            continue;
        perfile_status st =
            perfile_symbols_find(symbols, &object->first, pf_object_address(object, frame->offset),
                                 PERFILE_NO_TIME, &symbol, err);
        if (st != PERFILE_OK)
            return st;
        if (!symbol.name)
            continue;
        const uint32_t function =
            pf_profile_function(p, frame->object, pf_object_offset(&object->first, symbol.start),
                                symbol.name, symbol.mangled);
        if (function == PF_INTERN_NONE)
            return pf_profile_fail(p, err);
        frame->function = function + 1;
    }
    return PERFILE_OK;
}
