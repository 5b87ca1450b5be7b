/* The sample types that get code of their own. */
#ifndef PF_SCHEMA_USUAL_H
#define PF_SCHEMA_USUAL_H

/* The sample types that tools usually ask for, each with X(name, type): a letter for each bit that
 * it has beside the first three. */
#define PF_WITH_ID(X, name, type)                                                                  \
    X(name, type)                                                                                  \
    X(name##i, (type) | PERFILE_SAMPLE_ID)                                                         \
    X(name##I, (type) | PERFILE_SAMPLE_IDENTIFIER)
#define PF_WITH_CPU(X, name, type)                                                                 \
    PF_WITH_ID(X, name, type)                                                                      \
    PF_WITH_ID(X, name##C, (type) | PERFILE_SAMPLE_CPU)
#define PF_WITH_PERIOD(X, name, type)                                                              \
    PF_WITH_CPU(X, name, type)                                                                     \
    PF_WITH_CPU(X, name##P, (type) | PERFILE_SAMPLE_PERIOD)
#define PF_WITH_RAW(X, name, type)                                                                 \
    PF_WITH_PERIOD(X, name, type)                                                                  \
    PF_WITH_PERIOD(X, name##R, (type) | PERFILE_SAMPLE_RAW)
#define PF_WITH_CHAIN(X, name, type)                                                               \
    PF_WITH_RAW(X, name, type)                                                                     \
    PF_WITH_RAW(X, name##G, (type) | PERFILE_SAMPLE_CALLCHAIN)
#define PF_USUAL_SAMPLES(X)                                                                        \
    PF_WITH_CHAIN(X, usual_, PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME)

/* Each has a word at least.  Said once, it need not be asked again for every field. */
#define PF_LEAST_BYTES(type) (8 * (size_t)__builtin_popcountll((type) & ~PERFILE_SAMPLE_RAW))

#endif
