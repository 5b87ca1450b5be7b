/* Finding the ELF files of a mapping: the mapped file and its debug file.
 *
 * A file counts only if its build id is that of the mapping.  A debug file must have the build id
 * of the mapped file or, if that has none, the checksum in its debuglink. */
#include "symbol/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/crc32.h"

enum {
    CHUNK = 1 << 20,       /* bytes that are read at once for a checksum */
    MOST_CHECKED = 1 << 29 /* limit of bytes for all checksums together */
};

/* [vdso] is code that the kernel maps into every process.  It is not in any file, but this process
 * has the [vdso] of the running kernel.  Its build id tells whether it is the recorded one. */

/* Finds the line "START-END … [vdso]" of /proc/self/maps. */
static bool find_line(const char *maps, uint64_t *start, uint64_t *end)
{
    const char *name = strstr(maps, "[vdso]"), *line = name;
    char *dash;
    if (!name)
        return false;
    while (line > maps && line[-1] != '\n')
        line--;
    *start = strtoull(line, &dash, 16);
    if (*dash != '-')
        return false;
    *end = strtoull(dash + 1, NULL, 16);
    return *start && *end > *start;
}

/* Finds the [vdso] of this process; *image is empty if there is none.  Its memory stays valid until
 * the process ends. */
static perfile_status pf_own_vdso(pf_budget *budget, perfile_bytes *image)
{
    pf_symfile f;
    pf_piece maps;
    uint64_t start, end;
    *image = (perfile_bytes){NULL, 0};
    if (!pf_symfile_open(&f, "/proc/self/maps"))
        return PERFILE_OK;
    perfile_status st = pf_symfile_read_all(&f, budget, &maps);
    pf_symfile_close(&f);
    if (st != PERFILE_OK)
        return st == PERFILE_E_CORRUPT ? PERFILE_OK : st;
    if (find_line((const char *)maps.ptr, &start, &end))
        *image = (perfile_bytes){(const uint8_t *)(uintptr_t)start, (size_t)(end - start)};
    pf_piece_free(&maps, budget);
    return PERFILE_OK;
}

/* Where a candidate for the mapped file was found. */
enum { AT_PATH, IN_CACHE, IN_PROCESS /* at the path, below the root directory of the process */ };

bool pf_elf_has(const pf_elf *elf, const char *wanted)
{
    return wanted ? pf_elf_section_named(elf, wanted) != NULL
                  : pf_elf_section_of_type(elf, PF_SHT_SYMTAB) != NULL;
}

static void close_file(pf_elf_opened *f)
{
    if (f->is_open) {
        pf_elf_close(&f->elf);
        pf_symfile_close(&f->file);
    }
    f->is_open = false;
}

/* Opens f->file as ELF.  Any other format is not an error. */
static perfile_status open_elf(pf_elf_files *l, pf_elf_opened *f)
{
    perfile_status st = pf_elf_open(&f->elf, &f->file, &l->s->budget);
    f->is_open = st == PERFILE_OK;
    if (st != PERFILE_OK)
        pf_symfile_close(&f->file);
    l->damaged |= st == PERFILE_E_CORRUPT;
    return st == PERFILE_E_CORRUPT ? PERFILE_OK : st;
}

/* Opens f->path as ELF.  It is not an error if it is missing or has another format. */
static perfile_status open_file(pf_elf_files *l, pf_elf_opened *f)
{
    return pf_symfile_open_in(&f->file, f->path, f->root) ? open_elf(l, f) : PERFILE_OK;
}

/* Returns true if the file may be the mapped one: by build id, otherwise by inode and device.
 * Devices are compared only if both have a major number, which overlay file systems do not have. */
