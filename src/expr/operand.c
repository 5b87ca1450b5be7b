/* Deciding what a name in the text is: a field, or a word for a value of the other operand.
 *
 * Words are tried first: in `type == SAMPLE` no field is called SAMPLE, and in `cpumode == USER` a
 * field of that name would make no sense.  An unknown name becomes an error only after that, so
 * that the message can suggest similar words or fields. */
#include "expr/parse.h"
#include "expr/program.h"

bool pf_code_copy_name(pf_compiler *c, const pf_operand *o, char name[PF_EXPR_NAME_BYTES])
{
    if (o->len >= PF_EXPR_NAME_BYTES)
        return pf_code_fail(c, o->at, PERFILE_E_USAGE, "the name is longer than %d bytes",
                            PF_EXPR_NAME_BYTES - 1);
    memcpy(name, c->text + o->at, o->len);
    name[o->len] = 0;
    return true;
}

/* Fails for an unknown name. */
static bool fail_unknown(pf_compiler *c, const pf_operand *o, const char *name)
{
    char what[256];
    const pf_slot *list = o->element ? &c->e->slots[c->list] : NULL;
    if (o->element && o->len == 1)
        return pf_code_fail(c, o->at, PERFILE_E_USAGE,
                            "the elements are groups of fields: name one, as in .from");
    pf_expr_explain_unknown(c->e, name, list, true, what, sizeof what);
    return pf_code_fail(c, o->at, PERFILE_E_USAGE, "%s", what);
}

/* Looks up the name unless that is done.  Returns PERFILE_END, without setting an error, if it is
 * unknown; sets the error for other failures. */
static perfile_status look_up(pf_compiler *c, pf_operand *o)
{
    char name[PF_EXPR_NAME_BYTES];
    pf_slot *slot;
    if (o->slot != PF_NO_SLOT)
        return PERFILE_OK;
    if (!pf_code_copy_name(c, o, name))
        return c->status;
    if (o->element && c->list == PF_NO_SLOT) {
        pf_code_fail(c, o->at, PERFILE_E_USAGE,
                     "%s is a member of list elements: write any(list, %s == …)", name, name);
        return c->status;
    }
    const pf_slot *list = o->element ? &c->e->slots[c->list] : NULL;
    perfile_error err;
    perfile_status st = pf_expr_find(c->e, name + o->element, list, &slot, &err);
    if (st == PERFILE_END)
        return st;
    if (st != PERFILE_OK) {
        pf_code_fail(c, o->at, st, "%s", err.message);
        return st;
    }
    slot->at = o->at;
    slot->len = o->len;
    o->slot = (uint32_t)(slot - c->e->slots);
    return PERFILE_OK;
}

/* The same for a name that must be known now, from a table or the provider. */
static perfile_status look_up_known(pf_compiler *c, pf_operand *o)
{
    const bool allowed = c->e->payload.allowed;
    c->e->payload.allowed = false;
    perfile_status st = look_up(c, o);
    c->e->payload.allowed = allowed;
    return st;
}

bool pf_code_find_stack(pf_compiler *c, pf_operand *o)
{
    char name[PF_EXPR_NAME_BYTES];
    pf_slot *slot;
    perfile_error err;
    if (o->what != PF_IS_NAME || o->slot != PF_NO_SLOT)
        return true;
    if (!pf_code_copy_name(c, o, name))
        return false;
    if (strcmp(name, "callchain") != 0)
        return true;
    perfile_status st = pf_expr_find(c->e, "stack", NULL, &slot, &err);
    if (st < 0)
        return pf_code_fail(c, o->at, st, "%s", err.message);
    /* Without a provider a field that happens to have this name is not what is meant. */
    if (st == PERFILE_END || !slot->provided)
        return pf_code_fail(c, o->at, PERFILE_E_USAGE, "names of functions are not known here");
    slot->at = o->at;
    slot->len = o->len;
    o->slot = (uint32_t)(slot - c->e->slots);
    return true;
}

bool pf_code_find(pf_compiler *c, pf_operand *o)
{
    char name[PF_EXPR_NAME_BYTES];
    perfile_status st = look_up(c, o);
    if (st == PERFILE_END)
        return pf_code_copy_name(c, o, name) &&
               fail_unknown(c, o, name + (o->element && o->len > 1));
    return st == PERFILE_OK;
}

/* Describes the class of a name, for an error. */
const char *pf_code_name_of_class(unsigned classes)
{
    if (classes & PERFILE_EXPR_NUMBER)
        return "a number";
    if (classes & PERFILE_EXPR_TEXT)
        return "text";
    return classes & PERFILE_EXPR_LIST ? "a list: use any(), all() or count()"
                                       : "a group of fields: name one of them";
}

