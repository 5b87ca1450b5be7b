/* CRC-32 by eight tables ("slicing by eight"): eight input bytes per step.
 *
 * CRC is linear, so that the table entry of a byte is the xor of the entries of its bits.  Only
 * these eight numbers per table are written out; the preprocessor makes the 256 entries. */
#include "base/crc32.h"

#include "base/byte_order.h"

/* Entry `i`: the xor of a to h for the bits 0 to 7 that are set in `i`. */
#define XOR_OF_BITS(i, a, b, c, d, e, f, g, h)                                                     \
    ((i)&1 ? a : 0) ^ ((i)&2 ? b : 0) ^ ((i)&4 ? c : 0) ^ ((i)&8 ? d : 0) ^ ((i)&16 ? e : 0) ^     \
        ((i)&32 ? f : 0) ^ ((i)&64 ? g : 0) ^ ((i)&128 ? h : 0)
#define ENTRIES_4(i, ...)                                                                          \
    XOR_OF_BITS(i, __VA_ARGS__), XOR_OF_BITS((i) + 1, __VA_ARGS__),                                \
        XOR_OF_BITS((i) + 2, __VA_ARGS__), XOR_OF_BITS((i) + 3, __VA_ARGS__)
#define ENTRIES_16(i, ...)                                                                         \
    ENTRIES_4(i, __VA_ARGS__), ENTRIES_4((i) + 4, __VA_ARGS__), ENTRIES_4((i) + 8, __VA_ARGS__),   \
        ENTRIES_4((i) + 12, __VA_ARGS__)
#define ENTRIES_64(i, ...)                                                                         \
    ENTRIES_16(i, __VA_ARGS__), ENTRIES_16((i) + 16, __VA_ARGS__),                                 \
        ENTRIES_16((i) + 32, __VA_ARGS__), ENTRIES_16((i) + 48, __VA_ARGS__)
#define TABLE(...)                                                                                 \
    {                                                                                              \
        ENTRIES_64(0, __VA_ARGS__), ENTRIES_64(64, __VA_ARGS__), ENTRIES_64(128, __VA_ARGS__),     \
            ENTRIES_64(192, __VA_ARGS__)                                                           \
    }

/* tables[n][b]: the CRC remainder of byte b followed by n zero bytes. */
static const uint32_t tables[8][256] = {
    TABLE(0x77073096U, 0xee0e612cU, 0x076dc419U, 0x0edb8832U, 0x1db71064U, 0x3b6e20c8U, 0x76dc4190U,
          0xedb88320U),
    TABLE(0x191b3141U, 0x32366282U, 0x646cc504U, 0xc8d98a08U, 0x4ac21251U, 0x958424a2U, 0xf0794f05U,
          0x3b83984bU),
    TABLE(0x01c26a37U, 0x0384d46eU, 0x0709a8dcU, 0x0e1351b8U, 0x1c26a370U, 0x384d46e0U, 0x709a8dc0U,
          0xe1351b80U),
    TABLE(0xb8bc6765U, 0xaa09c88bU, 0x8f629757U, 0xc5b428efU, 0x5019579fU, 0xa032af3eU, 0x9b14583dU,
          0xed59b63bU),
    TABLE(0x3d6029b0U, 0x7ac05360U, 0xf580a6c0U, 0x30704bc1U, 0x60e09782U, 0xc1c12f04U, 0x58f35849U,
          0xb1e6b092U),
    TABLE(0xcb5cd3a5U, 0x4dc8a10bU, 0x9b914216U, 0xec53826dU, 0x03d6029bU, 0x07ac0536U, 0x0f580a6cU,
          0x1eb014d8U),
    TABLE(0xa6770bb4U, 0x979f1129U, 0xf44f2413U, 0x33ef4e67U, 0x67de9cceU, 0xcfbd399cU, 0x440b7579U,
          0x8816eaf2U),
    TABLE(0xccaa009eU, 0x4225077dU, 0x844a0efaU, 0xd3e51bb5U, 0x7cbb312bU, 0xf9766256U, 0x299dc2edU,
          0x533b85daU),
};

/* Advances the (inverted) CRC by one byte. */
static uint32_t step(uint32_t crc, uint8_t byte)
{
    return crc >> 8 ^ tables[0][(crc ^ byte) & 0xff];
}

uint32_t pf_crc32(uint32_t crc, perfile_bytes bytes)
{
    const uint8_t *p = bytes.ptr;
    size_t n = bytes.len;
    crc = ~crc;
    /* Eight bytes at a time: byte k has 7 - k bytes behind it, which selects its table. */
    for (; n >= 8; n -= 8, p += 8) {
        uint32_t a = pf_load_u32(p, PF_NATIVE_BIG) ^ crc;
        uint32_t b = pf_load_u32(p + 4, PF_NATIVE_BIG);
        crc = tables[7][a & 0xff] ^ tables[6][a >> 8 & 0xff] ^ tables[5][a >> 16 & 0xff] ^
              tables[4][a >> 24] ^ tables[3][b & 0xff] ^ tables[2][b >> 8 & 0xff] ^
              tables[1][b >> 16 & 0xff] ^ tables[0][b >> 24];
    }
    for (; n > 0; n--, p++)
        crc = step(crc, *p);
    return ~crc;
}