static bool is_mapped_file(const pf_elf_files *l, const pf_elf_opened *f, int place)
{
    const pf_symbol_key *k = l->key;
    if (k->build_id_size)
        return pf_same_build_id(k->build_id, k->build_id_size, f->elf.build_id,
                                f->elf.build_id_size);
    if (place == IN_CACHE || !k->ino || (place == AT_PATH && l->s->symfs[0]))
        return place == AT_PATH;
    return k->ino == f->file.ino && (!k->maj || !f->file.dev_major ||
                                     (k->maj == f->file.dev_major && k->min == f->file.dev_minor));
}

static perfile_status try_mapped(pf_elf_files *l, int place)
{
    perfile_status st = open_file(l, &l->mapped);
    if (st == PERFILE_OK && l->mapped.is_open && !is_mapped_file(l, &l->mapped, place)) {
        close_file(&l->mapped);
        l->other_build = true;
    }
    return st;
}

/* Uses the [vdso] of this process if it has the build id of the mapping. */
static perfile_status try_vdso(pf_elf_files *l)
{
    pf_elf_opened *f = &l->mapped;
    perfile_bytes image;
    perfile_status st = pf_own_vdso(&l->s->budget, &image);
    if (st != PERFILE_OK || !image.len)
        return st;
    f->file = pf_symfile_memory(image);
    strcpy(f->path, "[vdso]");
    st = open_elf(l, f);
    if (f->is_open && !is_mapped_file(l, f, IN_CACHE)) {
        close_file(f);
        l->other_build = true;
    }
    return st;
}

/* Formats the path of a file in a debug directory.  Returns false if it is too long. */
static bool __attribute__((format(printf, 4, 5)))
in_debug_dir(const pf_elf_files *l, pf_elf_opened *f, size_t number, const char *format, ...)
{
    const pf_debug_dir *dir = &l->s->debug_dirs[number];
    const size_t len = strlen(dir->path);
    va_list args;
    va_start(args, format);
    const int n =
        len < PF_PATH_SIZE ? vsnprintf(f->path + len, PF_PATH_SIZE - len, format, args) : -1;
    va_end(args);
    if (n <= 0 || (size_t)n >= PF_PATH_SIZE - len)
        return false;
    memcpy(f->path, dir->path, len);
    f->root = dir->root;
    return true;
}

/* Formats the path of a mapping.  Returns false if the file must not be opened. */
static bool path_of(const perfile_symbols *s, const pf_symbol_key *key, char *path)
{
    const bool may = s->symfs[0] || (!(s->flags & PERFILE_SYMBOLS_GIVEN_ONLY) &&
                                     (!key->is_guest || key->build_id_size));
    return may && key->name[0] == '/' && pf_path(path, "%s%s", s->symfs, key->name);
}

bool pf_elf_path_identity(const perfile_symbols *s, const pf_symbol_key *key, uint64_t *dev,
                          uint64_t *ino)
{
    char path[PF_PATH_SIZE];
    pf_symfile f;
    if (!path_of(s, key, path) || !pf_symfile_open_in(&f, path, strlen(s->symfs)))
        return false;
    *dev = f.dev_major << 32 | f.dev_minor;
    *ino = f.ino;
    pf_symfile_close(&f);
    return true;
}

/* Tries the path below the root directory of a process in a container that mapped the file and
 * still runs. */
static perfile_status try_process(pf_elf_files *l)
{
    pf_process p;
    const pf_symbol_key *k = l->key;
    if (l->s->symfs[0] || k->name[0] != '/' || k->is_guest || !pf_process_may_be_here(l->s) ||
        !pf_process_find(k->process, &p) || !p.is_apart ||
        !pf_path(l->mapped.path, "%s%s", p.root, k->name))
        return PERFILE_OK;
    l->mapped.root = strlen(p.root);
    perfile_status st = try_mapped(l, IN_PROCESS);
    if (l->mapped.is_open)
        memcpy(l->process_root, p.root, sizeof p.root);
    return st;
}

