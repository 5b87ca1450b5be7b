#include "stage/filter_pids.h"

#include "base/alloc.h"

bool pf_pids_add(pf_pids *p, uint32_t pid, bool *is_new)
{
    *is_new = !pf_pids_have(p, pid);
    if (!*is_new)
        return true;
    if (pid >= PF_PIDS_USUAL) {
        if (p->odd.n == PF_PIDS_ODD) {
            p->full = true;
            return true;
        }
        if (!p->odd.seed)
            p->odd.seed = pf_index_seed(p);
        if (!pf_index_put(&p->odd, pid, 0))
            return false;
    } else {
        if (!p->bits && !(p->bits = pf_alloc(PF_PIDS_USUAL / 64, sizeof *p->bits)))
            return false;
        p->bits[pid / 64] |= UINT64_C(1) << pid % 64;
    }
    p->n++;
    return true;
}

void pf_pids_free(pf_pids *p)
{
    pf_free(p->bits);
    pf_index_free(&p->odd);
}
