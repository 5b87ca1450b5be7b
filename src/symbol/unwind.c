/* Unwinding of user stacks (see unwind.h).
 *
 * The rule for an address of a file is computed once and stored with the file, however many
 * processes have it mapped.  A direct-mapped cache leads from an address of a process to its rule,
 * with the time range for which that is valid (pf_reach of the model).  So most frames cost one
 * cache access and a few words of the copied stack. */
#include "symbol/unwind.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { SLOT_BITS = 5 };
#else
enum { SLOT_BITS = 15 }; /* log2 of the number of slots: 1 MiB */
#endif

enum {
    ABI_64 = 2, /* perfile_regs_user.abi: PERF_SAMPLE_REGS_ABI_64 */
    EM_X86_64 = 62,
    EM_AARCH64 = 183
};

/* Predefined rules: for addresses without a rule, and for PLT entries. */
enum { RULE_NOWHERE, RULE_NO_FILE, RULE_UNKNOWN, RULE_PLT, N_FIRST_RULES };

/* An address of process `pid`, and its rule at times from `first` to `last`. */
typedef struct pf_unwind_slot {
    uint64_t addr, first, last;
    uint32_t pid;
    uint32_t rule; /* index + 1; 0: the slot is free */
} pf_unwind_slot;

/* Loading the call frame information of files.
 *
 * .eh_frame is loaded with the program, so the mapped file has it. .debug_frame is debug
 * information: it may be in a debug file, and describes code that .eh_frame does not.  Compressed
 * sections are not read. */

enum { SHF_COMPRESSED = 0x800 };

/* Reads one section.  A damaged section is ignored. */
static perfile_status open_section(pf_cfi *cfi, const pf_elf *elf, const char *name, bool eh)
{
    const pf_elf_section *section = pf_elf_section_named(elf, name);
    if (!section || section->flags & SHF_COMPRESSED)
        return PERFILE_OK;
    *cfi = (pf_cfi){.budget = elf->budget,
                    .addr = section->addr,
                    .eh = eh,
                    .swap = elf->swap,
                    .is64 = elf->is64};
    perfile_status st = pf_elf_read_section(elf, section, &cfi->section);
    if (st == PERFILE_OK)
        st = pf_cfi_index(cfi);
    if (st != PERFILE_OK)
        pf_cfi_free(cfi);
    return st == PERFILE_E_CORRUPT ? PERFILE_OK : st;
}

static void find_plt(pf_unwind_file *f, const pf_elf *elf)
{
    static const char *const names[] = {".plt", ".plt.sec", ".plt.got", ".iplt"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const pf_elf_section *section = pf_elf_section_named(elf, names[i]);
        if (section && section->addr + section->size > section->addr) {
            f->plt[i].start = section->addr;
            f->plt[i].end = section->addr + section->size;
        }
    }
}

static perfile_status load(pf_unwind_file *f, const pf_elf_files *files, uint16_t machine)
{
    perfile_status st = PERFILE_OK;
    const pf_elf *mapped = files->mapped.is_open ? &files->mapped.elf : NULL;
    const pf_elf *debug = files->debug.is_open ? &files->debug.elf : NULL;
    if (mapped && mapped->machine == machine) {
        f->is_open = true;
        find_plt(f, mapped);
        st = open_section(&f->cfi[0], mapped, ".eh_frame", true);
        if (st == PERFILE_OK)
            st = open_section(&f->cfi[1], mapped, ".debug_frame", false);
    }
    if (st == PERFILE_OK && debug && debug->machine == machine && !f->cfi[1].n) {
        f->is_open = true;
        st = open_section(&f->cfi[1], debug, ".debug_frame", false);
    }
    return st;
}

/* Loads the call frame information of an object's files.  PERFILE_E_NOMEM; after damage or lack of
 * room there is no information. */
static perfile_status pf_unwind_file_open(pf_unwind_file *f, perfile_symbols *s,
                                          const pf_symbol_object *o, uint16_t machine,
                                          uint64_t seed)
{
    pf_elf_files *files;
    *f = (pf_unwind_file){.rules = {.seed = seed, .budget = &s->budget}};
    if (!pf_is_elf(o))
        return PERFILE_OK;
    perfile_status st = pf_elf_files_open(s, &o->key, ".debug_frame", &files);
    if (st == PERFILE_OK) {
        st = load(f, files, machine);
        pf_elf_files_close(files);
    }
    if (st == PERFILE_E_LIMIT)
        s->budget.refused = false;
    return st == PERFILE_E_NOMEM ? st : PERFILE_OK;
}