/* Finds the mapped file: at its path, at its path in the process, and by build id in caches. */
static perfile_status find_mapped(pf_elf_files *l)
{
    static const char *const names[] = {"elf", "vdso"};
    const perfile_symbols *s = l->s;
    const char *name = l->key->name;
    perfile_status st = PERFILE_OK;
    l->mapped.root = strlen(s->symfs);
    if (path_of(s, l->key, l->mapped.path))
        st = try_mapped(l, AT_PATH);
    if (st == PERFILE_OK && !l->mapped.is_open)
        st = try_process(l);
    for (size_t i = 0; l->id[0] && i < s->n_debug_dirs * 2; i++)
        if (st == PERFILE_OK && !l->mapped.is_open &&
            in_debug_dir(l, &l->mapped, i / 2, "/.build-id/%s/%s", l->id, names[i % 2]))
            st = try_mapped(l, IN_CACHE);
    if (st == PERFILE_OK && !l->mapped.is_open && l->key->build_id_size && !l->key->is_guest &&
        !(s->flags & PERFILE_SYMBOLS_GIVEN_ONLY) && strcmp(name, "[vdso]") == 0)
        st = try_vdso(l);
    return st;
}

/* Compares the checksum of a whole file.  MOST_CHECKED limits the bytes of all files together: a
 * sparse file can have any size, and only files without a build id need this. */
static perfile_status check_crc(perfile_symbols *s, const pf_symfile *f, uint32_t wanted,
                                bool *same)
{
    pf_budget *budget = &s->budget;
    uint32_t crc = 0;
    if (f->size > MOST_CHECKED - s->checked_bytes)
        return PERFILE_OK;
    s->checked_bytes += f->size;
    for (uint64_t at = 0; at < f->size; at += CHUNK) {
        pf_piece p;
        uint64_t n = f->size - at < CHUNK ? f->size - at : CHUNK;
        perfile_status st = pf_symfile_read(f, at, n, budget, &p);
        if (st != PERFILE_OK)
            return st;
        crc = pf_crc32(crc, pf_piece_bytes(&p));
        pf_piece_free(&p, budget);
    }
    *same = crc == wanted;
    return PERFILE_OK;
}

/* Returns true if `elf` has the build id of the mapped file or, if no mapped file is open, of the
 * mapping. */
static bool has_same_id(const pf_elf_files *l, const pf_elf *elf)
{
    const pf_elf *mapped = &l->mapped.elf;
    const pf_symbol_key *k = l->key;
    if (l->mapped.is_open)
        return pf_same_build_id(mapped->build_id, mapped->build_id_size, elf->build_id,
                                elf->build_id_size);
    return pf_same_build_id(k->build_id, k->build_id_size, elf->build_id, elf->build_id_size);
}

/* Opens l->debug.path if it is the debug file.  `crc` is from the debuglink, NULL if there was
 * none. */
static perfile_status try_debug(pf_elf_files *l, const uint32_t *crc)
{
    pf_elf_opened *f = &l->debug;
    if (f->is_open)
        return PERFILE_OK;
    perfile_status st = open_file(l, f);
    if (!f->is_open)
        return st;
    bool same = has_same_id(l, &f->elf);
    if (crc && !l->mapped.elf.build_id_size && !f->elf.build_id_size)
        st = check_crc(l->s, &f->file, *crc, &same);
    if (st != PERFILE_OK || !same || !pf_elf_has(&f->elf, l->wanted))
        close_file(f);
    l->damaged |= st == PERFILE_E_CORRUPT;
    return st == PERFILE_E_CORRUPT ? PERFILE_OK : st;
}

/* Tries the debug file that the mapped file names: in the same folder, in its subfolder .debug, and
 * in the same folder below the debug directories. */
