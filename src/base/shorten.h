/* Long names, which an output may repeat for each record or frame, are cut in the middle:
 *
 *     std::map<std::string, Fo…5a0c33e1…>::_M_erase(void*)
 *
 * Both ends stay, because names of one program often begin alike.  The CRC-32 of the name (of its
 * first 4096 bytes) distinguishes names that differ only in the part that is left out.  This header
 * also declares suggestions for misspelled words. */
#ifndef PF_BASE_SHORTEN_H
#define PF_BASE_SHORTEN_H

#include "perfile/base.h"

/* PF_NAME_MOST is the longest name that is never cut, in bytes of output (see pf_shortened()).  In
 * most captures a path or the name of a thread or event is shorter.  See format/limits.md. */
enum {
    PF_NAME_MOST = 256,
    PF_NAME_LEAST = 32 /* bytes of the shortest form of a name */
};

/* Returns how many bytes all names in an output may take together, counting each repetition, if
 * they come from `record_bytes` bytes of records.  If they would take more, long names are
 * shortened to PF_NAME_MOST; if that does not help, to PF_NAME_LEAST. */
static inline uint64_t pf_names_room(uint64_t record_bytes)
{
    const uint64_t always = UINT64_C(1) << 18, a_byte = 4;
    return record_bytes < UINT64_MAX / a_byte - always ? always + a_byte * record_bytes
                                                       : UINT64_MAX;
}

/* Returns `text` if it takes at most `most` bytes in an output, where a quote or backslash takes 2
 * bytes and each byte of an unprintable character takes 6.  Otherwise returns a shorter form,
 * written to `room`, which has `most` bytes, at least PF_NAME_LEAST. */
perfile_bytes pf_shortened(perfile_bytes text, size_t most, uint8_t *room);

/* Suggestions for a misspelled word: the known words that are nearest to it.
 *
 * Call pf_nearest_begin(), then pf_nearest_offer() for each known word, then pf_nearest_put(). */

enum {
    PF_NEAREST_BYTES = 40, /* longest word that is compared */
    PF_NEAREST_MOST = 3    /* maximum number of suggestions */
};

/* The best suggestions so far, nearest first.  Initialize with pf_nearest_begin(). */
typedef struct pf_nearest {
    const char *wanted; /* the misspelled word, borrowed */
    size_t n_wanted;
    uint32_t letters; /* one bit for each letter in it, for quick rejection */
    unsigned worst;   /* words at this distance or farther are not suggested */
    struct {
        char name[PF_NEAREST_BYTES + 1];
        unsigned distance;
    } found[PF_NEAREST_MOST];
    size_t n;
} pf_nearest;

/* Starts with no suggestions for `wanted`.  Short words allow a smaller distance. */
void pf_nearest_begin(pf_nearest *suggestions, const char *wanted);

/* Offers a known word.  It is copied if it is near enough and not yet among the suggestions. */
void pf_nearest_offer(pf_nearest *suggestions, const char *name);

/* Offers `name` at the distance of the word `as` plus `more`, for names that are also known by
 * another word. */
void pf_nearest_offer_as(pf_nearest *suggestions, const char *name, const char *as, unsigned more);

/* Writes "a, b or c" to `out`, or an empty string if there are no suggestions.  `size` must not be
 * 0. */
void pf_nearest_put(const pf_nearest *suggestions, char *out, size_t size);

#endif
