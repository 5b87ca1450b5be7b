/* The damages, one after the other, in the file itself; those that the sample has are read. */
#include "every.h"

#include <stdio.h>
#include <unistd.h>

static void put(const every_target *t, size_t at, uint8_t byte)
{
    if (pwrite(t->fd, &byte, 1, (off_t)at) != 1)
        abort();
}

static void damaged(const every_target *t, every_progress *p)
{
    uint64_t n = p->damages++;
    if ((n + t->seed) % t->step != 0)
        return;
    p->read++;
    every_reading(t, n, t->step == 1, p);
}

static void prefixes(const every_target *t, every_progress *p)
{
    if (ftruncate(t->fd, 0) != 0)
        abort();
    for (size_t n = 0; n < t->whole.len; n++) {
        snprintf(p->damage, sizeof p->damage, "the first %zu bytes", n);
        damaged(t, p);
        put(t, n, t->whole.ptr[n]);
    }
}

/* Values that a byte gets: two that lengths, counts and types do not have, and each of its bits
 * flipped. */
enum { VALUES = 10 };

static bool was_before(const uint8_t *bad, size_t n, uint8_t good)
{
    for (size_t i = 0; i < n; i++)
        if (bad[i] == bad[n])
            return true;
    return bad[n] == good;
}

static void bytes(const every_target *t, every_progress *p)
{
    for (size_t at = 0; at < t->whole.len; at++) {
        const uint8_t good = t->whole.ptr[at];
        uint8_t bad[VALUES] = {0, 0xff};
        for (size_t i = 0; i < VALUES; i++) {
            if (i >= 2)
                bad[i] = good ^ (uint8_t)(1U << (i - 2));
            if (was_before(bad, i, good)) {
                p->same++;
                continue;
            }
            snprintf(p->damage, sizeof p->damage, "byte %zu is %02x", at, bad[i]);
            put(t, at, bad[i]);
            damaged(t, p);
        }
        put(t, at, good);
    }
}

uint64_t every_damages(size_t len)
{
    return (1 + VALUES) * (uint64_t)len;
}

void every_damage(const every_target *target, every_progress *p)
{
    prefixes(target, p);
    bytes(target, p);
}