static perfile_status try_debuglink(pf_elf_files *l)
{
    char link[256];
    uint32_t crc;
    const perfile_symbols *s = l->s;
    const char *name = l->key->name, *slash = name[0] == '/' ? strrchr(name, '/') : NULL;
    perfile_status st = PERFILE_OK;
    if (!l->mapped.is_open || !slash)
        return st;
    st = pf_elf_debuglink(&l->mapped.elf, link, sizeof link, &crc);
    if (st != PERFILE_OK)
        return st == PERFILE_E_CORRUPT ? PERFILE_OK : st;
    int folder = (int)(slash - name);
    const char *above = l->process_root[0] ? l->process_root : s->symfs;
    l->debug.root = strlen(above);
    bool local = above[0] || !(s->flags & PERFILE_SYMBOLS_GIVEN_ONLY);
    if (local && pf_path(l->debug.path, "%s%.*s/%s", above, folder, name, link))
        st = try_debug(l, &crc);
    if (local && st == PERFILE_OK && !l->debug.is_open &&
        pf_path(l->debug.path, "%s%.*s/.debug/%s", above, folder, name, link))
        st = try_debug(l, &crc);
    for (uint32_t i = 0; st == PERFILE_OK && !l->debug.is_open && i < s->n_debug_dirs; i++)
        if (in_debug_dir(l, &l->debug, i, "%.*s/%s", folder, name, link))
            st = try_debug(l, &crc);
    return st;
}

/* Finds the debug file by build id, by debuglink, or by path. */
static perfile_status find_debug(pf_elf_files *l)
{
    static const char *const forms[] = {".debug", "/debug", "/elf"};
    enum { FORMS = 3 };
    const perfile_symbols *s = l->s;
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; l->id[0] && i < (size_t)s->n_debug_dirs * FORMS; i++)
        if (st == PERFILE_OK && !l->debug.is_open &&
            in_debug_dir(l, &l->debug, i / FORMS, "/.build-id/%s%s", l->id, forms[i % FORMS]))
            st = try_debug(l, NULL);
    if (st == PERFILE_OK && !l->debug.is_open)
        st = try_debuglink(l);
    for (uint32_t i = 0; l->key->name[0] == '/' && i < s->n_debug_dirs; i++)
        if (st == PERFILE_OK && !l->debug.is_open &&
            in_debug_dir(l, &l->debug, i, "%s.debug", l->key->name))
            st = try_debug(l, NULL);
    return st;
}

perfile_status pf_elf_files_open(perfile_symbols *s, const pf_symbol_key *key, const char *wanted,
                                 pf_elf_files **files)
{
    pf_elf_files *l = pf_alloc(1, sizeof *l);
    if (!l)
        return PERFILE_E_NOMEM;
    l->s = s;
    l->key = key;
    l->wanted = wanted;
    pf_build_id_path(key->build_id, key->build_id_size, l->id, sizeof l->id);
    perfile_status st = find_mapped(l);
    if (st == PERFILE_OK && !l->id[0] && l->mapped.is_open)
        pf_build_id_path(l->mapped.elf.build_id, l->mapped.elf.build_id_size, l->id, sizeof l->id);
    if (st == PERFILE_OK && (!l->mapped.is_open || !pf_elf_has(&l->mapped.elf, wanted)))
        st = find_debug(l);
    if (st == PERFILE_OK)
        *files = l;
    else
        pf_elf_files_close(l);
    return st;
}

void pf_elf_files_close(pf_elf_files *l)
{
    if (!l)
        return;
    close_file(&l->debug);
    close_file(&l->mapped);
    pf_free(l);
}

/* Files of a process that still runs on this machine.
 *
 * The kernel describes the process in /proc.  Its root directory is a magic link there, which only
 * root and the owner of the process may follow.  Paths are resolved below that directory and never
 * leave it. */

bool pf_process_may_be_here(const perfile_symbols *s)
{
    struct utsname here;
    const char *host = perfile_session_fact(s->session, PERFILE_FACT_HOSTNAME);
    if (s->flags & PERFILE_SYMBOLS_GIVEN_ONLY)
        return false;
    return !host || (uname(&here) == 0 && strcmp(here.nodename, host) == 0);
}

