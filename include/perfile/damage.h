/* Names for the kinds of damage that an input can have. */
#ifndef PERFILE_DAMAGE_H
#define PERFILE_DAMAGE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What to do about damage: the member `on_damage` of the options of everything that reads a
 * capture.  Each of these options documents which values it accepts and which is its default.
 * Other values are PERFILE_E_USAGE. */
enum {
    PERFILE_ON_DAMAGE_DEFAULT = 0, /* the default of these options */
    /* Read up to the damage and end that part of the input there.  In a damaged archive reading
     * continues after the lost bytes, because the chunks say where records begin again. */
    PERFILE_ON_DAMAGE_STOP = 1,
    /* Search for the next plausible records and continue there.  Damaged bytes that look like a
     * header become a record of an unknown type, however many records its size covers. */
    PERFILE_ON_DAMAGE_RESYNC = 2,
    /* Like RESYNC, and records that do not fit the layouts and times of the events are damage, too.
     * Only for captures known to be damaged: a record that is merely unusual may be dropped. */
    PERFILE_ON_DAMAGE_SALVAGE = 3,
    PERFILE_ON_DAMAGE_FAIL = 4, /* write nothing */
    /* Copy every byte unchanged, damaged ones included.  If the form changes: like RESYNC. */
    PERFILE_ON_DAMAGE_COPY = 5
};

/* PERFILE_DAMAGE_SHORT_BODY … : one for each row of format/damage.def. 0 means no damage. */
/* clang-format off */
enum {
    PERFILE_DAMAGE_NONE = 0,
/* BEGIN made of format/: damage */
    PERFILE_DAMAGE_SHORT_BODY = 1, /* content runs past its end */
    /* no event has the id of this record, and the events differ in layout */
    PERFILE_DAMAGE_UNKNOWN_ID = 2,
    PERFILE_DAMAGE_NO_ATTR = 3, /* no known event describes the layout of this record */
    PERFILE_DAMAGE_BAD_ATTR_SIZE = 4, /* impossible attr size */
    PERFILE_DAMAGE_BAD_SIZE = 5, /* impossible size */
    PERFILE_DAMAGE_BAD_VERSION = 6, /* unknown version of the content */
    PERFILE_DAMAGE_BAD_LONG_SIZE = 7, /* impossible word size */
    PERFILE_DAMAGE_OUT_OF_BOUNDS = 8, /* is outside the file */
    /* the feature table ends past the end of the file */
    PERFILE_DAMAGE_TRUNCATED_FEATURE_TABLE = 9,
    PERFILE_DAMAGE_BAD_MAGIC = 10, /* not a perf.data file */
    PERFILE_DAMAGE_BAD_HEADER_SIZE = 11, /* the header size is not 16, 72 or 104 */
    PERFILE_DAMAGE_TRUNCATED_HEADER = 12, /* fewer bytes are left than a header needs */
    PERFILE_DAMAGE_BAD_ATTRS = 13, /* the attr section cannot be read */
    /* the ids of an attr are outside the file, or overlap those of another attr */
    PERFILE_DAMAGE_BAD_IDS = 14,
    PERFILE_DAMAGE_UNTERMINATED = 15, /* the recording was not finished (data size 0) */
    PERFILE_DAMAGE_TRUNCATED_RECORD = 16, /* a record runs past the end */
    PERFILE_DAMAGE_TRUNCATED_PAYLOAD = 17, /* the bytes after a record run past the end */
    PERFILE_DAMAGE_TRUNCATED_DATA = 18, /* the data section is longer than the file */
    PERFILE_DAMAGE_TRUNCATED_COMPRESSED = 19, /* the decompressed stream ends inside a record */
    PERFILE_DAMAGE_DECOMPRESS = 20, /* the compressed data cannot be decompressed */
    PERFILE_DAMAGE_OVERLAP = 21, /* sections of the file overlap: these bytes were overwritten */
    PERFILE_DAMAGE_GARBAGE = 22, /* bytes that are not records */
    PERFILE_DAMAGE_CONCATENATED = 23, /* another stream begins here: two streams are in one file */
    PERFILE_DAMAGE_BAD_SPLIT = 24, /* a record in fragments is not complete */
    PERFILE_DAMAGE_BAD_DIRECTORY = 25, /* a part of the directory is missing or unusable */
    PERFILE_DAMAGE_OVERRUN = 26, /* the writer of a ring buffer overtook its reader */
    PERFILE_DAMAGE_IMPLAUSIBLE = 27, /* the content is implausible */
    PERFILE_DAMAGE_ARCHIVE = 28, /* bytes that were lost in a damaged archive */
    PERFILE_DAMAGE_BAD_ARCH = 29, /* unknown architecture */
    PERFILE_DAMAGE_BAD_FLAGS = 30, /* unknown flags */
    PERFILE_DAMAGE_BAD_TICKS_PER_SECOND = 31, /* the frequency of the clock is not above 0 */
    PERFILE_DAMAGE_BAD_CAPTURE_END = 32, /* the end of the records is inside the header */
    PERFILE_DAMAGE_BAD_RECORD_TYPE = 33, /* the type is unknown, and so is the size of the record */
    PERFILE_DAMAGE_BAD_BRANCH_COUNT = 34, /* more branches than a record can have */
    /* the feature table is not where the header says: bytes were lost or inserted before it */
    PERFILE_DAMAGE_MOVED = 35,
/* END made of format/ */
    PERFILE_N_DAMAGES
};
/* clang-format on */

#ifndef PERFILE_DECLARATIONS
/* Returns the short name of a kind of damage, "short-body"; "" for numbers that are no kind. */
static inline const char *perfile_damage_name(unsigned damage)
{
    return perfile_name(PERFILE_NAME_DAMAGE, damage);
}

/* Returns the sentence of a kind of damage; "" for numbers that are no kind. */
static inline const char *perfile_damage_text(unsigned damage)
{
    return perfile_name(PERFILE_NAME_DAMAGE_TEXT, damage);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