static void pf_unwind_file_close(pf_unwind_file *f)
{
    pf_cfi_free(&f->cfi[0]);
    pf_cfi_free(&f->cfi[1]);
    pf_index_free(&f->rules);
}

/* Returns the recording machine, from feature ARCH or E_MACHINE. */
static const pf_unwind_machine *machine_of(const perfile_session *s)
{
    const char *arch = perfile_session_fact(s, PERFILE_FACT_ARCH);
    const perfile_feature *f = perfile_session_feature(s, PERFILE_FEATURE_E_MACHINE);
    perfile_elf_machine elf;
    if (arch && strcmp(arch, "x86_64") == 0)
        return &pf_unwind_x86_64;
    if (arch && (strcmp(arch, "aarch64") == 0 || strcmp(arch, "arm64") == 0))
        return &pf_unwind_aarch64;
    if (arch || !f || perfile_elf_machine_decode(f, &elf, sizeof elf, NULL) != PERFILE_OK)
        return NULL;
    return elf.e_machine == EM_X86_64    ? &pf_unwind_x86_64
           : elf.e_machine == EM_AARCH64 ? &pf_unwind_aarch64
                                         : NULL;
}

/* Adds a rule and its registers.  Returns PF_INDEX_NONE when out of memory or budget. */
static uint32_t add_rule(pf_unwinder *x, pf_unwind_rule rule, const pf_where *wheres)
{
    pf_budget *budget = &x->symbols->budget;
    if (x->n_rules == x->rules_cap) {
        size_t cap = x->rules_cap ? x->rules_cap * 2 : 64;
        pf_unwind_rule *more = pf_budget_realloc(budget, x->rules, x->rules_cap, cap, sizeof *more);
        if (!more)
            return PF_INDEX_NONE;
        x->rules = more;
        x->rules_cap = cap;
    }
    if (x->wheres_cap - x->n_wheres < rule.n) {
        size_t cap = x->wheres_cap ? x->wheres_cap * 2 : 256;
        pf_where *more = pf_budget_realloc(budget, x->wheres, x->wheres_cap, cap, sizeof *more);
        if (!more)
            return PF_INDEX_NONE;
        x->wheres = more;
        x->wheres_cap = cap;
    }
    if (x->n_wheres + rule.n >= UINT32_MAX || x->n_rules + 1 >= UINT32_MAX)
        return PF_INDEX_NONE;
    rule.first = (uint32_t)x->n_wheres;
    if (rule.n)
        memcpy(x->wheres + x->n_wheres, wheres, rule.n * sizeof *wheres);
    x->n_wheres += rule.n;
    x->rules[x->n_rules] = rule;
    return (uint32_t)x->n_rules++;
}

/* Adds the predefined rules.  In a PLT entry the return address is still where the call put it. */
static bool add_first_rules(pf_unwinder *x)
{
    const pf_unwind_machine *m = x->machine;
    const bool pushed = m && m->calls_push;
    const pf_unwind_rule plt = {.kind = PF_RULE_FRAME,
                                .return_column = pushed ? 16 : 30,
                                .n = pushed,
                                .cfa = {pushed ? 8 : 0, PF_WHERE_REGISTER_OFFSET, m ? m->sp : 0}};
    const pf_where saved = {-8, PF_WHERE_SAVED, 16};
    return add_rule(x, (pf_unwind_rule){.kind = PF_RULE_NOWHERE}, NULL) == RULE_NOWHERE &&
           add_rule(x, (pf_unwind_rule){.kind = PF_RULE_NO_FILE}, NULL) == RULE_NO_FILE &&
           add_rule(x, (pf_unwind_rule){.kind = PF_RULE_UNKNOWN}, NULL) == RULE_UNKNOWN &&
           add_rule(x, plt, &saved) == RULE_PLT;
}

bool pf_unwinder_init(pf_unwinder *x, const perfile_session *session, perfile_symbols *symbols,
                      const perfile_model *model)
{
    *x = (pf_unwinder){.symbols = symbols, .model = model, .machine = machine_of(session)};
    x->seed = pf_index_seed(x);
    x->file_index = (pf_index){.seed = x->seed, .budget = &symbols->budget};
    x->slots = pf_alloc((size_t)1 << SLOT_BITS, sizeof *x->slots);
    if (!x->slots)
        return false;
    if (add_first_rules(x))
        return true;
    x->machine = NULL; /* no room for rules: nothing is unwound */
    return pf_symbol_no_memory(&symbols->budget) == PERFILE_E_LIMIT;
}

