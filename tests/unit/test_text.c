/* What may reach a terminal, and which word was meant. */
#include "testing.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "perfile/perfile.h"
#include "base/command.h"

static const char *shown(const char *text, size_t n)
{
    static char out[256];
    size_t need = perfile_printable((perfile_bytes){(const uint8_t *)text, n}, out, sizeof out);
    assert_int_equal(need, strlen(out));
    return out;
}
#define SHOWN(text) shown(text, sizeof text - 1)

static void what_is_printable_stays(void **state)
{
    (void)state;
    assert_string_equal(SHOWN("a \\ b~"), "a \\ b~");
    assert_string_equal(SHOWN("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
    assert_string_equal(SHOWN("\xf0\x9f\x90\x8c \xed\x9f\xbf \xee\x80\x80 \xc2\xa0"),
                        "\xf0\x9f\x90\x8c \xed\x9f\xbf \xee\x80\x80 \xc2\xa0");
}

static void what_drives_a_terminal_is_escaped(void **state)
{
    (void)state;
    assert_string_equal(SHOWN("\x1b[2J\a\b\r\n\t\x7f"), "\\x1b[2J\\x07\\x08\\x0d\\x0a\\x09\\x7f");
    assert_string_equal(SHOWN("a\0b"), "a\\x00b");
    assert_string_equal(SHOWN("\xc2\x9b"), "\\xc2\\x9b");          /* C1: CSI */
    assert_string_equal(SHOWN("\xe2\x80\xae"), "\\xe2\\x80\\xae"); /* right to left from here on */
    assert_string_equal(SHOWN("\xe2\x81\xa6"), "\\xe2\\x81\\xa6"); /* isolate */
    assert_string_equal(SHOWN("\xe2\x80\xa8x"), "\\xe2\\x80\\xa8x"); /* separator of lines */
    assert_string_equal(SHOWN("\xd8\x9c"), "\\xd8\\x9c");
}

static void what_is_no_utf8_is_escaped(void **state)
{
    (void)state;
    assert_string_equal(SHOWN("\xff"), "\\xff");
    assert_string_equal(SHOWN("\xc3"), "\\xc3");                            /* cut */
    assert_string_equal(SHOWN("\xc1\x81"), "\\xc1\\x81");                   /* too long a form */
    assert_string_equal(SHOWN("\xe0\x80\x80"), "\\xe0\\x80\\x80");          /* the same */
    assert_string_equal(SHOWN("\xed\xa0\x80"), "\\xed\\xa0\\x80");          /* a surrogate */
    assert_string_equal(SHOWN("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80"); /* beyond U+10FFFF */
    assert_string_equal(SHOWN("\xc3"
                              "a"),
                        "\\xc3"
                        "a");
}

static void a_text_is_cut_at_a_character(void **state)
{
    (void)state;
    char out[8];
    perfile_bytes text = {(const uint8_t *)"ab\x1b"
                                           "c",
                          4};
    for (size_t size = 0; size <= sizeof out; size++) {
        memset(out, '#', sizeof out);
        assert_int_equal(perfile_printable(text, out, size), 7);
        if (size)
            assert_string_equal(out, size == 1   ? ""
                                     : size == 2 ? "a"
                                     : size < 7  ? "ab"
                                     : size == 7 ? "ab\\x1b"
                                                 : "ab\\x1b"
                                                   "c");
    }
    assert_int_equal(perfile_printable(text, NULL, 0), 7);
}

static void near_words_are_suggested(void **state)
{
    (void)state;
    static const char *const words[] = {"info", "list", "stats", "dump", "split", "sort"};
    const size_t n = sizeof words / sizeof words[0];
    char out[64];
    assert_int_equal(pf_suggest("stat", words, n, out, sizeof out), 2);
    assert_string_equal(out, "stats or sort");
    assert_int_equal(pf_suggest("SPILT", words, n, out, sizeof out) > 0, 1);
    assert_memory_equal(out, "split", 5);
    assert_int_equal(pf_suggest("frobnicate", words, n, out, sizeof out), 0);
    assert_string_equal(out, "");
    assert_int_equal(pf_suggest("", words, n, out, sizeof out), 0);
    assert_int_equal(pf_suggest("stat", words, n, NULL, 0), 2);
}

static void assert_is_utf8(const char *text)
{
    const size_t n = strlen(text);
    for (size_t i = 0, k; i < n; i += k) {
        k = perfile_utf8_char((const uint8_t *)text + i, n - i, NULL);
        assert_true(k);
    }
}

/* A name of any length leaves what happened and why it did, and no character is cut. */
static void messages_keep_their_reason(void **state)
{
    (void)state;
    char name[9001];
    for (size_t n = 0; n < sizeof name - 3; n += n < 600 ? 1 : 97) {
        perfile_error err;
        for (size_t i = 0; i < n; i++)
            memcpy(name + 2 * (i / 2), "\xc3\xa4", 2);
        name[n - n % 2] = '\0';
        pf_fail_io(&err, ENOENT, "path", "cannot open '%s'", name);
        assert_memory_equal(err.message, "cannot open '", 13);
        const char *reason = strstr(err.message, ": ");
        assert_non_null(reason);
        assert_string_equal(reason + 2, strerror(ENOENT));
        assert_is_utf8(err.message);
        pf_fail(&err, PERFILE_E_USAGE, "name", "the name %s is not known", name);
        assert_memory_equal(err.message, "the name ", 9);
        assert_true(n > 4000 || strstr(err.message, " is not known"));
        assert_is_utf8(err.message);
        assert_int_equal(strstr(err.message, "\xe2\x80\xa6") != NULL,
                         strlen(name) + strlen("the name  is not known") >= sizeof err.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_printable_stays),
        cmocka_unit_test(what_drives_a_terminal_is_escaped),
        cmocka_unit_test(what_is_no_utf8_is_escaped),
        cmocka_unit_test(a_text_is_cut_at_a_character),
        cmocka_unit_test(near_words_are_suggested),
        cmocka_unit_test(messages_keep_their_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
