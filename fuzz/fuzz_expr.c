/* Any text as an expression, any bytes (after the first NUL) as the record that it is applied to.
 * A rejected text gets an error with a position in it and a reason.  A compiled expression gives
 * the same result each time and for runs, the opposite inside !(…), and asks the provider only
 * about names that it knows. */
#include "attrs.h"
#include "perfile/perfile.h"
#include "expr/command.h"

enum { HANDLE = 77 };

static uint32_t knows(void *user, const char *name, uint32_t *handle)
{
    (void)user;
    *handle = HANDLE;
    if (strcmp(name, "comm") == 0 || strcmp(name, "sched_switch.prev_comm") == 0)
        return PERFILE_EXPR_TEXT;
    return strcmp(name, "depth") == 0 ? PERFILE_EXPR_NUMBER : 0;
}

static perfile_status answer(void *user, const perfile_record *r, uint32_t handle,
                             perfile_expr_value *value, perfile_error *err)
{
    (void)user, (void)err;
    ENSURE(handle == HANDLE);
    if (r->misc & 1)
        return PERFILE_END;
    *value = (perfile_expr_value){.number = r->misc, .text = {(const uint8_t *)"gcc-12", 6}};
    return PERFILE_OK;
}

static const perfile_expr_provider provider = {sizeof provider, NULL, knows, answer};

static void check_refusal(const char *text, const perfile_error *err)
{
    size_t n = strlen(err->message);
    ENSURE(err->status == PERFILE_E_USAGE || err->status == PERFILE_E_LIMIT);
    ENSURE(strncmp(err->message, "column ", 7) == 0 && n < sizeof err->message - 1);
    ENSURE(err->offset <= strlen(text) && err->message[n - 1] == '^');
}

static perfile_status compile(const char *text, bool asks, perfile_expr **e)
{
    const perfile_expr_options options = {.size = sizeof options,
                                          .provider = asks ? &provider : NULL};
    perfile_error err = {0};
    perfile_status st = perfile_expr_open(text, &options, e, &err);
    if (st != PERFILE_OK)
        check_refusal(text, &err);
    return st;
}

static uint64_t ask(perfile_expr *e, const perfile_record *records, size_t n)
{
    uint64_t bits = 0, alone = 0;
    ENSURE(pf_expr_test_run(e, records, n, &bits, NULL) == PERFILE_OK);
    for (size_t i = n; i-- > 0;) {
        bool yes;
        ENSURE(perfile_expr_test(e, &records[i], &yes, NULL) == PERFILE_OK);
        alone |= (uint64_t)yes << i;
    }
    ENSURE(bits == alone && bits >> n == 0);
    return bits;
}

static void check(const char *text, bool asks, const perfile_record *records, size_t n)
{
    perfile_expr *e, *opposed;
    if (compile(text, asks, &e) != PERFILE_OK)
        return;
    uint64_t bits = ask(e, records, n);
    ENSURE(ask(e, records, n) == bits);
    for (size_t i = 0; i < n; i++) /* also one by one */
        ENSURE(ask(e, records + i, 1) == (bits >> i & 1));
    perfile_expr_close(e);

    char *opposite = malloc(strlen(text) + 4);
    ENSURE(opposite);
    sprintf(opposite, "!(%s)", text);
    perfile_status st = compile(opposite, asks, &opposed);
    ENSURE(st == PERFILE_OK || st == PERFILE_E_LIMIT);
    if (st == PERFILE_OK) {
        ENSURE(ask(opposed, records, n) == (bits ^ ((UINT64_C(1) << n) - 1)));
        perfile_expr_close(opposed);
    }
    free(opposite);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {data, size};
    uint64_t flags = choose(&c, 1);
    uint32_t type = (uint32_t)choose(&c, 1);
    if (type >= 200)
        type = PERFILE_RECORD_SIMPLEPERF + type - 200;
    bool swap = flags & 1;
    perfile_session *s;
    ENSURE(pf_session_open(swap, NULL, &s, NULL) == PERFILE_OK);
    uint16_t misc = (uint16_t)choose(&c, 2);
    for (uint64_t n = 0; n < (flags >> 2 & 3); n++)
        add_attr(s, swap, &c, n + 1);
    ENSURE(pf_session_resolve(s, NULL) == PERFILE_OK);

    size_t n_text = c.left;
    const uint8_t *nul = n_text ? memchr(data, 0, n_text) : NULL;
    if (nul)
        n_text = (size_t)(nul - data);
    size_t n_body = nul ? c.left - n_text - 1 : 0;
    char *text = malloc(n_text + 1);
    uint8_t *block = malloc(n_body + 8);
    ENSURE(text && block);
    memset(block, 0, 8);
    if (n_text)
        memcpy(text, data, n_text);
    text[n_text] = 0;
    if (n_body)
        memcpy(block + 8, nul + 1, n_body);

    perfile_record records[3] = {{.header = block,
                                  .body = {block + 8, n_body},
                                  .type = type,
                                  .misc = misc,
                                  .flags = swap ? PERFILE_REC_SWAPPED : 0,
                                  .session = s}};
    records[1] = records[0];
    records[1].type = PERFILE_RECORD_SAMPLE;
    records[2] = (perfile_record){
        .family = PERFILE_FAMILY_DAMAGE, .body = {NULL, size}, .type = type, .session = s};
    check(text, flags & 2, records, 3);
    free(block);
    free(text);
    pf_session_free(s);
    return 0;
}
