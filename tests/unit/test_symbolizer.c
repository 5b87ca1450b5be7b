/* perfile-symbolizer: what costs too much is refused, its end is no harm, and it may do nothing but
 * answer. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "symbol/helper.h"

static const char good[] = "_ZN5outer3BoxIiE4spinEi", good_shown[] = "outer::Box<int>::spin";

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void assert_answers(pf_helper *h)
{
    const char *shown = pf_demangle_one(h, good);
    assert_non_null(shown);
    assert_string_equal(shown, good_shown);
}

/* False, with a message: there is none in this build. */
static bool is_built(void)
{
    if (!pf_can_demangle())
        print_message("built without a demangler: not tried\n");
    return pf_can_demangle();
}

/* A pack whose arguments have the one before them twice, and a binder of 62^9 lifetimes: neither
 * would end in this century. */
static void costly_names(void **state)
{
    (void)state;
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char pack[2048] = "_Z1fIDp", inner[1024] = "Pi", outer[1024];
    pf_helper h;
    if (!is_built())
        return;
    for (unsigned i = 0; i < 36; i++) {
        snprintf(outer, sizeof outer, "Fv%.900sS%c_E", inner, digits[i]);
        strcpy(inner, outer);
    }
    strcat(strcat(pack, inner), "Evv");
    const char *const names[] = {pack, "_RNvC1a1bINvC1a1bFGzzzzzzzzz_EuE"};
    pf_helper_init(&h, NULL);
    const double before = now();
    for (unsigned i = 0; i < 2; i++) {
        assert_null(pf_demangle_one(&h, names[i]));
        assert_int_equal(h.too_costly, i + 1);
        assert_answers(&h);
    }
    assert_int_equal(h.starts, 1);
    /* Of many the account is soon empty; then nothing is asked any more. */
    for (unsigned i = 0; i < 2000; i++)
        assert_null(pf_demangle_one(&h, names[i % 2]));
    assert_int_equal(h.too_costly, 2002);
    assert_null(pf_demangle_one(&h, good));
    assert_true(now() - before < 60);
    pf_helper_free(&h);
}

/* It starts again after its end, whoever ended it, and leaves nothing to wait for. */
static void its_end(void **state)
{
    (void)state;
    pf_helper h;
    if (!is_built())
        return;
    pf_helper_init(&h, NULL);
    assert_answers(&h);
    for (unsigned i = 1; i < 4; i++) {
        assert_int_equal(h.starts, i);
        assert_int_equal(kill(h.pid, SIGKILL), 0);
        pf_demangle_one(&h, good); /* may not be answered */
        assert_answers(&h);
    }
    pf_helper_free(&h);
    assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    /* An account from which each end takes something bounds how often it is started. */
    pf_helper_init(&h, NULL);
    for (unsigned i = 0; i < 1000; i++) {
        pf_demangle_one(&h, good);
        if (h.socket >= 0)
            kill(h.pid, SIGKILL);
    }
    assert_true(h.starts < 100);
    assert_true(h.left <= 0);
    pf_helper_free(&h);
}

/* The rest of a line of a file in /proc that begins with `key`. */
static bool proc(pid_t pid, const char *file, const char *key, char value[256])
{
    char path[64];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    FILE *f = fopen(path, "r");
    if (!f)
        return false;
    while (!found && fgets(value, 256, f))
        found = strncmp(value, key, strlen(key)) == 0;
    fclose(f);
    if (found)
        memmove(value, value + strlen(key), strlen(value + strlen(key)) + 1);
    return found;
}

static void its_rights(void **state)
{
    (void)state;
    char value[256];
    unsigned long soft = 0;
    int n = 0;
    pf_helper h;
    if (!is_built())
        return;
    pf_helper_init(&h, NULL);
    assert_answers(&h);
    assert_true(getpgid(h.pid) != getpgrp());
    if (proc(h.pid, "limits", "Max address space", value)) {
        assert_int_equal(sscanf(value, "%lu", &soft), 1);
        assert_int_equal(soft, 256UL << 20);
        assert_true(proc(h.pid, "limits", "Max core file size", value));
        assert_int_equal(sscanf(value, "%lu", &soft), 1);
        assert_int_equal(soft, 0);
        assert_true(proc(h.pid, "limits", "Max file size", value));
        assert_int_equal(sscanf(value, "%lu", &soft), 1);
        assert_int_equal(soft, 0);
    } else {
        print_message("there is no /proc: limits not looked at\n");
    }
#if defined(__linux__) && defined(__x86_64__)
    assert_true(proc(h.pid, "status", "Seccomp:", value));
    assert_int_equal(sscanf(value, "%d", &n), 1);
    assert_int_equal(n, 2); /* SECCOMP_MODE_FILTER */
#else
    (void)n;
#endif
    pf_helper_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costly_names),
        cmocka_unit_test(its_end),
        cmocka_unit_test(its_rights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
