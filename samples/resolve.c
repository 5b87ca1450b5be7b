/* resolve [OPTION…] FILE: prints the code location of each sample of a capture, one line each:
 *
 *     ADDRESS MODULE+OFFSET FUNCTION
 *
 * If FUNCTION is not known, it is ?, followed by the reason.
 *   --symfs DIR     files of the recorded machine are in DIR
 *   --debug DIR     debug files, instead of those in ~/.debug and /usr/lib/debug
 *   --kallsyms FILE symbols of the recorded kernel
 *   --maps DIR      perf-PID.map files
 *   --chain         also print the addresses of callchains
 *   --origin        after the function, print the source of its name
 *   --source        after each line, print a line " FUNCTION FILE:LINE" for each function that was
 *                   inlined there, and one for the function that has the code */
#include <inttypes.h>
#include <perfile/perfile.h>
#include <stdio.h>
#include <string.h>

#define CONTEXT_LOWEST ((uint64_t)-4095) /* entries from here on are not addresses */

typedef struct resolver {
    perfile_model *model;
    perfile_symbols *symbols;
    bool chain, origin, source;
} resolver;

/* Names come from files: characters that could control a terminal are escaped. */
static void print_text(const char *text)
{
    char shown[8192];
    perfile_printable((perfile_bytes){(const uint8_t *)text, strlen(text)}, shown, sizeof shown);
    fputs(shown, stdout);
}

/* Prints the source lines of an address, innermost first. */
static perfile_status print_source(const resolver *r, const perfile_mapping *m, uint64_t addr,
                                   uint64_t time, perfile_error *err)
{
    const perfile_source_place *places;
    size_t n;
    perfile_status st = perfile_symbols_source(r->symbols, m, addr, time, &places, &n, err);
    for (size_t i = 0; st == PERFILE_OK && i < n; i++) {
        putchar(' ');
        print_text(places[i].function ? places[i].function : "?");
        putchar(' ');
        print_text(places[i].file ? places[i].file : "?");
        printf(":%u\n", (unsigned)places[i].line);
    }
    return st;
}

static perfile_status print(const resolver *r, uint32_t pid, uint64_t addr, uint64_t time,
                            perfile_error *err)
{
    perfile_symbol symbol;
    const perfile_mapping *m = perfile_model_mapping(r->model, pid, addr, time);
    perfile_status st = perfile_symbols_find(r->symbols, m, addr, time, &symbol, err);
    if (st != PERFILE_OK)
        return st;
    printf("%" PRIx64 " ", addr);
    print_text(symbol.module);
    printf("+%" PRIx64 " ", symbol.offset);
    print_text(symbol.name ? symbol.name : "?");
    if (!symbol.name)
        printf(" (%s)", perfile_symbol_reason_text(symbol.reason));
    else if (r->origin)
        printf(" (%s%s)", perfile_symbol_origin_text(symbol.origin),
               symbol.verified ? "" : ", not verified");
    putchar('\n');
    return r->source ? print_source(r, m, addr, time, err) : PERFILE_OK;
}

/* Prints a callchain.  Contexts, which are at the end of the address space, say in which memory the
 * following addresses are. */
static perfile_status print_chain(const resolver *r, const perfile_record *record, uint32_t pid,
                                  perfile_error *err)
{
    perfile_sample s;
    uint32_t space = pid;
    uint64_t time = perfile_record_time(record);
    if (perfile_sample_decode(record, &s, sizeof s, NULL) != PERFILE_OK)
        return PERFILE_OK;
    for (size_t i = 0; i < s.callchain.n; i++) {
        uint64_t addr = perfile_word(&s.callchain, i);
        if (addr == PERFILE_CALLCHAIN_KERNEL)
            space = PERFILE_NO_PID;
        else if (addr == PERFILE_CALLCHAIN_USER)
            space = pid;
        if (addr >= CONTEXT_LOWEST)
            continue;
        perfile_status st = print(r, space, addr, time, err);
        if (st != PERFILE_OK)
            return st;
    }
    return PERFILE_OK;
}

static perfile_status print_sample(const resolver *r, const perfile_record *record,
                                   perfile_error *err)
{
    uint32_t pid, tid;
    uint64_t addr;
    if (!perfile_record_task(record, &pid, &tid) ||
        !perfile_sample_field(record, PERFILE_SAMPLE_IP, &addr))
        return PERFILE_OK;
    if (r->chain)
        return print_chain(r, record, pid, err);
    bool kernel = (record->misc & 7) == 1; /* cpumode */
    return print(r, kernel ? PERFILE_NO_PID : pid, addr, perfile_record_time(record), err);
}

/* The model is fed with the whole capture first; then the samples are printed. */
static perfile_status resolve(const char *path, resolver *r, const perfile_symbols_options *options,
                              perfile_error *err)
{
    perfile_stream *first = NULL, *second = NULL;
    const perfile_record *record;
    perfile_status st = perfile_open_path(path, NULL, &first, err);
    if (st == PERFILE_OK)
        st = perfile_model_open(perfile_stream_session(first), &r->model, err);
    while (st == PERFILE_OK && (st = perfile_stream_next(first, &record, err)) == PERFILE_OK)
        st = perfile_model_feed(r->model, record, err);
    if (st == PERFILE_END)
        st = perfile_symbols_open(perfile_stream_session(first), options, &r->symbols, err);
    if (st == PERFILE_OK)
        st = perfile_open_path(path, NULL, &second, err);
    while (st == PERFILE_OK && (st = perfile_stream_next(second, &record, err)) == PERFILE_OK)
        if (record->type == PERFILE_RECORD_SAMPLE)
            st = print_sample(r, record, err);
    perfile_symbols_close(r->symbols);
    perfile_stream_close(second);
    perfile_model_close(r->model);
    perfile_stream_close(first);
    return st;
}

int main(int argc, char **argv)
{
    resolver r = {0};
    perfile_error err;
    const char *debug = NULL;
    perfile_symbols_options options = {.size = sizeof options};
    int i = 1;
    for (; i + 1 < argc && argv[i][0] == '-' && argv[i][1]; i++) {
        if (strcmp(argv[i], "--chain") == 0)
            r.chain = true;
        else if (strcmp(argv[i], "--origin") == 0)
            r.origin = true;
        else if (strcmp(argv[i], "--source") == 0)
            r.source = true;
        else if (strcmp(argv[i], "--symfs") == 0)
            options.symfs = argv[++i];
        else if (strcmp(argv[i], "--debug") == 0)
            debug = argv[++i];
        else if (strcmp(argv[i], "--kallsyms") == 0)
            options.kallsyms = argv[++i];
        else if (strcmp(argv[i], "--maps") == 0)
            options.perf_map_dir = argv[++i];
        else
            break;
    }
    if (i + 1 != argc || (argv[i][0] == '-' && argv[i][1])) {
        fprintf(stderr, "usage: resolve [--chain] [--origin] [--source] [--symfs DIR] "
                        "[--debug DIR] [--kallsyms FILE] [--maps DIR] FILE\n");
        return 2;
    }
    if (debug) {
        options.debug_dirs = &debug;
        options.n_debug_dirs = 1;
    }
    perfile_status st = resolve(argv[i], &r, &options, &err);
    if (st < 0)
        fprintf(stderr, "resolve: %s\n", err.message);
    return st < 0;
}
