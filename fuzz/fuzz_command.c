/* A whole command line in this process, on a file, a directory, or standard input.
 *
 * The input is a capture, then, after the last NUL, the words of the command line, one per line,
 * and a byte that selects the kind of `in`.  The command runs in a directory with `in` and another
 * capture `ref`.  For all words:
 *
 *   - the exit status is one of four, and a command that failed wrote nothing (except that
 *     `dump -o` may write the reason); usage errors and failures are explained;
 *   - an input does not change, even if it was named as the output with -f;
 *   - no descriptor and no temporary file is left;
 *   - a written capture opens again, and is complete if the command said so;
 *   - --json prints JSON, and output that is not binary does not control a terminal. */
#include <getopt.h>
#include <stdio.h>
#include <sys/mman.h>

#include "cli/command.h"
#include "perfile/perfile.h"
#include "scratch.h"
#include "tests/captures.h"
#include "wellformed.h"

enum { MOST_WORDS = 24, MOST_BYTES = 4 << 10 /* of these words */ };
enum { IN_FILE, IN_DIRECTORY, IN_STDIN_FILE, IN_STDIN_PIPE, IN_KINDS };

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
#define COMMAND(name, summary) {#name, cli_##name},
#include "cli/commands.def"
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

typedef struct line {
    char bytes[MOST_BYTES];
    char *words[MOST_WORDS + 1];
    int n;
    unsigned command;
    bool writer;  /* writes captures */
    bool damages; /* writes captures that are damaged on purpose */
} line;

/* Output of commands goes to files without a name; reports of a sanitizer do not. */
static int out_fd, err_fd, own_err, home_fd;
void __sanitizer_set_report_fd(void *fd) __attribute__((weak));

/* A mapped file is a heap block of exactly its size here, so that overreads are caught. */
void *__wrap_mmap64(void *at, size_t len, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset);
int __wrap_munmap(void *at, size_t len);
void *__real_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset);
int __real_munmap(void *at, size_t len);

static bool ours; /* a command is running; the fuzzer maps memory, too */

void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
    if (!ours)
        return __real_mmap(at, len, prot, flags, fd, offset);
    void *block = malloc(len);
    if (block && pread(fd, block, len, offset) == (ssize_t)len)
        return block;
    free(block);
    return MAP_FAILED;
}

void *__wrap_mmap64(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
    return __wrap_mmap(at, len, prot, flags, fd, offset);
}

int __wrap_munmap(void *at, size_t len)
{
    if (!ours)
        return __real_munmap(at, len);
    free(at);
    return 0;
}

static int unnamed(const char *name)
{
    int fd = openat(scratch_fd, name, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    ENSURE(fd >= 0 && unlinkat(scratch_fd, name, 0) == 0);
    return fd;
}

static void put_reference(void)
{
    builder b;
    capture_make(&b, CAPTURE_FILE, false, 3);
    scratch_put(scratch_fd, "ref", built(&b));
    build_clear(&b);
}

static void begin(void)
{
    if (scratch_fd >= 0)
        return;
    scratch_begin();
    setenv("TMPDIR", scratch_path, 1);
    put_reference();
    out_fd = unnamed("out");
    err_fd = unnamed("err");
    own_err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    home_fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ENSURE(own_err >= 0 && home_fd >= 0);
    if (__sanitizer_set_report_fd)
        __sanitizer_set_report_fd((void *)(intptr_t)own_err);
    /* The fuzzer prints nothing to standard output. */
    ENSURE(dup2(out_fd, STDOUT_FILENO) == STDOUT_FILENO);
}

/* Returns true for words that could name a file outside of the directory; they are not used. */
static bool leads_away(const char *word)
{
    size_t n = strlen(word);
    return strchr(word, '/') || (n >= 2 && strcmp(word + n - 2, "..") == 0 &&
                                 (n == 2 || word[n - 3] == '=' || word[n - 3] == 'o'));
}

/* Reads the words.  The first is the name of a command; any other first word selects one of
 * them. */
static bool read_line(perfile_bytes text, line *l)
{
    if (text.len == 0 || text.len >= MOST_BYTES)
        return false;
    memcpy(l->bytes, text.ptr, text.len);
    l->bytes[text.len] = '\0';
    l->n = 0;
    for (char *at = l->bytes, *end; at && l->n < MOST_WORDS; at = end) {
        end = strchr(at, '\n');
        if (end)
            *end++ = '\0';
        if (leads_away(at))
            return false;
        l->words[l->n++] = at;
    }
    l->words[l->n] = NULL;
    l->command = (unsigned char)l->words[0][0] % N_COMMANDS;
    for (unsigned i = 0; i < N_COMMANDS; i++)
        if (strcmp(l->words[0], commands[i].name) == 0)
            l->command = i;
    static const char *const writers[] = {"convert", "filter", "merge", "recover", "sort", "split"};
    l->writer = false;
    for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++)
        l->writer |= strcmp(commands[l->command].name, writers[i]) == 0;
    l->damages = strcmp(commands[l->command].name, "damage") == 0;
    return true;
}

