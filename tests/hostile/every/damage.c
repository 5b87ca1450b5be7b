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
    every_reading(t, n, p);
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

static void bytes(const every_target *t, every_progress *p)
{
    for (size_t at = 0; at < t->whole.len; at++) {
        const uint8_t good = t->whole.ptr[at];
        const uint8_t bad[] = {0, 0xff, good ^ 1, good ^ 0x80};
        for (size_t i = 0; i < sizeof bad; i++) {
            if (bad[i] == good) {
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

void every_damage(const every_target *target, every_progress *p)
{
    prefixes(target, p);
    bytes(target, p);
}
