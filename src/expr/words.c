/* Tables of names that every record has, and look-up of words for values: of the vocabularies of
 * kinds (format/words.def), and of the bits of misc (format/misc.def), whose meaning depends on the
 * type. */
#include "expr/program.h"

#include <string.h>

/* doc is shown in the list of names. */
static const pf_expr_common commons[] = {
    {"type", "type of the record, by its name without PERF_RECORD_, or number", PF_OF_TYPE,
     PERFILE_EXPR_NUMBER | PERFILE_EXPR_TEXT, PERFILE_KIND_DEC},
    {"misc", "misc of the header; what bit 12 and up mean depends on the type", PF_OF_MISC,
     PERFILE_EXPR_NUMBER, PERFILE_KIND_HEX},
    {"size", "bytes of the record, header included", PF_OF_SIZE, PERFILE_EXPR_NUMBER,
     PERFILE_KIND_SIZE},
    {"offset", "where the record begins in its file", PF_OF_OFFSET, PERFILE_EXPR_NUMBER,
     PERFILE_KIND_HEX},
    {"sequence", "number of the record in the stream, from 0", PF_OF_SEQUENCE, PERFILE_EXPR_NUMBER,
     PERFILE_KIND_DEC},
    {"part", "which file of a directory, from 0", PF_OF_PART, PERFILE_EXPR_NUMBER,
     PERFILE_KIND_DEC},
    {"cpumode", "where the processor was: kernel, user, hypervisor, guest_kernel, guest_user",
     PF_OF_CPUMODE, PERFILE_EXPR_NUMBER, PERFILE_KIND_BUILD_ID_MISC},
    {"event", "event of the record, by name (text) or position (number)", PF_OF_EVENT,
     PERFILE_EXPR_NUMBER | PERFILE_EXPR_TEXT, PERFILE_KIND_ATTR_INDEX},
};

const pf_expr_common *pf_expr_common_at(size_t i)
{
    return i < sizeof commons / sizeof commons[0] ? &commons[i] : NULL;
}

const pf_expr_common *pf_expr_common_find(const char *name)
{
    const pf_expr_common *c;
    for (size_t i = 0; (c = pf_expr_common_at(i)); i++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

/* A character as it counts for comparing words. */
static char folded(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c == '-' ? '_' : c;
}

bool pf_expr_same_word(const char *a, const char *b)
{
    while (*a && folded(*a) == folded(*b)) {
        a++;
        b++;
    }
    return *a == *b;
}

bool pf_expr_word_value(const perfile_vocabulary *v, const char *word, uint64_t *number)
{
    for (uint32_t i = 0; v && i < v->n; i++) {
        if (!pf_expr_same_word(v->bits ? v->bits[i].name : v->words[i].name, word))
            continue;
        if (v->words) {
            *number = v->words[i].value;
            return true;
        }
        unsigned width = v->bits[i].width; /* the mask of the bit field */
        *number = (width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX) << v->bits[i].shift;
        return true;
    }
    return false;
}

/* Types of kernel records are below 63.  HEADER_BUILD_ID (67) is the only one above whose misc has
 * names; it takes the last bit. */
enum { TYPE_BIT_BUILD_ID = 63 };

uint64_t pf_expr_type_bit(uint32_t type)
{
    if (type == PERFILE_RECORD_HEADER_BUILD_ID)
        return UINT64_C(1) << TYPE_BIT_BUILD_ID;
    return type < TYPE_BIT_BUILD_ID ? UINT64_C(1) << type : 0;
}

/* Named bits of misc.  One name can have several rows, one after the other: it holds for several
 * types. */
static const struct {
    const char *name;
    uint16_t bit;
    uint32_t type;
} misc_words[] = {
#define MISC(type, bit, word, set, clear) {word, PERFILE_MISC_##bit, PERFILE_RECORD_##type},
#include "format/misc.def"
};

enum { MISC_ROWS = sizeof misc_words / sizeof misc_words[0] };

/* Rows of one name count once; they are next to each other. */
const char *pf_expr_misc_word(size_t i)
{
    for (size_t row = 0; row < MISC_ROWS; row++) {
        bool again = row && strcmp(misc_words[row].name, misc_words[row - 1].name) == 0;
        if (!again && i-- == 0)
            return misc_words[row].name;
    }
    return NULL;
}

bool pf_expr_misc(const char *word, uint64_t *mask, uint64_t *types)
{
    *types = 0;
    for (size_t row = 0; row < MISC_ROWS; row++) {
        if (!pf_expr_same_word(misc_words[row].name, word))
            continue;
        *mask = misc_words[row].bit;
        *types |= pf_expr_type_bit(misc_words[row].type);
    }
    return *types != 0;
}
