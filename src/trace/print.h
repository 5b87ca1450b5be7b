/* The print fmt of a tracepoint: a format string of printf(), and a C expression for each of its
 * conversions.
 *
 *     "state=%s%s", REC->state & 1 ? __print_flags(REC->state, "|", { 1, "S" }) : "R", …
 *
 * It is compiled once.  The format string becomes pieces: a text, and the conversion after it.  The
 * expressions become steps that work on a stack of values.  `?:` becomes jumps, which only go
 * forward, so evaluation terminates.  Operands that print as text (a literal, __get_str(),
 * __print_flags() …) become values that describe the text; their conversion prints it.
 *
 * Numbers have 64 bits, with the signedness that C gives them.  A conversion uses as many bytes of
 * a number as its length modifier means on the recorded kernel. */
#ifndef PF_TRACE_PRINT_H
#define PF_TRACE_PRINT_H

#include "trace/format.h"

enum { /* limits of a print fmt; beyond them payloads are printed field by field */
       PF_PRINT_STEPS = 8192,
       PF_PRINT_PIECES = 512,
       PF_PRINT_ENTRIES = 8192, /* of all tables */
       PF_PRINT_DEPTH = 64,     /* values on the stack; operators waiting for an operand */
       PF_PRINT_WIDTH = 256,    /* maximum width and precision */
       PF_PRINT_MOST = 8 << 10, /* limit of a printed payload, as in the kernel; and … */
       PF_PRINT_ALWAYS = 1024,  /* … also limited to this, plus … */
       PF_PRINT_A_BYTE = 16     /* … this for each byte of the payload */
};

/* pf_print_step.code */
enum {
    PF_PRINT_NUMBER,  /* pushes `number`; `named`: it replaces an unknown name */
    PF_PRINT_TEXT,    /* pushes a literal */
    PF_PRINT_FIELD,   /* pushes a field: its number, or its location */
    PF_PRINT_STRING,  /* __get_str(field): the text that a dynamic field refers to */
    PF_PRINT_BYTES,   /* __get_dynamic_array(field), __get_sockaddr(field) */
    PF_PRINT_LENGTH,  /* __get_dynamic_array_len(field) */
    PF_PRINT_BITMASK, /* __get_bitmask(field), __get_cpumask(field) */
    /* Steps with one operand. */
    PF_PRINT_CAST, /* to `width` bytes, sign-extended if is_signed */
    PF_PRINT_MINUS,
    PF_PRINT_INVERT,
    PF_PRINT_NOT,
    PF_PRINT_FLAGS,      /* __print_flags(): entries from `first` on, separated by `text` */
    PF_PRINT_SYMBOL,     /* __print_symbolic() */
    PF_PRINT_JUMP_FALSE, /* to the step `to` if the operand is 0 */
    PF_PRINT_JUMP,       /* no operand */
    /* Steps with two operands. */
    PF_PRINT_INDEX,
    PF_PRINT_MUL,
    PF_PRINT_DIV,
    PF_PRINT_MOD,
    PF_PRINT_ADD,
    PF_PRINT_SUB,
    PF_PRINT_SHL,
    PF_PRINT_SHR,
    PF_PRINT_LESS,
    PF_PRINT_LESS_EQUAL,
    PF_PRINT_MORE,
    PF_PRINT_MORE_EQUAL,
    PF_PRINT_EQUAL,
    PF_PRINT_UNEQUAL,
    PF_PRINT_AND,
    PF_PRINT_XOR,
    PF_PRINT_OR,
    PF_PRINT_BOTH,
    PF_PRINT_EITHER,
    PF_PRINT_EXPECT,  /* __builtin_expect(): the first operand */
    PF_PRINT_HEX,     /* __print_hex(bytes, n) */
    PF_PRINT_HEX_STR, /* __print_hex_str(bytes, n) */
    PF_PRINT_ARRAY    /* three operands: __print_array(bytes, n, size) */
};

typedef struct pf_print_step {
    uint8_t code; /* PF_PRINT_… */
    uint8_t width;
    bool is_signed, named;
    uint16_t field;
    uint16_t to; /* JUMP…: relative to the first step of the expression */
    union {
        uint64_t number;
        struct {
            uint32_t first, n; /* entries of a table */
        } table;
    } u;
    perfile_bytes text;
} pf_print_step;

