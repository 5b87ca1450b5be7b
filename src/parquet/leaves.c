/* The leaves of a table (leaves.h). */
#include "parquet/leaves.h"

unsigned pf_physical_type(pf_column_type type)
{
    switch (type) {
    case PF_COLUMN_BOOL:
        return PF_PHYSICAL_BOOLEAN;
    case PF_COLUMN_I32:
        return PF_PHYSICAL_INT32;
    case PF_COLUMN_F64:
        return PF_PHYSICAL_DOUBLE;
    case PF_COLUMN_TEXT:
    case PF_COLUMN_TEXTS:
        return PF_PHYSICAL_BYTE_ARRAY;
    case PF_COLUMN_I64:
    case PF_COLUMN_U64:
    case PF_COLUMN_WALL:
    case PF_COLUMN_I64S:
    case PF_COLUMN_GROUP:
    case PF_COLUMN_LIST:
        break;
    }
    return PF_PHYSICAL_INT64;
}

static bool is_structure(pf_column_type type)
{
    return type == PF_COLUMN_GROUP || type == PF_COLUMN_LIST;
}

bool pf_leaves_next(pf_leaves *x, pf_leaf *leaf)
{
    const pf_column_about *columns = x->about->columns;
    while (x->next < x->about->n && is_structure(columns[x->next].type))
        x->parent = x->next++;
    if (x->next == x->about->n)
        return false;
    const pf_column_about *c = &columns[x->next];
    *leaf = (pf_leaf){.column = x->next++, .parent = PF_NO_PARENT, .max_def = 1};
    if (c->is_member) {
        leaf->parent = x->parent;
        leaf->max_rep = columns[x->parent].type == PF_COLUMN_LIST;
        leaf->max_def = leaf->max_rep ? 4 : 2;
    } else if (c->type == PF_COLUMN_TEXTS || c->type == PF_COLUMN_I64S) {
        leaf->max_rep = 1;
        leaf->max_def = 3;
    }
    return true;
}
