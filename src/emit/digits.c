/* Tables and the slow case of digits.h. */
#include "emit/digits.h"

#define DEC_ROW(t) t "0" t "1" t "2" t "3" t "4" t "5" t "6" t "7" t "8" t "9"
#define HEX_ROW(t) DEC_ROW(t) t "a" t "b" t "c" t "d" t "e" t "f"
#define DEC_ROWS(row)                                                                              \
    row("0") row("1") row("2") row("3") row("4") row("5") row("6") row("7") row("8") row("9")

/* Exactly as long as their characters, without a NUL: these are no strings. */
const char pf_dec_pairs[200] = DEC_ROWS(DEC_ROW);
const char pf_hex_pairs[512] =
    DEC_ROWS(HEX_ROW) HEX_ROW("a") HEX_ROW("b") HEX_ROW("c") HEX_ROW("d") HEX_ROW("e") HEX_ROW("f");

/* Splits the number into groups of 8 digits. */
uint8_t *pf_put_dec_long(uint8_t *at, uint64_t v)
{
    enum { EIGHT = 100000000 };
    uint64_t upper = v / EIGHT;
    if (upper < EIGHT) {
        at = pf_put_dec_up_to_8(at, (uint32_t)upper);
    } else {
        at = pf_put_dec_up_to_8(at, (uint32_t)(upper / EIGHT));
        at = pf_put_dec_8(at, (uint32_t)(upper % EIGHT));
    }
    return pf_put_dec_8(at, (uint32_t)(v % EIGHT));
}
