/* Any bytes as answers of perfile-symbolizer.  Every text ends within the answer, there are at most
 * as many as requested, and the first invalid answer ends the connection. */
#define _GNU_SOURCE /* SOCK_CLOEXEC */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ensure.h"
#include "symbol/helper.h"
#include "symbol/state.h"

/* Returns true if `text` belongs to the last answer. */
static bool is_answer(const pf_helper *h, const char *text)
{
    const uint8_t *p = (const uint8_t *)text;
    return p >= h->answer && p < h->answer + h->answer_cap &&
           memchr(p, 0, (size_t)(h->answer + h->answer_cap - p));
}

static void demangle(pf_helper *h)
{
    static const char *const names[] = {"_ZN1a1bEv", "main", "_R1", "_RNvC1a1b", "_Z"};
    enum { N = sizeof names / sizeof names[0] };
    perfile_bytes asked[N];
    const char *shown[N];
    for (unsigned i = 0; i < N; i++)
        asked[i] = (perfile_bytes){(const uint8_t *)names[i], strlen(names[i])};
    pf_demangle(h, asked, N, shown);
    for (unsigned i = 0; i < N; i++)
        ENSURE(!shown[i] || (is_answer(h, shown[i]) && strlen(shown[i]) < PF_DEMANGLED_SIZE));
    ENSURE(!shown[1] && !shown[4]);
}

static void find_places(pf_helper *h)
{
    pf_dwarf_place places[PF_PLACES_MOST];
    pf_question q = {.what = PF_ASK_PLACES, .allowed = 1000};
    pf_answer a;
    if (!pf_helper_ask(h, &q, -1, &a) || !pf_dwarf_take(h->answer, &a, places))
        return;
    ENSURE(a.n <= PF_PLACES_MOST);
    for (uint32_t i = 0; i < a.n; i++) {
        ENSURE(!places[i].function || is_answer(h, places[i].function));
        ENSURE(!places[i].file || is_answer(h, places[i].file));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST = 1 << 16 }; /* bytes that fit in a socket in any case */
    pf_budget budget = {.limit = 8 << 20};
    pf_helper h;
    int pair[2];
    if (size < 2 || size > MOST)
        return 0;
    ENSURE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    ENSURE(write(pair[1], data, size - 1) == (ssize_t)size - 1);
    ENSURE(shutdown(pair[1], SHUT_WR) == 0);
    pf_helper_init(&h, &budget);
    h.is_missing = true; /* it is not restarted */
    h.socket = pair[0];
    for (unsigned i = 0; i < 4 && h.socket >= 0; i++)
        if (data[size - 1] >> i & 1)
            demangle(&h);
        else
            find_places(&h);
    pf_helper_free(&h);
    close(pair[1]);
    ENSURE(budget.used == 0);
    return 0;
}
