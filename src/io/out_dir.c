/* A sink for a perf.data directory, which appears under its name when it is finished.
 *
 * Bytes written to the sink itself go to its file `data`.  Its parts are sinks of the files data.N,
 * which have no parts themselves.  Captures with other file names set them first.  All files are
 * written in a temporary directory next to the target.  At the end an old capture under the target
 * name (file or directory) is exchanged for the new one in one step if the system can; otherwise it
 * is moved away first.  A directory is replaced or removed only if it contains nothing but files of
 * a capture; this is checked again after the exchange. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "io/out_kind.h"
#include "perfile/source.h"

enum {
    MOST_PARTS = 1 << 16, /* more than perf makes for any recording */
    PART_NAME = 24        /* room for "data.N" */
};

/* A file other than the one of the sink itself. */
typedef struct out_dir_part {
    perfile_sink *sink; /* NULL if not requested yet */
    char *name;         /* NULL for data.N */
} out_dir_part;

typedef struct pf_out_dir {
    pf_out_fd data;
    char *target;    /* final name of the directory */
    char *path;      /* its name while it is written; NULL until it is created */
    bool appeared;   /* the directory has its final name, or was removed.  `path` stays allocated,
                      * because a signal handler may read it */
    mode_t plain;    /* mode of new files in that directory */
    char *data_name; /* name of the sink's own file; NULL for "data" */
    out_dir_part *parts;
    uint32_t n_parts;
} pf_out_dir;

/* The existing file or directory with the target name.  The new directory gets its modes. */
typedef struct replaced {
    bool exists;      /* false: the other members have no meaning */
    mode_t directory; /* bits of 0777 of the directory; for a file, the bits that suit a
                       * directory */
    mode_t files;     /* bits of 0666 that all its files have */
} replaced;

/* Returns the name of part `n`.  Uses `room` unless the part was named. */
static const char *name_of_part(const pf_out_dir *d, uint32_t n, char room[PART_NAME])
{
    if (n < d->n_parts && d->parts[n].name)
        return d->parts[n].name;
    snprintf(room, PART_NAME, "data.%" PRIu32, n);
    return room;
}

/* Returns true if the entries of `dir` are all regular files with the names of companion files of
 * `folder`; removes them if `remove_files`.  Closes `dir`. */
static bool is_only_companions(DIR *dir, const char *folder, bool remove_files)
{
    const struct dirent *e;
    struct stat sb;
    bool only = dir != NULL;
    while (only && (e = readdir(dir))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        const char *file;
        size_t at = 0;
        while ((file = pf_companion_in(folder, &at)) && strcmp(file, e->d_name) != 0)
            ;
        only = file && fstatat(dirfd(dir), file, &sb, AT_SYMLINK_NOFOLLOW) == 0 &&
               S_ISREG(sb.st_mode) && (!remove_files || unlinkat(dirfd(dir), file, 0) == 0);
    }
    if (dir)
        closedir(dir);
    return only;
}

/* The same for a folder in the directory of a capture, which is also removed. */
static bool is_companion_folder(int above, const char *folder, bool remove_files)
{
    if (!pf_companion_in(folder, &(size_t){0}))
        return false;
    const int fd = openat(above, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir && fd >= 0)
        close(fd);
    return is_only_companions(dir, folder, remove_files) &&
           (!remove_files || unlinkat(above, folder, AT_REMOVEDIR) == 0);
}

/* Returns true if the directory `path` contains only files with the names of a capture; removes
 * them as it goes if `remove_files`.  Clears those bits of *files (may be NULL) that one of the
 * files with records lacks. */
static bool is_only_capture(const char *path, bool remove_files, mode_t *files)
{
    DIR *dir = opendir(path);
    const struct dirent *e;
    bool only = dir != NULL;
    while (only && (e = readdir(dir))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        struct stat sb;
        only = fstatat(dirfd(dir), e->d_name, &sb, AT_SYMLINK_NOFOLLOW) == 0;
        if (only && S_ISDIR(sb.st_mode)) {
            only = is_companion_folder(dirfd(dir), e->d_name, remove_files);
            continue;
        }
        only = only && pf_is_output_file(e->d_name) && S_ISREG(sb.st_mode) &&
               (!remove_files || unlinkat(dirfd(dir), e->d_name, 0) == 0);
        if (only && files)
            *files &= sb.st_mode;
    }
    if (dir)
        closedir(dir);
    return only;
}