static bool has_word(const line *l, const char *word)
{
    for (int i = 1; i < l->n; i++)
        if (strcmp(l->words[i], word) == 0)
            return true;
    return false;
}

/* Returns true if `name` is a word that no option before it can take as its value. */
static bool is_own_word(const line *l, const char *name)
{
    for (int i = 1; i < l->n; i++)
        if (strcmp(l->words[i], name) == 0 && (i == 1 || l->words[i - 1][0] != '-'))
            return true;
    return false;
}

/* Writes `in`.  In a directory the first half may be `data`, and the second data.0. */
static void put_input(perfile_bytes capture, unsigned kind)
{
    size_t half = capture.len / 2;
    const perfile_bytes parts[] = {{capture.ptr, half}, {capture.ptr + half, capture.len - half}};
    int ends[2], fd = -1;
    if (kind == IN_DIRECTORY)
        scratch_put_directory("in", parts, 2);
    else
        scratch_put(scratch_fd, "in", capture);
    if (kind == IN_STDIN_PIPE && capture.len <= 32 << 10) {
        ENSURE(pipe(ends) == 0);
        ENSURE(capture.len == 0 ||
               write(ends[1], capture.ptr, capture.len) == (ssize_t)capture.len);
        close(ends[1]);
        fd = ends[0];
    } else {
        fd = openat(scratch_fd, kind == IN_STDIN_FILE ? "in" : "ref", O_RDONLY | O_CLOEXEC);
    }
    ENSURE(fd > 2 && dup2(fd, STDIN_FILENO) == STDIN_FILENO);
    close(fd);
}

static int run(line *l)
{
    char title[64];
    snprintf(title, sizeof title, "perfile %s", commands[l->command].name);
    l->words[0] = title;
    ENSURE(fchdir(scratch_fd) == 0 && ftruncate(out_fd, 0) == 0 && ftruncate(err_fd, 0) == 0);
    ENSURE(dup2(err_fd, STDERR_FILENO) == STDERR_FILENO);
    optind = 0; /* resets getopt */
    ours = true;
    int status = cli_finish_output(commands[l->command].run(l->n, l->words));
    ours = false;
    ENSURE(dup2(own_err, STDERR_FILENO) == STDERR_FILENO && fchdir(home_fd) == 0);
    clearerr(stdout);
    return status;
}

static perfile_bytes printed(int fd)
{
    struct stat st;
    ENSURE(fstat(fd, &st) == 0);
    size_t n = (size_t)st.st_size;
    uint8_t *bytes = malloc(n ? n : 1);
    ENSURE(bytes && pread(fd, bytes, n, 0) == (ssize_t)n);
    return (perfile_bytes){bytes, n};
}

/* getopt_long() accepts the beginning of an option, and -h among other letters. */
static bool asks_for_help(const line *l)
{
    for (int i = 1; i < l->n; i++) {
        const char *word = l->words[i];
        if (strlen(word) > 2 && strncmp("--help", word, strlen(word)) == 0)
            return true;
        if (word[0] == '-' && word[1] != '-' && strchr(word, 'h'))
            return true;
    }
    return false;
}

/* Returns true if binary output is allowed: captures, CBOR, and lines of JSON with stored
 * values. */
static bool may_be_binary(const line *l)
{
    bool dump = strcmp(commands[l->command].name, "dump") == 0;
    for (int i = 1; i < l->n; i++) {
        size_t n = strlen(l->words[i]);
        if ((l->writer || l->damages) && n && l->words[i][n - 1] == '-') /* -, -o-, --output=- */
            return true;
        if (dump && (strstr(l->words[i], "cbor") || strstr(l->words[i], "jsonl")))
            return true;
    }
    return false;
}

static const scratch_entry *entry(const scratch_entries *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->at[i].name, name) == 0)
            return &list->at[i];
    return NULL;
}

/* Returns the number of JSON objects in new files: `dump -o` prints nothing and writes to the file
 * instead.  0 if there are none. */
