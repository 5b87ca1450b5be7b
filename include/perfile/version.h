/* The version of the library, in one place: the build reads it from here. */
#ifndef PERFILE_VERSION_H
#define PERFILE_VERSION_H

/* Of these headers; that of the library is perfile_version(). */
#define PERFILE_VERSION_MAJOR 0
#define PERFILE_VERSION_MINOR 1
#define PERFILE_VERSION_PATCH 0

/* The same as one number, which the preprocessor can compare: 1000000 * major + 1000 * minor +
 * patch; 0.1.0 is 1000. */
#define PERFILE_VERSION                                                                            \
    (PERFILE_VERSION_MAJOR * 1000000 + PERFILE_VERSION_MINOR * 1000 + PERFILE_VERSION_PATCH)

#endif