/* Removes the file or directory `path`, unless it is a directory with other files than those of a
 * capture. */
static void remove_capture(const char *path)
{
    if (unlink(path) == 0)
        return;
    (void)chmod(path, 0700); /* a read-only directory would keep its entries */
    if (is_only_capture(path, true, NULL))
        (void)rmdir(path);
}

/* Returns the mode of a directory with files of mode `mode`: whoever may read may also search. */
static mode_t directory_mode(mode_t mode)
{
    return mode | (mode & 0444) >> 2;
}

/* Examines the existing file or directory at `path` and fails if it must not be replaced: if it is
 * an input, if PERFILE_SINK_REPLACE is not set, or if it is a directory with more than a capture in
 * it.  `path` is the target or, after the exchange of names, the temporary name, which then belongs
 * to the old target. */
static perfile_status examine_target(pf_out_dir *d, const char *path, replaced *old,
                                     perfile_error *err)
{
    perfile_sink *s = &d->data.base;
    struct stat sb;
    const mode_t none = 07777; /* no file was seen; real modes are masked with 0666 below */
    *old = (replaced){.files = none};
    perfile_status st = pf_inputs_check_path(&s->inputs, path, s->name, err);
    if (st != PERFILE_OK)
        return st;
    if (lstat(path, &sb) < 0)
        return errno == ENOENT ? PERFILE_OK : pf_sink_fail_io(s, errno, "create", err);
    if (!(s->flags & PERFILE_SINK_REPLACE))
        return pf_sink_fail_io(s, EEXIST, "create", err);
    old->exists = true;
    bool capture =
        S_ISREG(sb.st_mode) || (S_ISDIR(sb.st_mode) && is_only_capture(path, false, &old->files));
    if (S_ISREG(sb.st_mode))
        old->files = sb.st_mode;
    old->files = old->files == none ? d->plain : old->files & 0666;
    old->directory = S_ISDIR(sb.st_mode) ? sb.st_mode & 0777 : directory_mode(old->files);
    if (capture)
        return PERFILE_OK;
    return pf_fail_io(
        err, EEXIST, "sink",
        "cannot create '%s': the existing directory holds more than a capture, and is "
        "not replaced",
        s->name);
}

/* Creates the temporary directory. */
static perfile_status make_folder(pf_out_dir *d, perfile_error *err)
{
    int made = -1;
    for (unsigned i = 0; i < 100 && made < 0; i++) {
        pf_free(d->path);
        d->path = pf_out_temporary_name(d->target, "perfile", d, i);
        if (!d->path)
            return pf_fail_nomem(err, "sink");
        made = mkdir(d->path, 0700);
        if (made < 0 && errno != EEXIST)
            break;
    }
    if (made == 0)
        return PERFILE_OK;
    perfile_status st = pf_sink_fail_io(&d->data.base, errno, "create", err);
    pf_free(d->path); /* so that close() does not remove a directory that is not ours */
    d->path = NULL;
    return st;
}

/* Returns "folder/name".  The caller releases it with pf_free(). */
static char *join(const char *folder, const char *name)
{
    size_t n = strlen(folder) + strlen(name) + 2;
    char *path = pf_alloc(n, 1);
    if (path)
        snprintf(path, n, "%s/%s", folder, name);
    return path;
}

/* Returns the path of a companion file's folder in the temporary directory, or NULL if `name` is
 * not a companion file or when out of memory.  The caller releases it with pf_free(). */
static char *folder_path(const pf_out_dir *d, const char *name)
{
    char folder[PF_COMPANION_FOLDER];
    return pf_companion_folder(name, folder) ? join(d->path, folder) : NULL;
}

/* Creates the file `name`, and its folder, in the temporary directory and sets the descriptor of
 * `file`. */
