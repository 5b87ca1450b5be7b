#include "stage/time_key.h"

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
