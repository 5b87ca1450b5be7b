/* The plan of a field at run time; see plan.h. */
#include "emit/plan.h"

pf_plan pf_plan_of(const perfile_field *f)
{
    return pf_plan_for(f->type, f->element, f->kind, perfile_kind_base(f->kind), f->flags);
}