/* Opens a file of /proc/PID.  Returns false if it is missing or not readable for this user. */
static bool open_about(pf_symfile *f, uint32_t pid, const char *name)
{
    char path[PF_PROCESS_ROOT];
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/%s", pid, name);
    return pf_symfile_open(f, path);
}

/* Returns the last number of the line "NStgid:".  The line has one number for each pid namespace,
 * from the outermost visible one to the process's own. */
static uint32_t inner_pid(const char *status, uint32_t pid)
{
    const char *line = strstr(status, "\nNStgid:");
    if (!line) /* before Linux 4.1 */
        return pid;
    line += strlen("\nNStgid:");
    const char *last = line + strcspn(line, "\n");
    while (last > line && last[-1] != '\t' && last[-1] != ' ')
        last--;
    const unsigned long n = strtoul(last, NULL, 10);
    return n && n <= INT32_MAX ? (uint32_t)n : pid;
}

/* Returns true if the process has other mounts than this program, such as its own /tmp. */
static bool has_own_mounts(uint32_t pid)
{
    char path[PF_PROCESS_ROOT];
    struct stat its, ours;
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/ns/mnt", pid);
    return stat(path, &its) == 0 && stat("/proc/self/ns/mnt", &ours) == 0 &&
           its.st_ino != ours.st_ino;
}

bool pf_process_find(uint32_t pid, pf_process *p)
{
    char folder[PF_PROCESS_ROOT], status[4096]; /* NStgid is one of the first lines */
    struct stat root, self, process;
    pf_symfile f;
    if (!pid || pid > INT32_MAX)
        return false;
    snprintf(p->root, sizeof p->root, "/proc/%" PRIu32 "/root", pid);
    snprintf(folder, sizeof folder, "/proc/%" PRIu32, pid);
    if (stat(p->root, &root) < 0 || stat(folder, &process) < 0 || stat("/", &self) < 0 ||
        !open_about(&f, pid, "status"))
        return false;
    const size_t n = pf_symfile_read_at(&f, (uint8_t *)status, sizeof status - 1, 0);
    status[n] = 0;
    pf_symfile_close(&f);
    p->dev = root.st_dev;
    p->ino = root.st_ino;
    p->owner = process.st_uid;
    p->inner = inner_pid(status, pid);
    p->is_apart = root.st_dev != self.st_dev || root.st_ino != self.st_ino || p->inner != pid ||
                  has_own_mounts(pid);
    return true;
}

/* A parser of lines of /proc/PID/maps, "FROM-TO ...". */
typedef struct ranges {
    uint64_t addr; /* the address to find */
    uint64_t at[2];
    enum { FROM, TO, REST } state;
} ranges;

/* Consumes the next byte.  Returns true if it ends a range that contains the address. */
static bool take(ranges *r, uint8_t byte)
{
    const char *const digits = "0123456789abcdef";
    const char *digit = byte ? strchr(digits, byte) : NULL;
    if (byte == '\n') {
        *r = (ranges){.addr = r->addr};
    } else if (r->state != REST && digit) {
        r->at[r->state] = r->at[r->state] << 4 | (uint64_t)(digit - digits);
    } else if (r->state != REST) {
        r->state++;
        return r->state == REST && r->at[0] <= r->addr && r->addr < r->at[1];
    }
    return false;
}

bool pf_process_maps(uint32_t pid, uint64_t addr)
{
    uint8_t text[4096];
    pf_symfile f;
    ranges r = {.addr = addr};
    bool found = false;
    if (!open_about(&f, pid, "maps"))
        return false;
    uint64_t at = 0;
    for (size_t n = 1; n && !found; at += n) {
        n = pf_symfile_read_at(&f, text, sizeof text, at);
        for (size_t i = 0; i < n && !found; i++)
            found = take(&r, text[i]);
    }
    pf_symfile_close(&f);
    return found;
}
