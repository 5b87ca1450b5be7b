#include "stage/sort_key.h"

#include "base/order.h"

bool pf_sort_is_fact(uint32_t type)
{
    switch (type) {
    case PERFILE_RECORD_HEADER_ATTR:
    case PERFILE_RECORD_HEADER_EVENT_TYPE:
    case PERFILE_RECORD_HEADER_TRACING_DATA:
    case PERFILE_RECORD_HEADER_BUILD_ID:
    case PERFILE_RECORD_HEADER_FEATURE:
    case PERFILE_RECORD_ID_INDEX:
    case PERFILE_RECORD_AUXTRACE_INFO:
    case PERFILE_RECORD_THREAD_MAP:
    case PERFILE_RECORD_CPU_MAP:
    case PERFILE_RECORD_STAT_CONFIG:
    case PERFILE_RECORD_EVENT_UPDATE:
    case PERFILE_RECORD_TIME_CONV:
    case PERFILE_RECORD_SIMPLEPERF_EVENT_ID:
    case PERFILE_RECORD_SIMPLEPERF_TRACING_DATA:
        return true;
    default:
        return false;
    }
}

uint64_t pf_sort_key_of_piece(pf_sort_clock *c, const perfile_record *first)
{
    enum { HEADER = 8 };
    const bool swap = first->flags & PERFILE_REC_SWAPPED;
    perfile_record whole = *first;
    if (first->body.len < HEADER || pf_load_u32(first->body.ptr, swap) != PERFILE_RECORD_SAMPLE)
        return c->top;
    whole.header = first->body.ptr;
    whole.body = (perfile_bytes){first->body.ptr + HEADER, first->body.len - HEADER};
    whole.type = PERFILE_RECORD_SAMPLE;
    whole.misc = pf_load_u16(first->body.ptr + 4, swap);
    return pf_sort_key(c, &whole);
}
