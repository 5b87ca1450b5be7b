/* Members that a description gives: `name=value`, as in `record MMAP2 pid=7 filename=/bin/sh`.
 *
 * A member is named by its path in the struct that the tables have for the record: "ip",
 * "regs_user.abi", "branch_stack.lbr[0].from".  A value is a number, a name of the tables, a text,
 * hexadecimal bytes, or a list of these, as its member demands. */
#ifndef PF_GENERATE_GIVEN_H
#define PF_GENERATE_GIVEN_H

#include "base/arena.h"
#include "generate/members.h"

enum {
    PF_GIVEN_MOST = 256,   /* members of a statement, at most */
    PF_GIVEN_ITEMS = 4096, /* items of a list, at most */
    PF_PLACE_BYTES = 256   /* of a path, at most */
};

typedef struct pf_given_member {
    const char *path, *value; /* the value as written */
} pf_given_member;

/* The members of a statement. */
typedef struct pf_given {
    const pf_given_member *at;
    uint32_t n;
    uint32_t line; /* of the statement, for errors */
} pf_given;

/* Where a visit of a struct is: the beginning of the paths of the members that come next. */
typedef struct pf_place {
    char text[PF_PLACE_BYTES];
    size_t len;
    struct {
        size_t before, after; /* `len` before the struct or list, and after its name */
        uint32_t item;        /* of a list: the next */
    } open[2 * PF_MEMBERS_DEPTH];
    unsigned n;
} pf_place;

/* Begins with a path, such as "sample_id." for a trailer. */
void pf_place_begin(pf_place *p, const char *text);
/* Follows a step of the visit.  A member that is a struct or list is looked up before this call. */
void pf_place_step(pf_place *p, const pf_step *s);

/* Returns the position in `g` of the member `name` at this place; -1 if it is not given. */
int pf_given_find(const pf_given *g, const pf_place *p, const char *name);

/* Returns true if members are given that a condition, or its ELSE, must let in; *holds is then the
 * value that it must have. */
bool pf_given_decides(const pf_given *g, const pf_place *p, const pf_member *condition,
                      bool *holds);

/* Returns true if the number of items of the list `name` follows from what is given. */
bool pf_given_items(const pf_given *g, const pf_place *p, const char *name, size_t *n);

/* Checks a path and its value: that there is such a member, and that the value can be one of it.
 * Errors name the line, and suggest similar names. */
perfile_status pf_given_check(const pf_given_member *m, const char *path, uint32_t line,
                              const pf_row_shape *shape, pf_arena *arena, perfile_error *err);

/* In value.c: stores the value to the member.  Texts and arrays are in the arena. */
perfile_status pf_given_store(const pf_given_member *m, uint32_t line, const pf_member *member,
                              pf_arena *arena, uint8_t *to, perfile_error *err);

/* In value.c: reads a number; returns false if it is none.  `text` may be negative or hexadecimal.
 */
bool pf_given_number(const char *text, size_t len, uint64_t *v);

/* Fails with a sentence about a line of the description. */
perfile_status pf_spec_fail(uint32_t line, perfile_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
