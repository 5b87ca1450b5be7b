/* Sinks for files in a folder (PERFILE_SINK_FOLDER): all appear together, or none. */
#include "base/error.h"
#include "io/out.h"
#include "perfile/emit.h"
#include "testing.h"
#include "io/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char place[64];

static int make_place(void **state)
{
    (void)state;
    strcpy(place, "/tmp/perfile-folder-XXXXXX");
    return mkdtemp(place) ? 0 : -1;
}

static int remove_place(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", place);
    return system(command) ? -1 : 0;
}

static const char *in_place(const char *name)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/%s", place, name);
    return path;
}

static bool is_there(const char *name)
{
    return access(in_place(name), F_OK) == 0;
}

static const perfile_sink_options folder = {.size = sizeof folder, .flags = PERFILE_SINK_FOLDER};

static perfile_sink *open_folder(const char *name)
{
    perfile_sink *sink;
    perfile_error err;
    assert_int_equal(perfile_sink_directory(in_place(name), &folder, &sink, &err), PERFILE_OK);
    assert_true(pf_sink_is_folder(sink));
    return sink;
}

static void put_file(perfile_sink *sink, const char *name, const char *text)
{
    perfile_sink *file;
    perfile_error err;
    assert_int_equal(pf_sink_folder_file(sink, name, &file, &err), PERFILE_OK);
    const perfile_bytes bytes = {(const uint8_t *)text, strlen(text)};
    assert_int_equal(perfile_sink_write(file, bytes, &err), PERFILE_OK);
    assert_int_equal(perfile_sink_finish(file, &err), PERFILE_OK);
    perfile_sink_close(file);
}

static void assert_content(const char *name, const char *text)
{
    char got[32] = "";
    FILE *f = fopen(in_place(name), "r");
    assert_non_null(f);
    assert_int_equal(fread(got, 1, sizeof got - 1, f), strlen(text));
    fclose(f);
    assert_string_equal(got, text);
}

static void appear_together(void **state)
{
    perfile_error err;
    (void)state;
    perfile_sink *sink = open_folder("out");
    put_file(sink, "a/b/one", "1");
    put_file(sink, "a/two", "2");
    assert_false(is_there("out"));
    assert_non_null(pf_sink_temporary(sink));
    assert_int_equal(perfile_sink_finish(sink, &err), PERFILE_OK);
    assert_null(pf_sink_temporary(sink));
    perfile_sink_close(sink);
    assert_content("out/a/b/one", "1");
    assert_content("out/a/two", "2");
}

/* What is there stays, but for files of the same names. */
static void keeps_others(void **state)
{
    perfile_error err;
    (void)state;
    perfile_sink *sink = open_folder("out/");
    put_file(sink, "a/two", "new");
    put_file(sink, "a/three", "3");
    assert_int_equal(perfile_sink_finish(sink, &err), PERFILE_OK);
    perfile_sink_close(sink);
    assert_content("out/a/b/one", "1");
    assert_content("out/a/two", "new");
    assert_content("out/a/three", "3");
}

/* Files of other names are removed that a file replaces, and no others. */
static void replaces_others(void **state)
{
    perfile_error err;
    (void)state;
    perfile_sink *sink = open_folder("out");
    put_file(sink, "date=2/three", "4");
    assert_int_equal(pf_sink_folder_replaces(sink, "*/three", &err), PERFILE_OK);
    assert_int_equal(perfile_sink_finish(sink, &err), PERFILE_OK);
    perfile_sink_close(sink);
    assert_false(is_there("out/a/three"));
    assert_content("out/date=2/three", "4");
    assert_content("out/a/two", "new");
}

/* The name of the folder is no pattern. */
static void folders_with_marks_of_patterns(void **state)
{
    static const char *const names[] = {"o?t*[1]\\", "oxtx1\\"}; /* the second fits the first */
    perfile_error err;
    (void)state;
    for (size_t i = 2; i-- > 0;) {
        perfile_sink *sink = open_folder(names[i]);
        put_file(sink, "a/old", "old");
        assert_int_equal(perfile_sink_finish(sink, &err), PERFILE_OK);
        perfile_sink_close(sink);
    }
    perfile_sink *sink = open_folder(names[0]);
    put_file(sink, "a/new", "new");
    assert_int_equal(pf_sink_folder_replaces(sink, "*/old", &err), PERFILE_OK);
    assert_int_equal(perfile_sink_finish(sink, &err), PERFILE_OK);
    perfile_sink_close(sink);
    assert_content("o?t*[1]\\/a/new", "new");
    assert_false(is_there("o?t*[1]\\/a/old"));
    assert_content("oxtx1\\/a/old", "old");
}

static void nothing_without_finish(void **state)
{
    perfile_error err;
    (void)state;
    perfile_sink *sink = open_folder("none");
    put_file(sink, "a/one", "1");
    char temporary[160];
    snprintf(temporary, sizeof temporary, "%s", pf_sink_temporary(sink));
    assert_int_equal(access(temporary, F_OK), 0);
    perfile_sink_close(sink);
    assert_false(is_there("none"));
    assert_int_equal(access(temporary, F_OK), -1);
    /* Bytes belong to files. */
    sink = open_folder("none");
    assert_int_equal(perfile_sink_write(sink, (perfile_bytes){(const uint8_t *)"x", 1}, &err),
                     PERFILE_OK);
    assert_int_equal(perfile_sink_finish(sink, &err), PERFILE_E_IO);
    perfile_sink_close(sink);
}

/* If a file cannot get its name, none has one, and what was there is there. */
static void all_or_none(void **state)
{
    perfile_error err;
    (void)state;
    assert_int_equal(mkdir(in_place("out/blocked"), 0777), 0);
    perfile_sink *sink = open_folder("out");
    put_file(sink, "a/two", "lost");
    put_file(sink, "fresh/one", "lost");
    put_file(sink, "blocked", "lost");
    assert_int_equal(perfile_sink_finish(sink, &err), PERFILE_E_IO);
    perfile_sink_close(sink);
    assert_content("out/a/two", "new");
    assert_false(is_there("out/fresh"));
}

static void refused(void **state)
{
    perfile_error err;
    perfile_sink *sink = NULL;
    (void)state;
    assert_int_equal(perfile_sink_directory("-", &folder, &sink, &err), PERFILE_E_USAGE);
    assert_int_equal(perfile_sink_directory("", &folder, &sink, &err), PERFILE_E_USAGE);
    assert_int_equal(perfile_sink_directory(in_place("out/a/two"), &folder, &sink, &err),
                     PERFILE_E_IO);
    assert_int_equal(err.sys, ENOTDIR);
    assert_null(sink);
}

/* Which forms of export write so. */
static void forms(void **state)
{
    size_t n = 0;
    (void)state;
    perfile_format format;
    for (; perfile_format_at(true, n, &format, sizeof format); n++) {
        const bool is_parquet = strcmp(format.name, "parquet") == 0;
        assert_int_equal(format.folder, is_parquet);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appear_together), cmocka_unit_test(keeps_others),
        cmocka_unit_test(replaces_others), cmocka_unit_test(nothing_without_finish),
        cmocka_unit_test(all_or_none),     cmocka_unit_test(refused),
        cmocka_unit_test(forms),           cmocka_unit_test(folders_with_marks_of_patterns),
    };
    return cmocka_run_group_tests(tests, make_place, remove_place);
}
