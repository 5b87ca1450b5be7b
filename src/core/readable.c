/* Walks that only find out whether everything can be decoded. */
#include "core/readable.h"

#include "perfile/damage.h"
#include "perfile/field.h"

static void ignore_value(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)user, (void)f, (void)v;
}

static void ignore_end(void *user, const perfile_field *f)
{
    (void)user, (void)f;
}

static const perfile_visitor ignore_all = {
    .size = sizeof ignore_all, .value = ignore_value, .begin = ignore_value, .end = ignore_end};

bool pf_record_readable(const perfile_record *r, uint32_t flags)
{
    return perfile_record_walk(r, flags, &ignore_all, NULL, NULL) == PERFILE_OK;
}

bool pf_feature_readable(const perfile_feature *f, uint32_t flags)
{
    return perfile_feature_walk(f, flags, &ignore_all, NULL, NULL) == PERFILE_OK;
}

bool pf_feature_ends_list(const perfile_feature *f)
{
    enum { FIRST_NEW_MARKER = 32 }; /* perf before 5.14 had less */
    return f->payload.len == 0 && (f->number >= FIRST_NEW_MARKER || !pf_feature_readable(f, 0));
}

uint32_t pf_feature_damage(const perfile_feature *f)
{
    perfile_error err = {0};
    if (f->damage)
        return f->damage;
    if (perfile_feature_walk(f, PERFILE_WALK_ALL, &ignore_all, NULL, &err) >= 0)
        return 0;
    return err.damage ? err.damage : PERFILE_DAMAGE_SHORT_BODY;
}