static perfile_status create_file(const pf_out_dir *d, const char *name, pf_out_fd *file,
                                  mode_t *plain, perfile_error *err)
{
    char *path = join(d->path, name), *folder = folder_path(d, name);
    perfile_status st = PERFILE_OK;
    if (!path || (!folder && strchr(name, '/')))
        st = pf_fail_nomem(err, "sink");
    else if (folder && mkdir(folder, 0700) < 0 && errno != EEXIST)
        st = pf_sink_fail_io(&file->base, errno, "create", err);
    if (st == PERFILE_OK)
        st = pf_out_fd_create(file, path, plain, err);
    pf_free(folder);
    pf_free(path);
    return st;
}

/* Extends the array of parts so that index `n` is valid. */
static perfile_status reserve_parts(pf_out_dir *d, uint32_t n, perfile_error *err)
{
    if (n < d->n_parts)
        return PERFILE_OK;
    /* New elements are zero: they have no sink yet. */
    out_dir_part *parts = pf_realloc(d->parts, n + (size_t)1, sizeof *parts);
    if (!parts)
        return pf_fail_nomem(err, "sink");
    memset(parts + d->n_parts, 0, (n + (size_t)1 - d->n_parts) * sizeof *parts);
    d->parts = parts;
    d->n_parts = n + 1;
    return PERFILE_OK;
}

/* Makes the sink of part `n`.  In messages its name is the path under the target. */
static perfile_status open_part(pf_out_dir *d, uint32_t n, perfile_sink **part, perfile_error *err)
{
    char room[PART_NAME];
    const char *name = name_of_part(d, n, room);
    char *shown = join(d->target, name);
    if (!shown)
        return pf_fail_nomem(err, "sink");
    perfile_sink_options o = {.size = sizeof o, .flags = d->data.base.flags};
    pf_out_fd *p = NULL;
    mode_t plain; /* not used: all files get the mode of `data` */
    perfile_status st =
        pf_sink_new(sizeof *p, &pf_out_fd_ops, shown, &o, PF_SINK_PART_BUFFER, &p, err);
    pf_free(shown);
    if (st != PERFILE_OK)
        return st;
    st = create_file(d, name, p, &plain, err);
    if (st == PERFILE_OK)
        *part = &p->base;
    else
        perfile_sink_close(&p->base);
    return st;
}

static perfile_status get_part(pf_out_dir *d, uint32_t n, perfile_sink **part, perfile_error *err)
{
    if (n >= MOST_PARTS)
        return pf_fail(err, PERFILE_E_LIMIT, "sink.part", "'%s': data.%" PRIu32 " of %d at most",
                       d->data.base.name, n, MOST_PARTS);
    perfile_status st = reserve_parts(d, n, err);
    if (st == PERFILE_OK && !d->parts[n].sink)
        st = open_part(d, n, &d->parts[n].sink, err);
    if (st == PERFILE_OK)
        *part = d->parts[n].sink;
    return st;
}

/* Renames the sink's own file, which already exists. */
static perfile_status name_data(pf_out_dir *d, char *name, perfile_error *err)
{
    char *from = join(d->path, d->data_name ? d->data_name : "data");
    char *to = join(d->path, name);
    perfile_status st = from && to ? PERFILE_OK : pf_fail_nomem(err, "sink");
    if (st == PERFILE_OK && rename(from, to) < 0)
        st = pf_sink_fail_io(&d->data.base, errno, "create", err);
    pf_free(from);
    pf_free(to);
    if (st != PERFILE_OK)
        return st;
    pf_free(d->data_name);
    d->data_name = name;
    return PERFILE_OK;
}

static perfile_status name_part(pf_out_dir *d, uint32_t n, char *name, perfile_error *err)
{
    if (n >= MOST_PARTS)
        return pf_fail(err, PERFILE_E_LIMIT, "sink.part", "'%s': more than %d files",
                       d->data.base.name, MOST_PARTS);
    perfile_status st = reserve_parts(d, n, err);
    if (st == PERFILE_OK && d->parts[n].sink)
        st = pf_fail(err, PERFILE_E_USAGE, "sink.part", "'%s' is written already", name);
    if (st != PERFILE_OK)
        return st;
    pf_free(d->parts[n].name);
    d->parts[n].name = name;
    return PERFILE_OK;
}

