/* AUX traces: the bytes after AUXTRACE records, and the feature AUXTRACE, which says where in a
 * file these records are.
 *
 * The bytes are random: what they mean depends on the tracer.  The writer makes the feature; here
 * is only what the dump shows of it. */
#include "generate/capture.h"

#include "base/error.h"

enum {
    WORD = 8,              /* AUX data are a multiple of it */
    MOST_WORDS = 40,       /* of a record, unless its size is given */
    MOST_GIVEN = 64 << 10, /* bytes of a record */
    INDEX_ENTRY = 16       /* bytes of an entry of the feature */
};

static uint64_t *end_of_buffer(pf_gen *g, const perfile_auxtrace *aux)
{
    return &g->aux_ends[aux->idx % PF_GEN_AUX_BUFFERS];
}

/* Buffers with an even number are of a CPU, the others of a thread. */
void pf_gen_adjust_aux(pf_gen *g, perfile_auxtrace *aux)
{
    enum { FIRST_TID = 1000 };
    aux->idx %= PF_GEN_AUX_BUFFERS;
    aux->cpu = aux->idx % 2 ? UINT32_MAX : aux->idx;
    aux->tid = aux->idx % 2 ? FIRST_TID + aux->idx : UINT32_MAX;
    aux->size = WORD * pf_random_below(&g->maker.dice, MOST_WORDS);
    aux->offset = *end_of_buffer(g, aux);
}

perfile_status pf_gen_aux_data(pf_gen *g, const perfile_auxtrace *aux, perfile_bytes *data,
                               perfile_error *err)
{
    void *p;
    if (aux->size > MOST_GIVEN)
        return pf_spec_fail(g->maker.given->line, err,
                            "size: at most %d bytes of AUX data are made", (int)MOST_GIVEN);
    const size_t n = (size_t)aux->size;
    perfile_status st = pf_arena_get(&g->maker.arena, n + 1, &p, err);
    if (st != PERFILE_OK)
        return st;
    for (size_t i = 0; i < n; i++)
        ((uint8_t *)p)[i] = (uint8_t)pf_random_next(&g->maker.dice);
    *data = (perfile_bytes){p, n};
    return PERFILE_OK;
}

perfile_status pf_gen_note_aux(pf_gen *g, const perfile_auxtrace *aux, size_t size,
                               perfile_error *err)
{
    const perfile_auxtrace_index_entry entry = {.file_offset = pf_gen_data_offset(g) + g->bytes,
                                                .sz = size};
    *end_of_buffer(g, aux) = aux->offset + aux->size;
    return pf_buffer_append(&g->aux_index, &entry, sizeof entry) ? PERFILE_OK
                                                                 : pf_fail_nomem(err, "generate");
}

bool pf_gen_has_aux_index(const pf_gen *g)
{
    return g->aux_index.len && !pf_gen_is_pipe(g);
}

void pf_gen_show_aux_index(pf_gen *g, const pf_row *row, const pf_row_shape *shape)
{
    pf_gen_section *s = &g->sections[g->n_sections++];
    const size_t n = g->aux_index.len / sizeof(perfile_auxtrace_index_entry);
    const perfile_auxtrace_index index = {
        .has_nr = true,
        .nr = n,
        .entries = {.bytes = {g->aux_index.ptr, g->aux_index.len},
                    .n = n,
                    .given = sizeof(perfile_auxtrace_index_entry)}};
    s->row = row;
    s->len = sizeof index.nr + INDEX_ENTRY * n;
    pf_show_key(&s->line, "data");
    pf_show_open(&s->line, '{');
    pf_show_struct(&s->line, shape, PF_N_SHAPES, &index, PF_GEN_NONE);
    pf_show_shut(&s->line, '}');
    pf_covered_see(g->o->covered, row->name, shape, PF_N_SHAPES, &index);
    g->sum->features++;
}