static uint64_t count_in_files(const scratch_entries *before)
{
    static scratch_entries after;
    uint64_t all = 0, n;
    scratch_list(&after);
    for (size_t i = 0; i < after.n; i++) {
        const scratch_entry *was = entry(before, after.at[i].name);
        if (was && was->hash == after.at[i].hash)
            continue;
        perfile_bytes b = scratch_read(scratch_fd, after.at[i].name);
        ENSURE(well_json(b, &n));
        all += n;
        free((void *)(uintptr_t)b.ptr);
    }
    return all;
}

static void check_words(const line *l, int status, const scratch_entries *before)
{
    perfile_bytes out = printed(out_fd), err = printed(err_fd);
    uint64_t n;
    ENSURE(status == CLI_DONE || out.len + err.len);
    ENSURE(status != CLI_USAGE || err.len);
    ENSURE(well_text(err));
    bool json = is_own_word(l, "--json") && !asks_for_help(l) && !has_word(l, "--");
    if (json && status != CLI_USAGE && !may_be_binary(l)) {
        ENSURE(well_json(out, &n));
        if (n == 0 && !l->writer)
            n = count_in_files(before);
        ENSURE(n || status == CLI_FAILED);
    }
    const char *command = commands[l->command].name;
    /* Lines of callchains begin with a tab. */
    bool table = has_word(l, "tsv") || has_word(l, "--fields") || strcmp(command, "script") == 0;
    /* `dump --json` prints names as stored, with everything that JSON allows in a string. */
    const bool as_stored = json && strcmp(command, "dump") == 0;
    if (!may_be_binary(l) && !as_stored)
        ENSURE(table ? well_table(out) : well_text(out));
    free((void *)(uintptr_t)out.ptr);
    free((void *)(uintptr_t)err.ptr);
}

static void check_capture(const char *name, int status)
{
    char path[800];
    perfile_stream *s;
    const perfile_record *r;
    perfile_status st;
    perfile_stream_summary sum;
    snprintf(path, sizeof path, "%s/%s", scratch_path, name);
    ENSURE(perfile_open_path(path, NULL, &s, NULL) == PERFILE_OK);
    while ((st = perfile_stream_next(s, &r, NULL)) == PERFILE_OK)
        continue;
    perfile_stream_get_summary(s, &sum, sizeof sum);
    perfile_stream_close(s);
    ENSURE(st == PERFILE_END && (status != CLI_DONE || sum.damages == 0));
}

/* Returns true for "NAME.perfile-abcdefgh", the name of an incomplete output. */
static bool is_temporary(const char *name)
{
    return strstr(name, ".perfile-") != NULL;
}

static void remove_all(int folder, const char *name, void *user)
{
    if (strcmp(name, "ref") != 0)
        scratch_unlink(folder, name, user);
}

static void check_files(const line *l, int status, const scratch_entries *before)
{
    static scratch_entries after;
    scratch_entry now;
    bool wrote = status == CLI_DONE || status == CLI_DAMAGED, reference = false;
    /* If nothing can be decoded, the output of `dump -o` says why, as the man page states. */
    wrote |= status == CLI_FAILED && strcmp(commands[l->command].name, "dump") == 0;
    scratch_list(&after);
    for (size_t i = 0; i < before->n; i++) {
        const scratch_entry *was = &before->at[i];
        bool same = scratch_find(was->name, &now) && now.hash == was->hash;
        ENSURE(same || (wrote && !is_own_word(l, was->name)));
        reference |= same && strcmp(was->name, "ref") == 0;
    }
    for (size_t i = 0; i < after.n; i++) {
        const scratch_entry *is = &after.at[i], *was = entry(before, is->name);
        if (was && was->hash == is->hash)
            continue;
        ENSURE(wrote && !is_temporary(is->name));
        if (l->writer)
            check_capture(is->name, status);
    }
    scratch_each(scratch_fd, remove_all, NULL);
    if (!reference) {
        scratch_remove("ref");
        put_reference();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static line l, given;
    static scratch_entries before;
    choices c = {data, size};
    begin();
    unsigned kind = (unsigned)choose(&c, 1) % IN_KINDS;
    size_t capture = c.left;
    while (capture && data[capture - 1])
        capture--;
    perfile_bytes text = {data + capture, c.left - capture};
    if (!capture || !read_line(text, &l))
        return 0;
    put_input((perfile_bytes){data, capture - 1}, kind);
    scratch_list(&before);
    int descriptor = scratch_descriptor();
    given = l; /* the command reorders the words for values of --input */
    int status = run(&l);
    ENSURE(status >= CLI_DONE && status <= CLI_DAMAGED);
    ENSURE(scratch_descriptor() == descriptor);
    check_words(&given, status, &before);
    check_files(&given, status, &before);
    return 0;
}