static perfile_status dir_part(perfile_sink *s, uint32_t file, const char *name,
                               perfile_sink **part, perfile_error *err)
{
    pf_out_dir *d = (pf_out_dir *)s;
    if (!name)
        return get_part(d, file - 1, part, err);
    char *copy = pf_out_copy_path(name, strlen(name));
    if (!copy)
        return pf_fail_nomem(err, "sink");
    perfile_status st = file ? name_part(d, file - 1, copy, err) : name_data(d, copy, err);
    if (st != PERFILE_OK)
        pf_free(copy);
    return st;
}

/* Gives the finished files and the directory their final modes; see perfile_sink_options. */
static perfile_status apply_modes(const pf_out_dir *d, const replaced *old, perfile_error *err)
{
    const perfile_sink *s = &d->data.base;
    struct stat sb;
    if (stat(d->path, &sb) < 0)
        return pf_sink_fail_io(s, errno, "create", err);
    /* Inputs restrict all mode bits of the files, but never the owner bits of the directory. */
    mode_t granted = pf_inputs_granted_mode(&s->inputs, sb.st_gid);
    mode_t files = (old->exists ? old->files : d->plain) & granted;
    mode_t folder = old->exists ? old->directory : directory_mode(d->plain) | 0700;
    folder &= directory_mode(granted) | 0700;
    for (uint32_t i = 0; i <= d->n_parts; i++) {
        char room[PART_NAME];
        const char *name = i ? name_of_part(d, i - 1, room) : d->data_name ? d->data_name : "data";
        char *file = join(d->path, name), *inner = folder_path(d, name);
        if (!file)
            return pf_fail_nomem(err, "sink");
        (void)chmod(file, files);
        if (inner)
            (void)chmod(inner, folder);
        pf_free(inner);
        pf_free(file);
    }
    (void)chmod(d->path, folder);
    return PERFILE_OK;
}

/* Exchanges two names in one step.  Returns false if the system or the file system cannot do
 * that. */
static bool exchange(const char *a, const char *b)
{
#ifdef SYS_renameat2
    enum { EXCHANGE = 1 << 1 /* RENAME_EXCHANGE */ };
    return syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, EXCHANGE) == 0;
#else
    (void)a, (void)b;
    return false;
#endif
}

/* Replaces the target without an exchange: moves the old one away, then gives the new one its name.
 * In between there is neither.  All signals are blocked, so that only SIGKILL or a crash can leave
 * that state.  If the second step fails, the first is undone. */