void pf_unwinder_free(pf_unwinder *x)
{
    if (!x->symbols)
        return;
    pf_budget *budget = &x->symbols->budget;
    for (size_t i = 0; i < x->n_files; i++)
        pf_unwind_file_close(&x->files[i]);
    pf_budget_free(budget, x->files, x->files_cap, sizeof *x->files);
    pf_budget_free(budget, x->rules, x->rules_cap, sizeof *x->rules);
    pf_budget_free(budget, x->wheres, x->wheres_cap, sizeof *x->wheres);
    pf_index_free(&x->file_index);
    pf_free(x->slots);
    *x = (pf_unwinder){0};
}

/* Returns the status of a failed addition. */
static perfile_status no_memory(pf_unwinder *x)
{
    return pf_symbol_no_memory(&x->symbols->budget);
}

/* Finds the file of an object, and loads it if it is new. */
static perfile_status file_of(pf_unwinder *x, const pf_symbol_object *o, uint32_t *number)
{
    pf_budget *budget = &x->symbols->budget;
    *number = pf_index_get(&x->file_index, (uintptr_t)o);
    if (*number != PF_INDEX_NONE)
        return PERFILE_OK;
    if (x->n_files == x->files_cap) {
        size_t cap = x->files_cap ? x->files_cap * 2 : 16;
        pf_unwind_file *more = pf_budget_realloc(budget, x->files, x->files_cap, cap, sizeof *more);
        if (!more)
            return no_memory(x);
        x->files = more;
        x->files_cap = cap;
    }
    pf_unwind_file *f = &x->files[x->n_files];
    perfile_status st = pf_unwind_file_open(f, x->symbols, o, x->machine->elf, x->seed);
    if (st == PERFILE_OK && !pf_index_put(&x->file_index, (uintptr_t)o, (uint32_t)x->n_files))
        st = no_memory(x);
    if (st == PERFILE_OK)
        *number = (uint32_t)x->n_files++;
    else
        pf_unwind_file_close(f);
    return st;
}

/* Computes the rule of an address of a file. */
static perfile_status make_rule(pf_unwinder *x, pf_unwind_file *f, uint64_t at, uint32_t *number)
{
    pf_unwind_rule rule = {0};
    pf_where wheres[PF_UNWIND_REGS];
    *number = RULE_UNKNOWN;
    if (pf_cfi_rule(&f->cfi[0], at, &rule, wheres) || pf_cfi_rule(&f->cfi[1], at, &rule, wheres))
        *number = add_rule(x, rule, wheres);
    else
        for (size_t i = 0; i < sizeof f->plt / sizeof f->plt[0]; i++)
            if (at >= f->plt[i].start && at < f->plt[i].end)
                *number = RULE_PLT;
    return *number != PF_INDEX_NONE && pf_index_put(&f->rules, at, *number) ? PERFILE_OK
                                                                            : no_memory(x);
}

/* Finds the rule of an address of a process.  *reach is its validity interval. */
static perfile_status find_rule(pf_unwinder *x, uint32_t pid, uint64_t addr, uint64_t time,
                                pf_reach *reach, uint32_t *number)
{
    uint32_t file;
    uint64_t at;
    pf_symbol_object *o = NULL;
    const perfile_mapping *m = pf_model_mapping(x->model, pid, addr, time, reach);
    *number = RULE_NOWHERE;
    if (!m || m->data || pf_is_kernel(m))
        return PERFILE_OK;
    *number = RULE_NO_FILE;
    perfile_status st = pf_symbol_object_of(x->symbols, m, &o);
    if (st == PERFILE_OK)
        st = file_of(x, pf_symbol_object_loaded(o), &file);
    if (st != PERFILE_OK)
        return st;
    pf_unwind_file *f = &x->files[file];
    if (!f->is_open)
        return PERFILE_OK;
    *number = RULE_UNKNOWN;
    if (!pf_symbol_address(o, m, addr, &at))
        return PERFILE_OK;
    *number = pf_index_get(&f->rules, at);
    return *number == PF_INDEX_NONE ? make_rule(x, f, at, number) : PERFILE_OK;
}

/* Finds the rule of an address of a process, through the cache. */
static perfile_status rule_at(pf_unwinder *x, uint32_t pid, uint64_t addr, uint64_t time,
                              const pf_unwind_rule **rule)
{
    const uint64_t key = (addr ^ (uint64_t)pid << 40) * (x->seed | 1);
    pf_unwind_slot *s = &x->slots[(key ^ key >> 32) >> 3 & ((1U << SLOT_BITS) - 1)];
    if (!s->rule || s->addr != addr || s->pid != pid || time < s->first || time > s->last) {
        pf_reach reach;
        uint32_t number;
        perfile_status st = find_rule(x, pid, addr, time, &reach, &number);
        if (st != PERFILE_OK)
            return st;
        *s = (pf_unwind_slot){addr, reach.first, reach.last, pid, number + 1};
    }
    *rule = &x->rules[s->rule - 1];
    return PERFILE_OK;
}

