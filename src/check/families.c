/* Which families of records have rules of their own. */
#include "check/check.h"

static const pf_check_family *const families[] = {&pf_check_perfmon};

const pf_check_family *pf_check_family_of(uint32_t family)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (families[i]->family == family)
            return families[i];
    return NULL;
}