/* A named value of __print_flags() or __print_symbolic(). */
typedef struct pf_print_entry {
    uint64_t value;
    perfile_bytes name;
} pf_print_entry;

/* The steps of an expression; n is 0 if there is none. */
typedef struct pf_print_argument {
    uint16_t first, n;
} pf_print_argument;

/* pf_print_piece.flags: characters of a conversion. */
enum {
    PF_PRINT_LEFT = 1,
    PF_PRINT_ZEROS = 2,
    PF_PRINT_SIGN = 4,
    PF_PRINT_BLANK = 8,
    PF_PRINT_ALTERNATE = 16
};

/* A text and the conversion after it. */
typedef struct pf_print_piece {
    perfile_bytes text; /* without its escapes */
    char conversion;    /* 'd', 'x', 's' …, 'p'; 0: none */
    char pointer[4];    /* the letters after %p: "I6c", "S", "M"; "" */
    uint8_t bytes;      /* size of the number that it converts: 1, 2, 4, 8 */
    uint8_t flags;
    int16_t width;     /* 0: none; -1: `star` */
    int16_t precision; /* -1: none; -2: `star` */
    pf_print_argument star, value;
} pf_print_piece;

typedef struct pf_print {
    const pf_print_step *steps;
    const pf_print_entry *entries;
    const pf_print_piece *pieces;
    uint32_t n_pieces;
} pf_print;

/* Compiles f->shown.print_fmt.  *out is NULL if it cannot be evaluated.  PERFILE_E_NOMEM,
 * PERFILE_E_LIMIT. */
perfile_status pf_print_compile(const pf_trace_format *f, pf_arena *arena, const pf_print **out,
                                perfile_error *err);

/* Splits the format string into pieces, which need one or two arguments each.  Their text is
 * written to `texts`, which has room for the format string.  Returns the number of pieces, or -1 if
 * there are more than `room` or one cannot be printed. */
int pf_print_split(perfile_bytes format, unsigned long_size, uint8_t *texts, pf_print_piece *pieces,
                   int room);

/* The result of an expression. */
enum { /* pf_print_value.what */
       PF_VALUE_NUMBER,
       PF_VALUE_TEXT,  /* `bytes`, up to the first NUL */
       PF_VALUE_FIELD, /* `bytes` of `field`; also `number` if it is one */
       PF_VALUE_BYTES,
       PF_VALUE_FLAGS, /* `number`, printed with the table of `step` */
       PF_VALUE_SYMBOL,
       PF_VALUE_HEX,
       PF_VALUE_HEX_STR,
       PF_VALUE_ARRAY, /* `bytes`, as items of `element` bytes */
       PF_VALUE_BITMASK
};
typedef struct pf_print_value {
    uint8_t what;
    bool is_signed;
    uint8_t element;
    uint64_t number;
    perfile_bytes bytes;
    const perfile_tracepoint_field *field;
    const pf_print_step *step;
} pf_print_value;

/* Evaluates steps.  Data that is not in the payload is 0 or empty. */
pf_print_value pf_print_evaluate(const pf_trace_format *f, const pf_print_step *steps, uint32_t n,
                                 perfile_bytes payload);

/* The output buffer: `len` of `most` bytes are used.  Text beyond that is dropped. */
typedef struct pf_print_out {
    uint8_t *to;
    size_t len, most;
} pf_print_out;

void pf_print_bytes(pf_print_out *out, const void *bytes, size_t n);
void pf_print_number(pf_print_out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints a value with a conversion %pI4, %pI6c, %pISpc, %pM, %pU.  Returns false if `piece` is a
 * different one. */
bool pf_print_address(pf_print_out *out, const pf_print_piece *piece, const pf_print_value *value);

/* Compiles the print fmt, the first time only. */
void pf_trace_compile(const pf_trace_format *f);

/* Does the work of perfile_tracepoint_print().  `to` has PF_PRINT_MOST bytes; no NUL is
 * appended. */
size_t pf_trace_print(const pf_trace_format *f, perfile_bytes payload,
                      perfile_tracepoint_symbol_fn *symbol, void *user, uint8_t *to);

#endif
