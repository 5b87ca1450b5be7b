/* The names of frames, each once (see shown.h). */
#include "emit/export.h"

#include "base/alloc.h"

void pf_shown_init(pf_shown *s, pf_profile *p)
{
    s->names = (pf_intern){.seed = pf_index_seed(s),
                           .budget = &p->budget,
                           .width = sizeof(pf_shown_name),
                           .key = sizeof(pf_shown_name)};
}

void pf_shown_free(pf_shown *s)
{
    pf_intern_free(&s->names);
    pf_free(s->positions);
}

perfile_status pf_shown_make(pf_shown *s, pf_exporter *x, perfile_error *err)
{
    pf_profile *p = &x->profile;
    const pf_tree_options options = pf_export_tree_options(x);
    pf_buffer text = {0};
    bool ok = true;
    s->positions = pf_budget_alloc(&p->budget, p->frames.n + 1, sizeof *s->positions);
    ok = s->positions;
    for (uint32_t i = 0; i < p->frames.n && ok; i++) {
        const pf_call_frame *frame = pf_profile_frame_at(p, i);
        pf_buffer_clear(&text);
        const char *name =
            pf_tree_frame_name(p, &options, frame, &text) && pf_buffer_append_u8(&text, 0)
                ? pf_profile_text(p, (const char *)text.ptr)
                : NULL;
        const pf_shown_name key = {name, frame->object, frame->function};
        s->positions[i] = name ? pf_intern_add(&s->names, &key) : PF_INTERN_NONE;
        ok = s->positions[i] != PF_INTERN_NONE;
    }
    pf_buffer_free(&text);
    return ok ? PERFILE_OK : pf_profile_fail(p, err);
}
