/* Loading libdw (see libdw.h). */
#include "symbol/libdw.h"

#ifdef PF_HAVE_LIBDW

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static pf_libdw functions;
static bool is_loaded;

/* A pointer to a function, which C does not convert from one to data; POSIX says that it is one. */
static bool find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

/* The library stays for as long as the program. */
static void load(void)
{
    void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    bool all = library != NULL;
#define FIND(name) all = all && find(library, #name, &functions.name); /* libelf is below libdw */
    PF_LIBDW_FUNCTIONS(FIND)
#undef FIND
    if (all)
        is_loaded = functions.elf_version(EV_CURRENT) != EV_NONE;
    if (library && !is_loaded)
        dlclose(library);
}

const pf_libdw *pf_libdw_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return is_loaded ? &functions : NULL;
}

#else

typedef int pf_no_libdw; /* a file of C has something in it */

#endif
