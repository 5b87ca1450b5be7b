/* perfile_name(), perfile_row(), perfile_summary(): the numbers, tables and objects of all rooms by
 * one function each. */
#include "arrow/command.h"
#include "base/command.h"
#include "check/command.h"
#include "core/command.h"
#include "emit/command.h"
#include "filter/command.h"
#include "io/command.h"
#include "lib/command.h"
#include "report/command.h"
#include "ring/command.h"
#include "schema/command.h"
#include "sort/command.h"
#include "symbol/command.h"
#include "transform/command.h"

#include <string.h>

const char *perfile_name(uint32_t of, uint64_t number)
{
    const uint32_t n =
        number > UINT32_MAX && of != PERFILE_NAME_STATUS ? UINT32_MAX : (uint32_t)number;
    switch (of) {
    case PERFILE_NAME_STATUS:
        return pf_status_text((perfile_status)(int32_t)number);
    case PERFILE_NAME_DAMAGE:
        return pf_damage_name(n);
    case PERFILE_NAME_DAMAGE_TEXT:
        return pf_damage_text(n);
    case PERFILE_NAME_SEVERITY:
        return pf_severity_name(n);
    case PERFILE_NAME_RULE_SCOPE:
        return pf_rule_scope_name(n);
    case PERFILE_NAME_NOTE:
        return pf_note_name(n);
    case PERFILE_NAME_COLUMN_TYPE:
        return pf_column_type_name(n);
    case PERFILE_NAME_FEATURE:
        return pf_feature_name(n);
    case PERFILE_NAME_RECORD_TYPE:
        return pf_record_type_name(n);
    case PERFILE_NAME_TYPE:
        return pf_type_name((unsigned)(number >> 32), (uint32_t)number);
    case PERFILE_NAME_KIND:
        return pf_kind_name(n);
    case PERFILE_NAME_KIND_DOC:
        return pf_kind_doc(n);
    case PERFILE_NAME_SYMBOL_REASON:
        return pf_symbol_reason_text(n);
    case PERFILE_NAME_SYMBOL_ORIGIN:
        return pf_symbol_origin_text(n);
    case PERFILE_NAME_VERSION:
        return pf_version();
    default:
        return NULL;
    }
}

/* Copies the pointer to a static row; returns false if it is NULL. */
static bool give(const void *row, void *out, size_t size)
{
    memset(out, 0, size);
    memcpy(out, &row, size < sizeof row ? size : sizeof row);
    return row;
}

bool perfile_row(uint32_t of, uint64_t key, size_t position, void *out, size_t size)
{
    const uint32_t k = key > UINT32_MAX ? UINT32_MAX : (uint32_t)key;
    unsigned base;
    switch (of) {
    case PERFILE_ROW_FAMILY:
        return pf_family_at(position, out, size);
    case PERFILE_ROW_RECORD_TYPE:
        return pf_record_type_at(k, position, out, size);
    case PERFILE_ROW_FEATURE_TYPE:
        return pf_feature_type_at(position, out, size);
    case PERFILE_ROW_TABLE:
        return pf_describe_table(position, out, size);
    case PERFILE_ROW_COLUMN:
        return key > SIZE_MAX ? false : pf_describe_column((size_t)key, position, out, size);
    case PERFILE_ROW_VERDICT:
        return pf_rule_verdict_at(k, position, out, size);
    case PERFILE_ROW_OUTPUT:
        return give(pf_output_at(position), out, size);
    case PERFILE_ROW_RULE_AT:
        return give(pf_rule_at(position), out, size);
    case PERFILE_ROW_RULE:
        return give(pf_rule_of(k), out, size);
    case PERFILE_ROW_KIND_WORDS:
        return give(pf_kind_words(k), out, size);
    case PERFILE_ROW_KIND_BASE:
        base = pf_kind_base(k);
        memset(out, 0, size);
        memcpy(out, &base, size < sizeof base ? size : sizeof base);
        return true;
    case PERFILE_ROW_FORMAT:
        return pf_format_at(key, position, out, size);
    case PERFILE_ROW_STRUCT:
        return give(pf_struct_at(position), out, size);
    default:
        return false;
    }
}

void perfile_summary(uint32_t of, const void *object, void *out, size_t size)
{
    switch (of) {
    case PERFILE_SUMMARY_STREAM:
        pf_stream_get_summary(object, out, size);
        return;
    case PERFILE_SUMMARY_SORT:
        pf_sort_get_summary(object, out, size);
        return;
    case PERFILE_SUMMARY_MERGE:
        pf_merge_get_summary(object, out, size);
        return;
    case PERFILE_SUMMARY_TARGET:
        pf_target_get_summary(object, out, size);
        return;
    case PERFILE_SUMMARY_SCRUB:
        pf_scrub_get_summary(object, out, size);
        return;
    case PERFILE_SUMMARY_FILTER:
        pf_filter_get_summary(object, out, size);
        return;
    case PERFILE_SUMMARY_EMITTER:
        pf_emitter_get_summary(object, out, size);
        return;
    case PERFILE_SUMMARY_PROFILE:
        pf_profile_get_summary(object, out, size);
        return;
    case PERFILE_SUMMARY_RING:
        pf_ring_get_summary(object, out, size);
        return;
    case PERFILE_SUMMARY_SINK:
        pf_sink_get_summary(object, out, size);
        return;
    case PERFILE_SUMMARY_WRITER:
        pf_writer_get_summary(object, out, size);
        return;
    case PERFILE_SUMMARY_PASSES:
        pf_filter_get_passes(object, out, size);
        return;
    default:
        memset(out, 0, size);
    }
}
