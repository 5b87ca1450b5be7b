/* Ids of content. format/tables.md defines the hashed bytes and has test vectors. */
#include "tables/tables.h"

#include <stdio.h>
#include <string.h>

#include "base/byte_order.h"
#include "io/source.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define ID_SEED UINT64_C(0x656c6966726570) /* "perfile", in little-endian order */

enum { PIECE = 1 << 20 };

/* The first hashed byte: the property that identifies a module. */
enum { BY_BUILD_ID = 1, BY_PATH = 2 };

static int64_t signed_id(XXH64_hash_t hash)
{
    int64_t id;
    memcpy(&id, &hash, sizeof id);
    return id;
}

/* Initializes the members of a state that a reset reads. */
static void clear(XXH3_state_t *state)
{
    state->seed = 0;
    state->extSecret = NULL;
}

int64_t pf_id_of_module(perfile_bytes build_id, const char *path)
{
    XXH3_state_t state;
    const uint8_t by = build_id.len ? BY_BUILD_ID : BY_PATH;
    const perfile_bytes what =
        build_id.len ? build_id : (perfile_bytes){(const uint8_t *)path, strlen(path)};
    clear(&state);
    XXH3_64bits_reset_withSeed(&state, ID_SEED);
    XXH3_64bits_update(&state, &by, 1);
    XXH3_64bits_update(&state, what.ptr, what.len);
    return signed_id(XXH3_64bits_digest(&state));
}

int64_t pf_id_of_frame(int64_t module, uint64_t offset, unsigned mode, unsigned inlined,
                       const char *function)
{
    uint8_t key[20];
    pf_store_u64(key, (uint64_t)module, PF_NATIVE_BIG);
    pf_store_u64(key + 8, offset, PF_NATIVE_BIG);
    pf_store_u16(key + 16, (uint16_t)mode, PF_NATIVE_BIG);
    pf_store_u16(key + 18, (uint16_t)inlined, PF_NATIVE_BIG);
    if (!function)
        return signed_id(XXH3_64bits_withSeed(key, sizeof key, ID_SEED));
    XXH3_state_t state;
    clear(&state);
    XXH3_64bits_reset_withSeed(&state, ID_SEED);
    XXH3_64bits_update(&state, key, sizeof key);
    XXH3_64bits_update(&state, function, strlen(function));
    return signed_id(XXH3_64bits_digest(&state));
}

int64_t pf_id_of_stack(int64_t callers, int64_t frame)
{
    uint8_t key[16];
    pf_store_u64(key, (uint64_t)callers, PF_NATIVE_BIG);
    pf_store_u64(key + 8, (uint64_t)frame, PF_NATIVE_BIG);
    return signed_id(XXH3_64bits_withSeed(key, sizeof key, ID_SEED));
}

/* Adds the bytes of a file. */
static perfile_status add_file(XXH3_state_t *state, perfile_source *source, perfile_error *err)
{
    perfile_bytes piece;
    perfile_status st;
    uint64_t at = 0;
    do {
        st = pf_source_run(source, at, 1, &piece, err);
        if (st == PERFILE_OK)
            XXH3_128bits_update(state, piece.ptr, piece.len);
        at += st == PERFILE_OK ? piece.len : 0;
        if (st == PERFILE_OK && at > PIECE)
            pf_source_release(source, at - PIECE, PIECE);
    } while (st == PERFILE_OK && piece.len);
    return st;
}

/* Adds the names and bytes of all files of a directory. */
static perfile_status add_directory(XXH3_state_t *state, perfile_source *source, perfile_error *err)
{
    char **names = NULL;
    size_t n = 0;
    perfile_status st = pf_source_list(source, "", &names, &n, err);
    for (size_t i = 0; st == PERFILE_OK && i < n; i++) {
        perfile_source *file;
        XXH3_128bits_update(state, names[i], strlen(names[i]) + 1);
        st = pf_source_entry(source, names[i], &file, err);
        if (st != PERFILE_OK)
            break;
        st = add_file(state, file, err);
        perfile_source_close(file);
    }
    pf_free(names);
    return st;
}

perfile_status pf_id_of_source(perfile_source *source, char hex[33], perfile_error *err)
{
    XXH3_state_t state;
    clear(&state);
    XXH3_128bits_reset_withSeed(&state, ID_SEED);
    const perfile_status st = pf_source_has_entries(source) ? add_directory(&state, source, err)
                                                            : add_file(&state, source, err);
    if (st != PERFILE_OK)
        return st;
    XXH128_canonical_t bytes;
    XXH128_canonicalFromHash(&bytes, XXH3_128bits_digest(&state));
    for (size_t i = 0; i < sizeof bytes.digest; i++)
        snprintf(hex + 2 * i, 3, "%02x", bytes.digest[i]);
    return PERFILE_OK;
}
