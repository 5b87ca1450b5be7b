/* Printing of network addresses (%pI4, %pI6, %pI6c, %pIS), hardware addresses (%pM) and UUIDs (%pU)
 * in a print fmt.  Source: Documentation/core-api/printk-formats.rst of the kernel. */
#include <string.h>

#include "trace/print.h"

static void put_text(pf_print_out *out, const char *text)
{
    pf_print_bytes(out, text, strlen(text));
}

static void put_v4(pf_print_out *out, bool padded, const uint8_t *b)
{
    pf_print_number(out, padded ? "%03d.%03d.%03d.%03d" : "%d.%d.%d.%d", b[0], b[1], b[2], b[3]);
}

static void put_v6(pf_print_out *out, bool colons, const uint8_t *b)
{
    for (int i = 0; i < 16; i += 2)
        pf_print_number(out, i && colons ? ":%02x%02x" : "%02x%02x", b[i], b[i + 1]);
}

/* Finds the longest run of at least two zero words.  Returns where it begins and sets its length;
 * length 0: none. */
static int zero_words(const uint8_t *b, int n, int *length)
{
    int best = 0;
    *length = 0;
    for (int i = 0; i < n; i++) {
        int run = 0;
        while (i + run < n && !b[2 * (i + run)] && !b[2 * (i + run) + 1])
            run++;
        if (run > 1 && run > *length) {
            best = i;
            *length = run;
        }
        i += run;
    }
    return best;
}

/* Writes the short form: a run of zeros becomes "::", and an embedded IPv4 address is written in
 * dotted form. */
static void put_v6_short(pf_print_out *out, const uint8_t *b)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    static const uint8_t isatap[2] = {0x5e, 0xfe};
    const bool has_v4 = memcmp(b, mapped, sizeof mapped) == 0 ||
                        ((b[8] & 0xfd) == 0 && b[9] == 0 && memcmp(b + 10, isatap, 2) == 0);
    const int n = has_v4 ? 6 : 8;
    int length;
    const int zeros = zero_words(b, n, &length);
    bool colon = false;
    for (int i = 0; i < n; i++) {
        if (length && i == zeros) {
            put_text(out, colon || !i ? "::" : ":");
            colon = false;
            i += length - 1;
            continue;
        }
        if (colon)
            put_text(out, ":");
        pf_print_number(out, "%x", (unsigned)(b[2 * i] << 8 | b[2 * i + 1]));
        colon = true;
    }
    if (has_v4) {
        put_text(out, colon ? ":" : "");
        put_v4(out, false, b + 12);
    }
}

/* Writes a socket address of the kernel: family, port and address. */
static void put_socket(pf_print_out *out, const char *kind, perfile_bytes b)
{
    enum { V4 = 2, V6 = 10, V4_BYTES = 8, V6_BYTES = 24 };
    const bool port = strchr(kind, 'p') != NULL, brief = strchr(kind, 'c') != NULL;
    const unsigned family = b.len < 2 ? 0 : b.ptr[0] ? b.ptr[0] : b.ptr[1];
    if (family == V4 && b.len >= V4_BYTES) {
        put_v4(out, false, b.ptr + 4);
    } else if (family == V6 && b.len >= V6_BYTES) {
        put_text(out, port ? "[" : "");
        if (brief)
            put_v6_short(out, b.ptr + 8);
        else
            put_v6(out, true, b.ptr + 8);
        put_text(out, port ? "]" : "");
    } else {
        put_text(out, family == V4 ? "INVALIDIPv4" : family == V6 ? "INVALIDIPv6" : "");
        return;
    }
    if (port)
        pf_print_number(out, ":%u", (unsigned)(b.ptr[2] << 8 | b.ptr[3]));
}

static void put_ip(pf_print_out *out, const char *kind, perfile_bytes b)
{
    if (kind[1] == 'S') {
        put_socket(out, kind + 2, b);
    } else if (kind[1] == '4') {
        if (b.len == 4)
            put_v4(out, kind[0] == 'i', b.ptr);
        else
            put_text(out, "INVALIDIPv4");
    } else if (b.len != 16) {
        put_text(out, "INVALIDIPv6");
    } else if (kind[2] == 'c') {
        put_v6_short(out, b.ptr);
    } else {
        put_v6(out, kind[0] == 'I', b.ptr);
    }
}

static void put_mac(pf_print_out *out, bool colons, perfile_bytes b)
{
    if (b.len != 6) {
        put_text(out, "INVALIDMAC");
        return;
    }
    for (int i = 0; i < 6; i++)
        pf_print_number(out, i && colons ? ":%02x" : "%02x", b.ptr[i]);
}

static void put_uuid(pf_print_out *out, const char *kind, perfile_bytes b)
{
    static const uint8_t little[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    const bool swapped = kind[1] == 'l' || kind[1] == 'L';
    const bool upper = kind[1] == 'B' || kind[1] == 'L';
    if (b.len != 16) {
        put_text(out, "INVALIDUUID");
        return;
    }
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            put_text(out, "-");
        pf_print_number(out, upper ? "%02X" : "%02x", b.ptr[swapped ? little[i] : i]);
    }
}

bool pf_print_address(pf_print_out *out, const pf_print_piece *p, const pf_print_value *v)
{
    char kind[sizeof p->pointer + 1] = "";
    if (!p->pointer[0] || !strchr("IiMmU", p->pointer[0]))
        return false;
    memcpy(kind, p->pointer, sizeof p->pointer);
    if (v->what != PF_VALUE_FIELD && v->what != PF_VALUE_BYTES)
        return false;
    if (kind[0] == 'U')
        put_uuid(out, kind, v->bytes);
    else if (kind[0] == 'M' || kind[0] == 'm')
        put_mac(out, kind[0] == 'M', v->bytes);
    else
        put_ip(out, kind, v->bytes);
    return true;
}