bool pf_code_find_class(pf_compiler *c, pf_operand *o, unsigned class)
{
    char name[PF_EXPR_NAME_BYTES];
    if (!pf_code_find(c, o) || !pf_code_copy_name(c, o, name))
        return false;
    pf_slot *s = &c->e->slots[o->slot];
    unsigned classes = s->classes;
    /* `comm` as a text comes from the provider.  Without a provider only the field of COMM records
     * remains, which is probably not intended. */
    const char *hint = class == PERFILE_EXPR_TEXT && !s->provided && !o->element
                           ? pf_expr_provider_hint(name)
                           : NULL;
    if (hint)
        return pf_code_fail(c, o->at, PERFILE_E_USAGE, "names of %s are not known here%s", name,
                            hint);
    if (!pf_expr_narrow(c->e, s, class))
        return pf_code_fail(c, o->at, PERFILE_E_USAGE, "%.40s is %s", name,
                            pf_code_name_of_class(classes));
    return true;
}

/* Replaces `word` (a name or text) by a number if it is a word for values of `of`; otherwise does
 * nothing.  Returns false on failure. */
static bool try_word(pf_compiler *c, pf_operand *of, pf_operand *word)
{
    char text[PF_EXPR_NAME_BYTES];
    uint64_t number;
    bool quoted = word->what == PF_IS_TEXT; /* its quotes count in word->len */
    if ((of->what != PF_IS_NAME && of->what != PF_IS_VALUE) ||
        (!quoted && (word->what != PF_IS_NAME || word->element)) ||
        word->len - 2 * quoted >= sizeof text)
        return true;
    if (of->what == PF_IS_NAME && look_up_known(c, of) < 0)
        return false;
    if (of->slot == PF_NO_SLOT)
        return true;
    memcpy(text, c->text + word->at + quoted, word->len - 2 * quoted);
    text[word->len - 2 * quoted] = 0;
    switch (pf_expr_resolve_word(c->e, &c->e->slots[of->slot], text, &number)) {
    case PF_WORD_SEVERAL:
        return pf_code_fail(c, word->at, PERFILE_E_USAGE,
                            "%s means several things: put the record in front, as in mmap2.flags",
                            text);
    case PF_WORD_FOUND:
        word->what = PF_IS_NUMBER;
        word->number = (pf_number){number, false};
        return true;
    default:
        return true;
    }
}

/* Fails if `word` is next to a name that has words, but is neither one of them nor a known name.
 * The error suggests words.  A text next to `type` must be one of its words, too. */
static bool check_word(pf_compiler *c, const pf_operand *of, pf_operand *word)
{
    char name[PF_EXPR_NAME_BYTES], suggestions[160];
    if ((of->what != PF_IS_NAME && of->what != PF_IS_VALUE) || of->slot == PF_NO_SLOT)
        return true;
    bool type = word->what == PF_IS_TEXT && c->e->slots[of->slot].of == PF_OF_TYPE;
    if (!type && (word->what != PF_IS_NAME || word->element))
        return true;
    perfile_status st = type ? PERFILE_END : look_up_known(c, word);
    if (st != PERFILE_END)
        return st == PERFILE_OK;
    if (!pf_code_copy_name(c, word, name))
        return false;
    const pf_slot *s = &c->e->slots[of->slot];
    pf_expr_suggest_words(c->e, s, name, suggestions, sizeof suggestions);
    if (suggestions[0] || s->of == PF_OF_TYPE)
        return pf_code_fail(c, word->at, PERFILE_E_USAGE, "%.40s is not a value of %.*s%s%s%s",
                            name, s->len < 40 ? (int)s->len : 40, c->text + s->at,
                            suggestions[0] ? "; did you mean " : "", suggestions,
                            suggestions[0] ? "?" : "");
    if (s->classes & PERFILE_EXPR_TEXT && !s->payload_classes)
        return pf_code_fail(c, word->at, PERFILE_E_USAGE,
                            "there is no %.40s; write text in quotes: \"%.40s\"", name, name);
    return true;
}

bool pf_code_resolve_word(pf_compiler *c, pf_operand *of, pf_operand *word)
{
    return try_word(c, of, word) && check_word(c, of, word);
}

bool pf_code_resolve_words(pf_compiler *c, pf_operand *a, pf_operand *b)
{
    return try_word(c, a, b) && (b->what == PF_IS_NUMBER || try_word(c, b, a)) &&
           check_word(c, a, b) && check_word(c, b, a);
}
