/* MMAP2 records with build ids (misc bit 14), for versions that would take the id for an inode.
 *
 * The id moves to a HEADER_BUILD_ID record before the mapping, and the mapping gets an inode of 0.
 * Equal HEADER_BUILD_ID records are written once: a buffer has all that were written, with a hash
 * table over it. */
#include "base/alloc.h"
#include "base/error.h"
#include "perfile/encode.h"
#include "transform/target.h"
#include "schema/rows.h"
#include "core/command.h"

enum {
    N_SLOTS = 1 << 13, /* slots of the hash table */
    HOST = -1,         /* pid in HEADER_BUILD_ID for mappings of the host */
    UNION_AT = 40,     /* offset of inode or build id in MMAP2, from its header on … */
    UNION_BYTES = 24   /* … and the size of both forms */
};

bool pf_target_has_map_build_id(const pf_target *t, const perfile_record *r)
{
    return r->family == PERFILE_FAMILY_PERF && r->type == PERFILE_RECORD_MMAP2 &&
           r->misc & PERFILE_MISC_MMAP_BUILD_ID && !pf_release_knows_map_build_ids(t->release) &&
           r->body.len >= UNION_AT + UNION_BYTES - 8 && r->body.len <= UINT16_MAX - 8;
}

void pf_target_convert_map(uint8_t *bytes, bool swapped)
{
    uint16_t misc = pf_load_u16(bytes + 4, swapped);
    pf_store_u16(bytes + 4, misc & (uint16_t) ~(unsigned)PERFILE_MISC_MMAP_BUILD_ID, swapped);
    memset(bytes + UNION_AT, 0, UNION_BYTES);
}

size_t pf_target_mmap2_to_mmap(const perfile_record *r, const uint8_t *filename, uint8_t *out)
{
    enum { COMMON = 32 /* up to pgoff */ };
    const bool swapped = r->flags & PERFILE_REC_SWAPPED;
    const size_t rest = (size_t)(r->body.ptr + r->body.len - filename);
    const size_t n = PF_PERF_RECORD_HEADER + COMMON + rest;
    memcpy(out, r->header, PF_PERF_RECORD_HEADER);
    memcpy(out + PF_PERF_RECORD_HEADER, r->body.ptr, COMMON);
    memcpy(out + PF_PERF_RECORD_HEADER + COMMON, filename, rest);
    pf_store_u32(out, PERFILE_RECORD_MMAP, swapped);
    pf_store_u16(out + 4, r->misc & (uint16_t) ~(unsigned)PERFILE_MISC_MMAP_BUILD_ID, swapped);
    pf_store_u16(out + PF_PERF_SIZE_AT, (uint16_t)n, swapped);
    return n;
}

/* Returns the name for HEADER_BUILD_ID.  The kernel's mapping is named "[kernel.kallsyms]_text":
 * the symbol at the end is not part of the name of the file. */
static perfile_bytes file_of(perfile_bytes name)
{
    const uint8_t *end = name.len && name.ptr[0] == '[' ? memchr(name.ptr, ']', name.len) : NULL;
    if (end)
        name.len = (size_t)(end - name.ptr) + 1;
    return name;
}

/* Returns the FNV-1a hash of the bytes. */
static uint32_t hash_of(const uint8_t *bytes, size_t n)
{
    uint32_t h = UINT32_C(2166136261);
    for (size_t i = 0; i < n; i++)
        h = (h ^ bytes[i]) * UINT32_C(16777619);
    return h;
}

/* Sets *written_before if an equal record was written before, otherwise remembers this one.  If
 * table or buffer are full, it is not remembered and will be written each time, which does no
 * harm. */
static perfile_status was_written(pf_target *t, const uint8_t *record, size_t n,
                                  bool *written_before, perfile_error *err)
{
    enum { MOST_TRIES = 16 };
    *written_before = false;
    if (!t->written_slots && !(t->written_slots = pf_alloc(N_SLOTS, sizeof *t->written_slots)))
        return pf_fail_nomem(err, "target");
    uint32_t at = hash_of(record, n);
    for (unsigned i = 0; i < MOST_TRIES; i++, at++) {
        uint32_t *place = &t->written_slots[at % N_SLOTS];
        if (*place) {
            const uint8_t *old = t->written_ids.ptr + (*place - 1);
            size_t left = t->written_ids.len - (*place - 1);
            if ((*written_before = left >= n && memcmp(old, record, n) == 0))
                return PERFILE_OK;
            continue;
        }
        if (t->written_ids.len + n > PF_WRITTEN_ID_BYTES)
            return PERFILE_OK; /* not remembered: the buffer is full */
        *place = (uint32_t)t->written_ids.len + 1;
        return pf_buffer_append(&t->written_ids, record, n) ? PERFILE_OK
                                                            : pf_fail_nomem(err, "target");
    }
    return PERFILE_OK;
}

perfile_status pf_target_map_build_id(pf_target *t, const perfile_record *r, perfile_record *out,
                                      bool *is_new, perfile_error *err)
{
    perfile_mmap2 v;
    bool written_before;
    size_t n;
    /* A mapping that cannot be read, or has an empty id, gets no HEADER_BUILD_ID. */
    *is_new = false;
    if (perfile_mmap2_decode(r, &v, sizeof v, NULL) != PERFILE_OK || !v.build_id.len)
        return PERFILE_OK;
    /* For guests the pid is stored; for everything else perf writes -1. */
    const perfile_header_build_id id = {
        .has_pid = true,
        .pid = (r->misc & PERFILE_MISC_CPUMODE_MASK) >= PERFILE_MISC_CPUMODE_GUEST_KERNEL
                   ? (int32_t)v.pid
                   : HOST,
        .build_id = v.build_id,
        .has_size = true,
        .filename = file_of(v.filename),
    };
    const perfile_encode_options how = {
        .size = sizeof how,
        .misc = (uint16_t)((r->misc & PERFILE_MISC_CPUMODE_MASK) | PERFILE_MISC_BUILD_ID_SIZE),
        .byte_order = pf_session_byte_order(t->base.session),
    };
    if (perfile_header_build_id_encode(&id, sizeof id, &how, pf_target_free_bytes(t),
                                       t->bytes.cap - t->bytes.len, &n, NULL) != PERFILE_OK) {
        pf_target_count_loss(t, PERFILE_TARGET_LOSS_BUILD_ID, 0, r->offset);
        return PERFILE_OK;
    }
    perfile_status st = was_written(t, pf_target_free_bytes(t), n, &written_before, err);
    if (st != PERFILE_OK || written_before)
        return st;
    *out = (perfile_record){.type = PERFILE_RECORD_HEADER_BUILD_ID,
                            .misc = how.misc,
                            .flags = r->flags & PERFILE_REC_SWAPPED,
                            .offset = r->offset,
                            .stream_offset = r->stream_offset,
                            .sequence = r->sequence,
                            .part = r->part,
                            .session = t->base.session};
    pf_target_append(t, out, n);
    t->sum.build_ids++;
    *is_new = true;
    return PERFILE_OK;
}
