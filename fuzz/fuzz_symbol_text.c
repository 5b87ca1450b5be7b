/* Any bytes as kallsyms and as a perf-PID.map.  Every symbol found covers its own start, and names
 * are single lines. */
#include <stdlib.h>
#include <string.h>

#include "ensure.h"
#include "symbol/elf.h"

static void check(pf_symtab *t, perfile_status st, int rules)
{
    pf_symtab_settle(t, rules);
    if (st == PERFILE_OK && pf_symtab_index(t) == PERFILE_OK)
        for (size_t i = 0; i < t->n; i++) {
            const pf_sym *s = &t->syms[i];
            const char *name = pf_symtab_name(t, s);
            ENSURE(i == 0 || t->syms[i - 1].start < s->start);
            ENSURE(s->end == s->start || pf_symtab_find(t, s->start) == s);
            ENSURE(name[0] && !strchr(name, '\n'));
            ENSURE(s->module < t->names_len);
        }
    pf_symtab_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pf_budget budget = {.limit = 1 << 20};
    pf_symtab t = {.budget = &budget};
    uint8_t *block = malloc(size ? size : 1);
    ENSURE(block);
    if (size)
        memcpy(block, data, size);
    perfile_bytes text = {block, size};
    check(&t, pf_kallsyms_add(&t, text), PF_RULES_KALLSYMS);
    check(&t, pf_perf_map_add(&t, text), PF_RULES_PERF_MAP);
    ENSURE(budget.used == 0);
    free(block);
    return 0;
}
