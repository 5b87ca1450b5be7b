/* Names that an output may repeat for each record or frame, cut in the middle where they are long:
 *
 *     std::map<std::string, Fo…5a0c33e1…>::_M_erase(void*)
 *
 * Both ends stay, because names of one program mostly begin alike, and the CRC-32 of the name (of
 * its first 4096 bytes) keeps apart those that differ only in the part that is left out. */
#ifndef PF_BASE_SHORTEN_H
#define PF_BASE_SHORTEN_H

#include "perfile/base.h"

/* The longest name that is never cut, in bytes of an output (see pf_shortened()): a path or the
 * name of a thread or event in most captures.  format/limits.md. */
enum {
    PF_NAME_MOST = 256,
    PF_NAME_LEAST = 32 /* bytes of the shortest form */
};

/* How many bytes the names in an output may be together, however often each is repeated, if they
 * came from so many bytes of records.  Where they are more, long ones are shortened to
 * PF_NAME_MOST; then, if that does not help, to PF_NAME_LEAST. */
static inline uint64_t pf_names_room(uint64_t record_bytes)
{
    const uint64_t always = UINT64_C(1) << 18, a_byte = 4;
    return record_bytes < UINT64_MAX / a_byte - always ? always + a_byte * record_bytes
                                                       : UINT64_MAX;
}

/* Returns `text`, or if it is too long a shorter form of it in `room`, of `most` bytes, at least
 * PF_NAME_LEAST.
 * Too long is what takes more than `most` bytes in an output, where a quote or backslash takes 2
 * bytes and each byte of what is not printable takes 6. */
perfile_bytes pf_shortened(perfile_bytes text, size_t most, uint8_t *room);

/* Suggestions for a misspelt word: the known words that are nearest to it.
 *
 * Use: pf_nearest_begin(), pf_nearest_offer() for each known word, pf_nearest_put(). */

enum {
    PF_NEAREST_BYTES = 40, /* longest word that is compared */
    PF_NEAREST_MOST = 3    /* how many suggestions are kept */
};

/* The best suggestions so far, nearest first.  Initialise with pf_nearest_begin(). */
typedef struct pf_nearest {
    const char *wanted; /* the misspelt word, borrowed */
    size_t n_wanted;
    uint32_t letters; /* a bit for each letter that occurs in it, for a quick rejection */
    unsigned worst;   /* words at this distance or farther are not suggested */
    struct {
        char name[PF_NEAREST_BYTES + 1];
        unsigned distance;
    } found[PF_NEAREST_MOST];
    size_t n;
} pf_nearest;

/* Starts with no suggestions for `wanted`.  Short words allow a smaller distance. */
void pf_nearest_begin(pf_nearest *suggestions, const char *wanted);

/* Offers a known word, which is copied if it is near enough and not among the suggestions yet. */
void pf_nearest_offer(pf_nearest *suggestions, const char *name);

/* Offers `name` at the distance of the word `as` plus `more`: for names that are known by another
 * word. */
void pf_nearest_offer_as(pf_nearest *suggestions, const char *name, const char *as, unsigned more);

/* Writes "a, b or c" to `out`; an empty text if there are no suggestions.  `size` must not be 0. */
void pf_nearest_put(const pf_nearest *suggestions, char *out, size_t size);

#endif
