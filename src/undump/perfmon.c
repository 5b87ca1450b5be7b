/* A perfmon buffer, made from the lines of a dump: a header, and a sequence of records.  A record
 * has a type and the struct perfmon_tag as its header. */
#include <string.h>

#include "base/error.h"
#include "undump/undump.h"

/* Encodes u->given, a struct without a type of its own, at offset `at` of u->space.out. */
static perfile_status encode_at(pf_undump_state *u, const pf_row *row, size_t at, size_t *len,
                                perfile_error *err)
{
    const perfile_encode_options how = {.size = sizeof how,
                                        .byte_order = PERFILE_BYTE_ORDER_LITTLE};
    pf_encode_space space = u->space;
    space.out += at;
    space.room -= at;
    return pf_encode_feature_row(row, &space, u->given, &how, len, err);
}

/* Fills a struct from keys of the line itself. */
static perfile_status fill_of_line(pf_undump_state *u, const pf_undump_object *o, const pf_row *row,
                                   const pf_undump_keys *keys, perfile_error *err)
{
    static const struct {
        const char *name;
        unsigned key;
    } names[] = {{"version", PF_LINE_version},
                 {"arch", PF_LINE_arch},
                 {"flags", PF_LINE_flags},
                 {"ticks_per_second", PF_LINE_ticks_per_second},
                 {"capture_end", PF_LINE_capture_end},
                 {"reserved_flags", PF_LINE_reserved_flags},
                 {"event", PF_LINE_event}};
    if (!keys)
        return pf_fail_nomem(err, "undump");
    memset(u->given, 0, row->size);
    for (uint32_t i = 0; i < keys->n_keys; i++) {
        const pf_undump_key *k = &keys->keys[i];
        const unsigned width = pf_type_width(k->member->type);
        const uint64_t most = width == 8 ? (UINT64_MAX >> pf_is_signed(k->member->type))
                                         : (UINT64_C(1) << 8 * width) - 1;
        uint64_t v = 0;
        size_t n = 0;
        while (strcmp(names[n].name, k->name) != 0)
            n++;
        perfile_status st = pf_undump_number(u, o->at[names[n].key], k->name, most, &v, err);
        if (st != PERFILE_OK)
            return st;
        const uint16_t v16 = (uint16_t)v;
        const uint32_t v32 = (uint32_t)v;
        uint8_t *to = (uint8_t *)u->given + k->at;
        if (width == 8)
            memcpy(to, &v, sizeof v);
        else if (width == 4)
            memcpy(to, &v32, sizeof v32);
        else if (width == 2)
            memcpy(to, &v16, sizeof v16);
        else
            *to = (uint8_t)v;
    }
    return PERFILE_OK;
}

perfile_status pf_undump_perfmon_header(pf_undump_state *u, const pf_undump_object *o,
                                        perfile_error *err)
{
    static const pf_row row = {.name = "perfmon_header",
                               .size = sizeof(perfile_perfmon_header),
                               PF_ROW_FUNCTIONS(perfmon_header)};
    size_t len = 0;
    if (o->at[PF_LINE_file])
        return pf_undump_fail(u, o->at[PF_LINE_file], "header.file", err,
                              "a dump of a directory of perfmon buffers cannot be converted back");
    perfile_status st =
        fill_of_line(u, o, &row, pf_undump_keys_of(u, PF_SHAPE_perfmon_header), err);
    if (st == PERFILE_OK)
        st = encode_at(u, &row, 0, &len, err);
    if (st == PERFILE_OK)
        st = perfile_sink_write(u->sink, (perfile_bytes){u->space.out, len}, err);
    u->perfmon = st == PERFILE_OK;
    return st;
}

perfile_status pf_undump_perfmon_record(pf_undump_state *u, const pf_undump_object *o,
                                        perfile_error *err)
{
    static const pf_row tag = {
        .name = "perfmon_tag", .size = sizeof(perfile_perfmon_tag), PF_ROW_FUNCTIONS(perfmon_tag)};
    const pf_family *family = &pf_family_perfmon;
    pf_undump_filled filled;
    uint64_t type;
    size_t len;
    perfile_status st =
        pf_undump_number(u, o->at[PF_LINE_type], "record.type", UINT8_MAX, &type, err);
    if (st != PERFILE_OK)
        return st;
    const pf_row *row = pf_family_row(family, PF_TYPE_IN(perfmon, (uint32_t)type));
    if (!row)
        return pf_undump_fail(u, o->at[PF_LINE_type], "record.type", err,
                              "a perfmon buffer has no records of type %u", (unsigned)type);
    if (!o->at[PF_LINE_body])
        return pf_undump_fail(u, u->item.ptr, "record", err, "the key 'body' is missing");
    st = fill_of_line(u, o, &tag, pf_undump_keys_of(u, PF_SHAPE_perfmon_tag), err);
    if (st == PERFILE_OK)
        st = encode_at(u, &tag, family->tag_at, &len, err);
    if (st == PERFILE_OK)
        st = pf_undump_fill(u, pf_undump_keys_of_row(u, PERFILE_FAMILY_PERFMON, row),
                            o->at[PF_LINE_body], row->name, u->given, &filled, err);
    if (st == PERFILE_OK && filled.has_data)
        st = pf_undump_fail(u, o->at[PF_LINE_body], row->name, err, "no member is called 'data'");
    if (st == PERFILE_OK)
        st = encode_at(u, row, family->header, &len, err);
    if (st != PERFILE_OK)
        return st;
    u->space.out[0] = (uint8_t)type;
    return perfile_sink_write(u->sink, (perfile_bytes){u->space.out, family->header + len}, err);
}
