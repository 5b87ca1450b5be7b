/* Visits the members of a struct; see members.h.  Open structs and lists are a stack of frames, so
 * that nothing recurses. */
#include "generate/members.h"

#include <assert.h>
#include <string.h>

void pf_members_begin(pf_members *m, const pf_row_shape *shape, unsigned of, void *base)
{
    m->n = 1;
    m->last = NULL;
    m->open[0] = (pf_members_open){
        .first = shape->members, .next = shape->members, .base = base, .of = (uint8_t)of};
}

static bool holds(const pf_members_open *f, const pf_member *condition)
{
    uint64_t bits;
    if (condition->what == PF_MEMBER_WHEN)
        return f->base[condition->at];
    memcpy(&bits, f->base + condition->at, sizeof bits);
    return bits & condition->bit;
}

/* Skips the members of a condition, and with `alternative` stops after its ELSE. */
static void skip(pf_members_open *f, bool alternative)
{
    for (unsigned depth = 1; depth; f->next++) {
        const unsigned what = f->next->what;
        depth += what == PF_MEMBER_WHEN || what == PF_MEMBER_SAMPLE;
        depth -= what == PF_MEMBER_END_WHEN;
        if (what == PF_MEMBER_ELSE && depth == 1 && alternative) {
            f->next++;
            return;
        }
    }
}

static pf_members_open *enter(pf_members *m, const pf_member *owner, uint8_t *base)
{
    assert(m->n < PF_MEMBERS_DEPTH);
    pf_members_open *f = &m->open[m->n++];
    const pf_member *first = pf_struct_shapes[owner->of].members;
    *f = (pf_members_open){
        .first = first, .next = first, .owner = owner, .base = base, .of = owner->of};
    return f;
}

/* Enters the list of the member; returns false if it is empty. */
static bool enter_list(pf_members *m, const pf_member *owner, uint8_t *base)
{
    perfile_list list;
    memcpy(&list, base + owner->at, sizeof list);
    if (!list.n)
        return false;
    pf_members_open *f = enter(m, owner, (uint8_t *)(uintptr_t)list.bytes.ptr);
    f->items_left = (size_t)list.n - 1;
    f->width = list.given;
    return true;
}

/* Makes a step of the struct or item that has ended. */
static bool end_open(pf_members *m, pf_step *step)
{
    pf_members_open *f = &m->open[m->n - 1];
    *step = (pf_step){.of = f->of, .member = f->owner, .at = f->base, .base = f->base};
    step->what = f->width ? PF_STEP_ITEM_END : PF_STEP_STRUCT_END;
    m->n -= !f->width;
    return m->n > 0;
}

/* Makes a step of the next item of the innermost list, or of its end. */
static void next_item(pf_members *m, pf_step *step)
{
    pf_members_open *f = &m->open[m->n - 1];
    *step = (pf_step){.what = PF_STEP_ITEM, .of = f->of, .member = f->owner};
    if (f->items_left) {
        f->items_left--;
        f->base += f->width;
        f->next = f->first;
        f->stored = 0;
        step->at = step->base = f->base;
        return;
    }
    m->n--;
    step->what = PF_STEP_LIST_END;
    step->of = m->open[m->n - 1].of;
    step->base = m->open[m->n - 1].base;
    step->at = step->base + step->member->at;
}

/* Reads what the last step announced.  Returns true if *step is the next step because of it. */
static bool follow(pf_members *m, pf_step *step)
{
    const pf_member *last = m->last;
    pf_members_open *f = &m->open[m->n - 1];
    m->last = NULL;
    if (!last)
        return false;
    if (last->what == PF_MEMBER_WHEN || last->what == PF_MEMBER_SAMPLE) {
        if (!holds(f, last))
            skip(f, true);
        return false;
    }
    uint8_t *base = f->base;
    if (last->type == PERFILE_STORED_STRUCT) {
        enter(m, last, base + last->at);
        return false;
    }
    const bool any = enter_list(m, last, base);
    f = &m->open[m->n - 1];
    *step = (pf_step){.what = any ? PF_STEP_ITEM : PF_STEP_LIST_END,
                      .of = f->of,
                      .member = last,
                      .at = any ? f->base : base + last->at,
                      .base = f->base};
    return true;
}

/* Returns true if the size of an attr reaches the member. */
static bool reaches(const pf_members_open *f, const pf_member *member)
{
    uint32_t size = PF_ATTR_LEAST;
    if (f->of == PF_SHAPE_attr)
        memcpy(&size, f->base + offsetof(perfile_attr, size), sizeof size);
    return f->stored + pf_type_width(member->type) <= (size ? size : PF_ATTR_LEAST);
}

/* Makes a step of a member; returns false for marks, which have none. */
static bool step_of(pf_members *m, const pf_member *member, pf_step *step)
{
    pf_members_open *f = &m->open[m->n - 1];
    *step = (pf_step){.of = f->of, .member = member, .at = f->base + member->at, .base = f->base};
    switch (member->what) {
    case PF_MEMBER_WHEN:
    case PF_MEMBER_SAMPLE:
        step->what = PF_STEP_CONDITION;
        m->last = member;
        return true;
    case PF_MEMBER_ELSE: /* the condition held */
        skip(f, false);
        return false;
    case PF_MEMBER_ATTR:
        if (!reaches(f, member))
            return false;
        break;
    case PF_MEMBER_BEYOND:
        step->what = PF_STEP_BEYOND;
        return true;
    case PF_MEMBER_FIELD:
        break;
    default:
        return false;
    }
    f->stored += pf_type_width(member->type);
    step->what = PF_STEP_VALUE;
    if (member->type == PERFILE_STORED_STRUCT || member->type == PERFILE_STORED_LIST) {
        step->what = member->type == PERFILE_STORED_LIST ? PF_STEP_LIST : PF_STEP_STRUCT;
        m->last = member;
    }
    return true;
}

bool pf_members_next(pf_members *m, pf_step *step)
{
    if (follow(m, step))
        return true;
    while (m->n) {
        pf_members_open *f = &m->open[m->n - 1];
        if (!f->next) {
            next_item(m, step);
            return true;
        }
        if (f->next->what == PF_MEMBER_END) {
            f->next = NULL;
            return end_open(m, step);
        }
        const pf_member *member = f->next++;
        if (step_of(m, member, step))
            return true;
    }
    return false;
}
