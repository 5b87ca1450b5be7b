/* CRC-32 and CRC-32C with eight tables ("slicing by eight"), eight input bytes per step; CRC-32C
 * also with the CPU's instruction.
 *
 * CRC is linear, so the table entry of a byte is the xor of the entries of its bits.  Only these
 * eight numbers per table are written here; the preprocessor makes the 256 entries. */
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

/* ieee[n][b]: the CRC remainder of byte b followed by n zero bytes. */
static const uint32_t ieee[8][256] = {
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

static uint32_t by_tables(const uint32_t tables[8][256], uint32_t crc, perfile_bytes bytes)
{
    const uint8_t *p = bytes.ptr;
    size_t n = bytes.len;
    crc = ~crc;
    /* Eight bytes at a time.  Byte k is followed by 7 - k bytes, which selects its table. */
    for (; n >= 8; n -= 8, p += 8) {
        uint32_t a = pf_load_u32(p, PF_NATIVE_BIG) ^ crc;
        uint32_t b = pf_load_u32(p + 4, PF_NATIVE_BIG);
        crc = tables[7][a & 0xff] ^ tables[6][a >> 8 & 0xff] ^ tables[5][a >> 16 & 0xff] ^
              tables[4][a >> 24] ^ tables[3][b & 0xff] ^ tables[2][b >> 8 & 0xff] ^
              tables[1][b >> 16 & 0xff] ^ tables[0][b >> 24];
    }
    for (; n > 0; n--, p++)
        crc = crc >> 8 ^ tables[0][(crc ^ *p) & 0xff];
    return ~crc;
}

uint32_t pf_crc32(uint32_t crc, perfile_bytes bytes)
{
    return by_tables(ieee, crc, bytes);
}

/* CRC-32C: with the CPU's instruction if there is one, otherwise with the tables.
 *
 * The instruction has a latency of three cycles, but one can start in each cycle.  So three lanes
 * of LANE bytes are summed in parallel, and their sums are joined: CRC is linear, and a table gives
 * the effect of LANE further bytes on a sum.  This matters because the decoded bytes of an archive
 * are summed, too: with a single lane that took a sixth of the time of unpacking. */

#if defined(__x86_64__) && defined(__GNUC__)
#include <nmmintrin.h>
#define HAS_INSTRUCTION __builtin_cpu_supports("sse4.2")
#define TARGET          __attribute__((target("sse4.2")))
#define STEP_8(crc, v)  ((uint32_t)_mm_crc32_u64(crc, v))
#define STEP_1(crc, v)  _mm_crc32_u8(crc, v)
#elif defined(__aarch64__) && defined(__linux__) && defined(__GNUC__)
#include <arm_acle.h>
#include <sys/auxv.h>
#define AUXV_CRC32      (1UL << 7) /* HWCAP_CRC32 of the kernel */
#define HAS_INSTRUCTION (getauxval(AT_HWCAP) & AUXV_CRC32)
#define TARGET          __attribute__((target("+crc")))
#define STEP_8(crc, v)  __crc32cd(crc, v)
#define STEP_1(crc, v)  __crc32cb(crc, v)
#endif

/* Like `ieee`, for CRC-32C. */
static const uint32_t castagnoli[8][256] = {
    TABLE(0xf26b8303U, 0xe13b70f7U, 0xc79a971fU, 0x8ad958cfU, 0x105ec76fU, 0x20bd8edeU, 0x417b1dbcU,
          0x82f63b78U),
    TABLE(0x13a29877U, 0x274530eeU, 0x4e8a61dcU, 0x9d14c3b8U, 0x3fc5f181U, 0x7f8be302U, 0xff17c604U,
          0xfbc3faf9U),
    TABLE(0xa541927eU, 0x4f6f520dU, 0x9edea41aU, 0x38513ec5U, 0x70a27d8aU, 0xe144fb14U, 0xc76580d9U,
          0x8b277743U),
    TABLE(0xdd45aab8U, 0xbf672381U, 0x7b2231f3U, 0xf64463e6U, 0xe964b13dU, 0xd725148bU, 0xaba65fe7U,
          0x52a0c93fU),
    TABLE(0x38116facU, 0x7022df58U, 0xe045beb0U, 0xc5670b91U, 0x8f2261d3U, 0x1ba8b557U, 0x37516aaeU,
          0x6ea2d55cU),
    TABLE(0xef306b19U, 0xdb8ca0c3U, 0xb2f53777U, 0x6006181fU, 0xc00c303eU, 0x85f4168dU, 0x0e045bebU,
          0x1c08b7d6U),
    TABLE(0x68032cc8U, 0xd0065990U, 0xa5e0c5d1U, 0x4e2dfd53U, 0x9c5bfaa6U, 0x3d5b83bdU, 0x7ab7077aU,
          0xf56e0ef4U),
    TABLE(0x493c7d27U, 0x9278fa4eU, 0x211d826dU, 0x423b04daU, 0x847609b4U, 0x0d006599U, 0x1a00cb32U,
          0x34019664U),
};

uint32_t pf_crc32c_by_tables(uint32_t crc, perfile_bytes bytes)
{
    return by_tables(castagnoli, crc, bytes);
}

#ifdef HAS_INSTRUCTION
enum { LANE = 4096 };

/* behind_lane[k][b]: the sum after LANE zero bytes, if byte k of the sum was b and all others were
 * 0. */
static const uint32_t behind_lane[4][256] = {
    TABLE(0xc2a5b65eU, 0x80a71a4dU, 0x04a2426bU, 0x094484d6U, 0x128909acU, 0x25121358U, 0x4a2426b0U,
          0x94484d60U),
    TABLE(0x2d7cec31U, 0x5af9d862U, 0xb5f3b0c4U, 0x6e0b1779U, 0xdc162ef2U, 0xbdc02b15U, 0x7e6c20dbU,
          0xfcd841b6U),
    TABLE(0xfc5cf59dU, 0xfd559dcbU, 0xff474d67U, 0xfb62ec3fU, 0xf329ae8fU, 0xe3bf2befU, 0xc292212fU,
          0x80c834afU),
    TABLE(0x047c1fafU, 0x08f83f5eU, 0x11f07ebcU, 0x23e0fd78U, 0x47c1faf0U, 0x8f83f5e0U, 0x1aeb9d31U,
          0x35d73a62U),
};

static uint32_t pass_lane(uint32_t crc)
{
    return behind_lane[0][crc & 0xff] ^ behind_lane[1][crc >> 8 & 0xff] ^
           behind_lane[2][crc >> 16 & 0xff] ^ behind_lane[3][crc >> 24];
}

TARGET static uint32_t by_instruction(uint32_t crc, perfile_bytes bytes)
{
    const uint8_t *p = bytes.ptr;
    size_t n = bytes.len;
    crc = ~crc;
    for (; n >= 3 * LANE; n -= 3 * LANE, p += 3 * LANE) {
        uint32_t second = 0, third = 0;
        for (size_t i = 0; i < LANE; i += 8) {
            crc = STEP_8(crc, pf_load_u64(p + i, PF_NATIVE_BIG));
            second = STEP_8(second, pf_load_u64(p + LANE + i, PF_NATIVE_BIG));
            third = STEP_8(third, pf_load_u64(p + 2 * LANE + i, PF_NATIVE_BIG));
        }
        crc = pass_lane(pass_lane(crc) ^ second) ^ third;
    }
    for (; n >= 8; n -= 8, p += 8)
        crc = STEP_8(crc, pf_load_u64(p, PF_NATIVE_BIG));
    for (; n > 0; n--, p++)
        crc = STEP_1(crc, *p);
    return ~crc;
}
#endif

uint32_t pf_crc32c(uint32_t crc, perfile_bytes bytes)
{
#ifdef HAS_INSTRUCTION
    if (HAS_INSTRUCTION)
        return by_instruction(crc, bytes);
#endif
    return pf_crc32c_by_tables(crc, bytes);
}
