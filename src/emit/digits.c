#include "emit/digits.h"

#define DEC_ROW(t) t "0" t "1" t "2" t "3" t "4" t "5" t "6" t "7" t "8" t "9"
#define HEX_ROW(t) DEC_ROW(t) t "a" t "b" t "c" t "d" t "e" t "f"
#define DEC_ROWS(row)                                                                              \
    row("0") row("1") row("2") row("3") row("4") row("5") row("6") row("7") row("8") row("9")

/* No room for a NUL: these are not strings. */
const char pf_dec_pairs[200] = DEC_ROWS(DEC_ROW);
const char pf_hex_pairs[512] =
    DEC_ROWS(HEX_ROW) HEX_ROW("a") HEX_ROW("b") HEX_ROW("c") HEX_ROW("d") HEX_ROW("e") HEX_ROW("f");

const uint64_t pf_dec_powers[PF_DEC_MAX] = {
    1U,
    10U,
    100U,
    1000U,
    10000U,
    100000U,
    1000000U,
    10000000U,
    100000000U,
    1000000000U,
    UINT64_C(10000000000),
    UINT64_C(100000000000),
    UINT64_C(1000000000000),
    UINT64_C(10000000000000),
    UINT64_C(100000000000000),
    UINT64_C(1000000000000000),
    UINT64_C(10000000000000000),
    UINT64_C(100000000000000000),
    UINT64_C(1000000000000000000),
    UINT64_C(10000000000000000000),
};