static perfile_status replace_in_steps(pf_out_dir *d, perfile_error *err)
{
    char *old = pf_out_temporary_name(d->target, "perfile-old", d, 0);
    if (!old)
        return pf_fail_nomem(err, "sink");
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    perfile_status st = PERFILE_OK;
    bool exists = rename(d->target, old) == 0;
    if (!exists && errno != ENOENT)
        st = pf_sink_fail_io(&d->data.base, errno, "replace", err);
    if (st == PERFILE_OK && rename(d->path, d->target) < 0) {
        st = pf_sink_fail_io(&d->data.base, errno, "create", err);
        if (exists)
            (void)rename(old, d->target);
        exists = false;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (exists)
        remove_capture(old);
    pf_free(old);
    return st;
}

/* Replaces the target by the new directory.  After the exchange the old target has the temporary
 * name.  If it has changed since it was examined and must stay, the names are exchanged back. */
static perfile_status replace(pf_out_dir *d, perfile_error *err)
{
    replaced old;
    if (!exchange(d->path, d->target))
        return replace_in_steps(d, err);
    perfile_status st = examine_target(d, d->path, &old, err);
    if (st == PERFILE_OK)
        remove_capture(d->path);
    else
        (void)exchange(d->path, d->target);
    return st;
}

/* Gives the finished directory its final name. */
static perfile_status appear(pf_out_dir *d, perfile_error *err)
{
    replaced old;
    perfile_status st = examine_target(d, d->target, &old, err);
    if (st == PERFILE_OK)
        st = apply_modes(d, &old, err);
    if (st != PERFILE_OK)
        return st;
    if (old.exists)
        return replace(d, err);
    /* mkdir() fails if something was created there in the meantime; rename() replaces the empty
     * directory that mkdir() made.  A signal in between would leave the empty directory. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    if (mkdir(d->target, 0700) < 0) {
        st = pf_sink_fail_io(&d->data.base, errno, "create", err);
    } else if (rename(d->path, d->target) < 0) {
        st = pf_sink_fail_io(&d->data.base, errno, "create", err);
        (void)rmdir(d->target);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return st;
}

static void set_appeared(pf_out_dir *d)
{
    d->appeared = true;
    d->data.base.temporary = NULL;
}

/* Finishes the parts, then `data`, then gives the directory its name. */
static perfile_status dir_finish(perfile_sink *s, pf_sink_end how, perfile_error *err)
{
    pf_out_dir *d = (pf_out_dir *)s;
    perfile_status st = PERFILE_OK;
    if (how != PF_SINK_LAST)
        return how == PF_SINK_FLUSH ? pf_out_fd_finish(s, how, err) : st;
    for (uint32_t i = 0; i < d->n_parts && st == PERFILE_OK; i++) {
        perfile_sink *part = NULL;
        st = get_part(d, i, &part, err); /* creates empty files for numbers that were not used */
        if (st == PERFILE_OK)
            st = perfile_sink_finish(part, err);
    }
    if (st == PERFILE_OK)
        st = pf_out_fd_finish(s, how, err);
    if (st == PERFILE_OK)
        st = appear(d, err);
    if (st != PERFILE_OK)
        return st;
    set_appeared(d);
    if (pf_out_fd_syncs(s))
        pf_out_sync_folder(d->target);
    return st;
}

/* Removes the temporary directory and everything in it. */
static void dir_abort(perfile_sink *s)
{
    pf_out_dir *d = (pf_out_dir *)s;
    if (d->path && !d->appeared)
        remove_capture(d->path);
    set_appeared(d);
}

static perfile_status dir_reads(perfile_sink *s, perfile_error *err)
{
    return pf_inputs_check_path(&s->inputs, ((const pf_out_dir *)s)->target, s->name, err);
}

static void dir_close(perfile_sink *s)
{
    const pf_out_dir *d = (const pf_out_dir *)s;
    dir_abort(s);
    for (uint32_t i = 0; i < d->n_parts; i++) {
        perfile_sink_close(d->parts[i].sink);
        pf_free(d->parts[i].name);
    }
    pf_out_fd_close(s);
    pf_free(d->data_name);
    pf_free(d->parts);
    pf_free(d->path);
    pf_free(d->target);
}

static const pf_sink_ops dir_ops = {.write = pf_out_fd_write,
                                    .patch = pf_out_fd_patch,
                                    .part = dir_part,
                                    .finish = dir_finish,
                                    .abort = dir_abort,
                                    .reads = dir_reads,
                                    .close = dir_close};

/* The target is examined twice: here, so that a mistake is reported before the work, and in
 * appear(). */
perfile_status perfile_sink_directory(const char *path, const perfile_sink_options *options,
                                      perfile_sink **sink, perfile_error *err)
{
    perfile_sink_options o;
    perfile_status st = pf_options_copy(&o, options, "sink.options", err);
    if (st != PERFILE_OK)
        return st;
    if (o.flags & PERFILE_SINK_FOLDER)
        return pf_sink_folder(path, &o, sink, err);
    size_t n = path ? strlen(path) : 0;
    while (n > 1 && path[n - 1] == '/')
        n--;
    if (n == 0 || strcmp(path, "-") == 0)
        return pf_fail(err, PERFILE_E_USAGE, "sink", "'%s' is not a name for a directory",
                       path ? path : "");
    pf_out_dir *d = NULL;
    st = pf_sink_new(sizeof *d, &dir_ops, path, &o, PF_SINK_BUFFER, &d, err);
    if (st != PERFILE_OK)
        return st;
    d->target = pf_out_copy_path(path, n);
    if (!d->target)
        st = pf_fail_nomem(err, "sink");
    replaced old;
    if (st == PERFILE_OK)
        st = examine_target(d, d->target, &old, err);
    if (st == PERFILE_OK)
        st = make_folder(d, err);
    if (st == PERFILE_OK)
        st = create_file(d, "data", &d->data, &d->plain, err);
    if (st != PERFILE_OK) {
        perfile_sink_close(&d->data.base);
        return st;
    }
    d->data.base.temporary = d->path;
    *sink = &d->data.base;
    return PERFILE_OK;
}