/* Reads the copied registers.  Returns false if they are not from a 64-bit program. */
static bool read_registers(const pf_unwind_machine *m, bool swap, const perfile_regs_user *regs,
                           pf_unwind_frame *frame)
{
    const uint64_t needed = UINT64_C(1) << m->pc_bit;
    size_t at = 0;
    *frame = (pf_unwind_frame){0};
    if (regs->abi != ABI_64 || !(regs->mask & needed))
        return false;
    for (unsigned bit = 0; bit < 64 && at < regs->regs.n; bit++) {
        if (!(regs->mask >> bit & 1))
            continue;
        const uint64_t value = pf_load_u64(regs->regs.ptr + 8 * at++, swap);
        if (bit == m->pc_bit)
            frame->pc = value;
        if (m->of_bit[bit] < PF_UNWIND_REGS) {
            frame->regs[m->of_bit[bit]] = value;
            frame->known |= UINT64_C(1) << m->of_bit[bit];
        }
    }
    return frame->known >> m->sp & 1;
}

/* Steps with the frame pointer.  The result counts only if it is in code. */
static perfile_status guess(pf_unwinder *x, uint32_t pid, uint64_t time, const pf_unwind_rule *rule,
                            const pf_unwind_stack *stack, pf_unwind_frame *frame, int *end)
{
    const int otherwise = rule->kind == PF_RULE_UNKNOWN ? PF_UNWIND_NO_RULES : PF_UNWIND_NO_FILE;
    *end = pf_unwind_by_frame_pointer(x->machine, stack, frame);
    if (*end == PF_UNWIND_MORE) {
        perfile_status st = rule_at(x, pid, frame->pc - 1, time, &rule);
        if (st != PERFILE_OK)
            return st;
        if (rule->kind != PF_RULE_NOWHERE)
            return PERFILE_OK;
    }
    *end = otherwise;
    return PERFILE_OK;
}

/* Walks from frame to frame. */
static perfile_status walk(pf_unwinder *x, uint32_t pid, uint64_t time,
                           const pf_unwind_stack *stack, pf_unwind_frame *frame, int *end)
{
    bool exact = true; /* pc is an instruction, not a return address */
    for (*end = PF_UNWIND_MORE; *end == PF_UNWIND_MORE;) {
        const pf_unwind_rule *rule;
        perfile_status st = rule_at(x, pid, frame->pc - !exact, time, &rule);
        if (st != PERFILE_OK)
            return st;
        const bool framed = rule->kind == PF_RULE_FRAME, is_signal = framed && rule->is_signal;
        /* The kernel sets the return address of a signal handler, so there is no call before it. */
        x->addresses[x->n_addresses++] = frame->pc - (!exact && !is_signal);
        if (framed)
            *end = pf_unwind_step(x->machine, rule, x->wheres + rule->first, stack, frame);
        else if (rule->kind == PF_RULE_NOWHERE)
            *end = PF_UNWIND_NO_FILE;
        else
            st = guess(x, pid, time, rule, stack, frame, end);
        if (st != PERFILE_OK)
            return st;
        exact = is_signal;
        if (*end == PF_UNWIND_MORE && x->n_addresses == PF_UNWIND_FRAMES)
            *end = PF_UNWIND_SHORT;
    }
    return PERFILE_OK;
}

perfile_status pf_unwind(pf_unwinder *x, uint32_t pid, uint64_t time, bool swap,
                         const perfile_regs_user *regs, const perfile_stack_user *user_stack)
{
    pf_unwind_frame frame;
    int end = PF_UNWIND_UNSUPPORTED;
    perfile_status st = PERFILE_OK;
    x->n_addresses = 0;
    if (!regs->has_regs || !user_stack->has_data || !user_stack->dyn_size)
        return PERFILE_OK;
    if (x->machine && read_registers(x->machine, swap, regs, &frame)) {
        pf_unwind_stack stack = {user_stack->data, frame.regs[x->machine->sp], swap};
        if (user_stack->dyn_size < stack.bytes.len)
            stack.bytes.len = (size_t)user_stack->dyn_size;
        st = walk(x, pid, time, &stack, &frame, &end);
        if (st == PERFILE_E_LIMIT) { /* no room for more rules or files */
            end = PF_UNWIND_NO_RULES;
            st = PERFILE_OK;
        }
    }
    x->ends[end]++;
    return st;
}
