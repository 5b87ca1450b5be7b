/* `perfile validate`: reads the command line, checks each file, and decides the exit status.
 *
 * A capture that can be opened is read to its end through perfile_check(), which calls on_finding()
 * for each finding and counts all of them.  A file that cannot be opened may still have a finding
 * (it is not a capture: V-001); then there is no stage that counts. */
#include "cli/validate/validate.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/print.h"
#include "archive/command.h"
#include "check/command.h"

/* Findings about the archive that contains a capture.
 *
 * The stage that checks records does not know archives.  So its options (which rules, which
 * severity, how many findings of each) are applied here, and findings are counted here. */

/* Counts by rule (from V-701 on) and severity. */
enum { ARCHIVE_RULES = 99 };
typedef struct archive_counts {
    perfile_check_summary of[ARCHIVE_RULES][4];
} archive_counts;

/* The `user` pointer of on_archive_finding(). */
typedef struct receiver {
    archive_counts *counts;
    const perfile_check_options *options;
} receiver;

/* True if `list` ("V-302,V-4") contains the id of the rule, or a prefix of it. */
static bool names(const char *list, const char *id)
{
    while (*list) {
        const size_t n = strcspn(list, ",");
        if (n && strncasecmp(id, list, n) == 0)
            return true;
        list += n;
        list += *list == ',';
    }
    return false;
}

static bool is_for_archives(unsigned rule)
{
    return rule - PERFILE_RULE_V_701 < ARCHIVE_RULES;
}

static void on_archive_finding(void *user, const perfile_archive_finding *a)
{
    const receiver *x = user;
    const perfile_check_options *o = x->options;
    const perfile_rule *rule = perfile_rule_of(a->rule);
    if (!rule || !is_for_archives(a->rule) || a->severity < o->severity ||
        (o->only && !names(o->only, rule->id)) || (o->ignore && names(o->ignore, rule->id)))
        return;
    perfile_check_summary *t = &x->counts->of[a->rule - PERFILE_RULE_V_701][a->severity];
    if (t->count++ == 0)
        t->first_offset = a->offset;
    t->last_offset = a->offset;
    if (o->most && t->count > o->most)
        return;
    const perfile_finding f = {.rule = a->rule,
                               .severity = a->severity,
                               .part = UINT32_MAX, /* about the archive, not about a file in it */
                               .event = UINT32_MAX,
                               .type = UINT32_MAX,
                               .feature = UINT32_MAX,
                               .offset = a->offset,
                               .stream_offset = PERFILE_NO_OFFSET,
                               .sequence = PERFILE_NO_SEQUENCE,
                               .message = a->message};
    o->finding(o->user, &f);
}

/* Checks an archive, and reports findings to options->finding.  The archive is `open`, or `file` if
 * `open` is NULL; if that is not an archive, nothing is checked.  Returns an error if the archive
 * cannot be read. */
static perfile_status validate_archive(const cli_file *file, perfile_archive *open,
                                       const perfile_limits *limits,
                                       const perfile_check_options *options, archive_counts *counts,
                                       perfile_error *err)
{
    perfile_archive *a = open;
    receiver x = {counts, options};
    if (!a && cli_archive_open(file, limits, false, &a, err) != PERFILE_OK)
        return PERFILE_OK; /* not an archive, or the capture cannot be opened either */
    perfile_status st = pf_archive_verify(a, on_archive_finding, &x, err);
    if (a != open)
        perfile_archive_close(a);
    return st;
}

/* True if there is a finding that `perfile recover --to archive` repairs or leaves out. */
static bool can_be_repaired(const archive_counts *counts)
{
    /* Errors inside of chunks are not repaired. */
    static const unsigned rules[] = {PERFILE_RULE_V_701, PERFILE_RULE_V_702, PERFILE_RULE_V_703,
                                     PERFILE_RULE_V_704, PERFILE_RULE_V_709, PERFILE_RULE_V_710};
    uint64_t n = 0;
    for (unsigned i = 0; i < sizeof rules / sizeof rules[0]; i++)
        for (unsigned s = 0; s < 4; s++)
            n += counts->of[rules[i] - PERFILE_RULE_V_701][s].count;
    return n > 0;
}

/* --rules and --explain: the rules of format/rules.def for people. */

static int list_rules(void)
{
    const perfile_rule *r;
    for (size_t i = 0; (r = perfile_rule_at(i)); i++)
        cli_print("%-6s  %-7s  %-9s  %s\n", r->id, perfile_severity_name(r->severity),
                  perfile_rule_scope_name(r->where), r->sentence);
    return CLI_DONE;
}

/* Writes one line about versions of perf: "perf 3.8 to 6.12, of files: does not reach its end". */
static void compose_verdict(const perfile_rule_verdict *v, char *line, size_t size)
{
    static const char *const of_form[] = {"", ", of files", ", of pipes"};
    bool one = strcmp(v->from, v->to) == 0;
    snprintf(line, size, "perf %s%s%s%s%s: %s%s%s", v->from, one ? "" : " to ", one ? "" : v->to,
             of_form[v->form], v->lesser ? ", in milder cases" : "", cli_verdict_words(v->verdict),
             v->when ? ": " : "", v->when ? v->when : "");
}

void cli_rule_effects(const perfile_rule *r, void (*put)(void *user, const char *line), void *user)
{
    char line[512];
    perfile_rule_verdict v;
    size_t n = 0;
    for (; perfile_rule_verdict_at(r->number, n, &v, sizeof v); n++) {
        compose_verdict(&v, line, sizeof line);
        put(user, line);
    }
    if (r->effect[0])
        put(user, r->effect);
    else if (n == 0)
        put(user, "none");
}

/* Prints a line of --explain. *user is true for the first line, which has the label. */
static void put_effect(void *user, const char *line)
{
    bool *first = user;
    cli_print("%s%s\n", *first ? "  readers   " : "            ", line);
    *first = false;
}

static int explain_rule(const char *id)
{
    const perfile_rule *r = pf_rule_find(id);
    bool first = true;
    if (!r)
        return cli_usage("validate", "there is no rule '%s'; --rules lists them", id);
    cli_print("%s: %s.\n\n", r->id, r->sentence);
    cli_print("  severity  %s", perfile_severity_name(r->severity));
    if (r->lesser)
        cli_print(", in milder cases %s", perfile_severity_name(r->lesser));
    cli_print("\n  checks    %s\n  why       %s\n", perfile_rule_scope_name(r->where), r->why);
    cli_rule_effects(r, put_effect, &first);
    return CLI_DONE;
}

enum {
    OPTION_ALL = CLI_OPTION_OWN,
    OPTION_FORMAT,
    OPTION_ONLY,
    OPTION_IGNORE,
    OPTION_SEVERITY,
    OPTION_STRICT,
    OPTION_FOR,
    OPTION_RULES,
    OPTION_EXPLAIN
};

/* The command line. */
typedef struct settings {
    cli_reading how;
    perfile_check_options check;
    const cli_findings_form *form;
    const char *version;
    const char *explain;
    bool all, strict, rules;
} settings;

/* The check of one file. */
typedef struct file_check {
    cli_validation v; /* must be the first member: cli_rule_summary() converts a pointer to it */
    const settings *set;
    const perfile_stream *stage; /* perfile_check() on the input; NULL if it could not be opened */
    unsigned refused_rule;       /* the rule that made opening fail, or PERFILE_RULE_LIMIT */
    bool in_archive;             /* current findings are about the archive that contains the
                                  * capture */
    bool archive_checked;        /* the archive was checked with this capture, not with another one
                                  * in it */
    archive_counts archive;
    perfile_archive *opened; /* the archive, if the input can be read only once; else NULL */
} file_check;

perfile_check_summary cli_rule_summary(const cli_validation *v, unsigned rule, unsigned severity)
{
    const file_check *t = (const file_check *)v;
    perfile_check_summary sum = {0};
    if (t->archive_checked && is_for_archives(rule))
        sum = t->archive.of[rule - PERFILE_RULE_V_701][severity];
    else if (t->stage)
        perfile_check_get_summary(t->stage, rule, severity, &sum, sizeof sum);
    else if (rule == t->refused_rule && severity == PERFILE_SEVERITY_ERROR)
        sum.count = 1;
    return sum;
}

void cli_finding_path(const cli_validation *v, uint32_t part, char *out, size_t size)
{
    const perfile_container *c = v->in->stream ? perfile_stream_container(v->in->stream) : NULL;
    const char *name = c && part < c->n_parts ? c->parts[part].name : NULL;
    snprintf(out, size, "%s%s%s", v->name, name ? "/" : "", name ? name : "");
}

const char *cli_verdict_words(unsigned verdict)
{
    static const char *const words[] = {
        "opens it and reads all of it", "opens it and loses some of it",
        "opens it and does not read it to its end", "refuses to open it"};
    return words[verdict];
}

static void on_finding(void *user, const perfile_finding *f)
{
    file_check *t = user;
    /* The check of the archive has already reported the losses of the capture, chunk by chunk. */
    if (f->rule == PERFILE_RULE_V_708 && t->archive_checked && !t->in_archive)
        return;
    if (!t->stage && !t->in_archive)
        t->refused_rule = f->rule;
    t->set->form->finding(&t->v, f);
}

static void on_reason(void *user, unsigned verdict, const char *sentence)
{
    file_check *t = user;
    t->set->form->reason(&t->v, verdict, sentence);
}

/* Reads all records. */
static void read_to_end(cli_input *in)
{
    const perfile_record *first;
    size_t n;
    uint64_t runs = 0;
    do {
        in->status = perfile_stream_next_run(in->stream, &first, &n, &in->error);
        if (in->status == PERFILE_OK && ++runs % 64 == 0) /* progress does not need every batch */
            cli_input_tick(in, first);
    } while (in->status == PERFILE_OK);
    cli_input_fail_on_damage(in);
}

/* Sums up the findings by severity. */
static void count(file_check *t)
{
    for (unsigned rule = 0; rule < PERFILE_RULE_LIMIT; rule++)
        for (unsigned s = PERFILE_SEVERITY_NOTE; s <= PERFILE_SEVERITY_ERROR; s++)
            t->v.counts[s] += cli_rule_summary(&t->v, rule, s).count;
}

/* Determines what perf of the version of --for does with the capture.  Only fails if the version is
 * unknown. */
static int judge_version(file_check *t, cli_input *in)
{
    t->v.version = t->set->version;
    if (!t->v.version || perfile_check_version(in->stream, t->v.version, &t->v.verdict, on_reason,
                                               t, &in->error) == PERFILE_OK)
        return CLI_DONE;
    return cli_usage("validate", "%s", in->error.message);
}

/* Reads the input through the checking stage.  Returns CLI_DONE, CLI_USAGE, or CLI_FAILED with the
 * error in in->error. */
static int run_checks(file_check *t, cli_input *in, const perfile_check_options *check)
{
    in->status = perfile_check(in->stream, check, &in->stream, &in->error);
    if (in->status != PERFILE_OK)
        return CLI_FAILED;
    t->stage = in->stream;
    read_to_end(in);
    return in->status < 0 ? CLI_FAILED : judge_version(t, in);
}

/* Returns the exit status of a file that could be read. */
static int outcome(const file_check *t)
{
    uint64_t bad = t->v.counts[PERFILE_SEVERITY_ERROR];
    if (t->set->strict)
        bad += t->v.counts[PERFILE_SEVERITY_WARNING];
    return bad || t->v.verdict != PERFILE_VERDICT_READS ? CLI_DAMAGED : CLI_DONE;
}

/* Checks the archive if the file is one.  Returns CLI_DONE, or CLI_FAILED with the error in
 * in->error. */
static int check_archive(file_check *t, cli_input *in, const perfile_check_options *check)
{
    perfile_error err;
    t->in_archive = t->archive_checked = true;
    perfile_status st =
        validate_archive(in->file, t->opened, t->set->how.limits, check, &t->archive, &err);
    t->in_archive = false;
    t->v.repairable = can_be_repaired(&t->archive);
    if (st == PERFILE_OK)
        return CLI_DONE;
    in->status = st;
    in->error = err;
    return CLI_FAILED;
}

/* Checks one file and returns its exit status. */
static int validate_file(cli_file *file, const settings *set)
{
    cli_input in;
    file_check t = {.set = set, .refused_rule = PERFILE_RULE_LIMIT};
    perfile_check_options check = set->check;
    cli_reading how = set->how;
    how.archive = &t.opened;
    check.finding = on_finding;
    check.user = &t;
    check.most = set->all ? 0 : (uint32_t)set->form->most; /* 0 for no limit */
    int status = cli_open(&in, file, &how);
    t.v = (cli_validation){.in = &in, .name = in.name, .all = set->all};
    set->form->file(&t.v);
    /* The archive is checked once, with the first of its captures. */
    const int of_archive =
        file->n_captures && file->capture > 1 ? CLI_DONE : check_archive(&t, &in, &check);
    if (of_archive != CLI_DONE)
        status = of_archive;
    else if (status == CLI_DONE)
        status = run_checks(&t, &in, &check);
    else if (pf_check_refused(&in.error, &check)) { /* the reason is a finding */
        t.v.verdict = PERFILE_VERDICT_REFUSES;
        t.v.version = set->version;
        in.status = PERFILE_OK;
        status = CLI_DONE;
        if (set->version)
            set->form->reason(&t.v, PERFILE_VERDICT_REFUSES,
                              "refuses to open it: it is not a perf.data file");
    }
    if (status == CLI_FAILED || in.status < 0)
        t.v.failure = in.error.message;
    count(&t);
    set->form->file_end(&t.v);
    if (status == CLI_DONE)
        status = outcome(&t);
    status = cli_worse(status, cli_close_without_damage(&in));
    perfile_archive_close(t.opened);
    return status;
}

static const cli_findings_form *const forms[] = {&cli_findings_text, &cli_findings_json,
                                                 &cli_findings_sarif};

static const char *form_word(size_t i)
{
    return i < sizeof forms / sizeof forms[0] ? forms[i]->name : NULL;
}

static int read_form(const char *word, settings *set)
{
    size_t which;
    int status = cli_choose("validate", "--format", word, form_word, &which);
    if (status == CLI_CONTINUE)
        set->form = forms[which];
    return status;
}

static const uint32_t severities[] = {PERFILE_SEVERITY_ERROR, PERFILE_SEVERITY_WARNING,
                                      PERFILE_SEVERITY_NOTE};

static const char *severity_word(size_t i)
{
    return i < sizeof severities / sizeof severities[0] ? perfile_severity_name(severities[i])
                                                        : NULL;
}

static const char *rule_word(size_t i)
{
    const perfile_rule *r = perfile_rule_at(i);
    return r ? r->id : NULL;
}

/* Reads the value of --severity. */
static int read_severity(const char *word, uint32_t *severity)
{
    size_t which;
    int status = cli_choose("validate", "--severity", word, severity_word, &which);
    if (status == CLI_CONTINUE)
        *severity = severities[which];
    return status;
}

/* Reads the value of --for: "perf-6.1" or "6.1". */
static int read_version(const char *word, const char **version)
{
    const char *name = strncmp(word, "perf-", 5) == 0 ? word + 5 : word;
    size_t which;
    int status = cli_choose("validate", "--for", name, pf_check_version_at, &which);
    if (status == CLI_CONTINUE)
        *version = pf_check_version_at(which);
    return status;
}

/* Checks that each word of `list` is the id of a rule, or a prefix of ids.  Returns NULL and the
 * list in *rules, or an error message. */
static const char *read_rules(const char *list, const char **rules)
{
    *rules = list;
    while (*list) {
        size_t n = strcspn(list, ","), i = 0;
        const perfile_rule *r;
        while ((r = perfile_rule_at(i)) && (n == 0 || strncasecmp(r->id, list, n) != 0))
            i++;
        if (!r)
            return "there is no such rule; --rules lists them";
        list += n;
        list += *list == ',';
    }
    return NULL;
}

/* Handles an option with its value in `optarg`.  Returns CLI_CONTINUE or an exit status. */
static int read_option(int option, settings *set)
{
    const char *wrong = NULL;
    switch (option) {
    case OPTION_ALL:
        set->all = true;
        break;
    case OPTION_FORMAT:
        return read_form(optarg, set);
    case CLI_OPTION_JSON:
        return read_form("json", set);
    case OPTION_ONLY:
        wrong = read_rules(optarg, &set->check.only);
        break;
    case OPTION_IGNORE:
        wrong = read_rules(optarg, &set->check.ignore);
        break;
    case OPTION_SEVERITY:
        return read_severity(optarg, &set->check.severity);
    case OPTION_STRICT:
        set->strict = true;
        break;
    case OPTION_FOR:
        return read_version(optarg, &set->version);
    case OPTION_RULES:
        set->rules = true;
        break;
    case OPTION_EXPLAIN:
        set->explain = optarg;
        break;
    default:
        return cli_reading_option("validate", &cli_validate_spec, option, &set->how);
    }
    return wrong ? cli_usage("validate", "'%s': %s", optarg, wrong) : CLI_CONTINUE;
}

static int validate_files(const cli_inputs *in, const settings *set)
{
    int status = CLI_DONE;
    set->form->begin();
    for (size_t i = 0; i < in->n; i++)
        status = cli_worse(status, validate_file(&in->at[i], set));
    return set->form->end() ? status : CLI_FAILED;
}

static const cli_option options[] = {
    {"all", .code = OPTION_ALL,
     .help = "print every finding; the default is the first of each kind, and their number"},
    {"format", .value = "FORM", .code = OPTION_FORMAT, .word = form_word,
     .help = "the form of the report; text (default), json or sarif, see format/reports.md",
     .more = "json and sarif (SARIF 2.1.0) are one document for all files. Without --all it has "
             "the first 100 findings of each rule and severity."},
    {"json", .code = CLI_OPTION_JSON, .help = "the same as --format json"},
    {"only", .value = "R[,R ...]", .code = OPTION_ONLY, .word = rule_word, .list = true,
     .help = "check only these rules: V-302, or V-3 for all that begin with V-3"},
    {"ignore", .value = "R[,R ...]", .code = OPTION_IGNORE, .word = rule_word, .list = true,
     .help = "check all rules except these"},
    {"severity", .value = "S", .code = OPTION_SEVERITY, .word = severity_word,
     .help = "lowest severity to report: error, warning or note (default)",
     .more = "Findings of lower severity are not counted, either."},
    {"strict", .code = OPTION_STRICT, .help = "warnings count as errors for the exit status"},
    {"for", .value = "VERSION", .code = OPTION_FOR, .word = pf_check_version_at,
     .help =
         "also report whether this version of perf reads all of it, and if not, why (perf-6.1); "
         "exit status 3 if not",
     .more = "It reports whether this version of perf opens the file, whether it reads all its "
             "records, and if not, why. The verdict is that of `perf report --stats`; problems of "
             "other commands of perf, and features that this version ignores, are reported but do "
             "not change the verdict. For 6.1, 6.12 and 7.2 the verdicts were compared with perf "
             "itself; for the others they follow from their sources. Known versions are 3.8, "
             "3.10, 3.16, 4.15, 4.19, 5.4, 5.10, 5.14, 5.15, 6.1, 6.6, 6.8, 6.12, 7.2 and 7.3."},
    {"rules", .code = OPTION_RULES, .help = "list all rules"},
    {"explain", .value = "RULE", .code = OPTION_EXPLAIN, .word = rule_word,
     .help = "explain a rule",
     .more = "Also why it matters, and what versions of perf do with captures that break it."},
    {.rows = cli_reading_options},
    {.rows = cli_input_options},
    {.rows = cli_common_options},
    {0},
};

const cli_spec cli_validate_spec = {
    .about = "perfile validate reports what is wrong with a capture, by rules.\n"
             "\n"
             "Usage: perfile validate [OPTION ...] FILE ...\n"
             "       perfile validate --rules | --explain RULE\n",
    .options = options,
    .notes = "Of an archive (perfile convert --to archive) its chunks, checksums and index are\n"
             "checked, too.\n"
             "\n"
             "Exit status: 0 no errors; 1 could not read; 2 wrong usage; 3 errors were found,\n"
             "or the version of perf of --for does not read all of it.\n"
             "\n"
             "Examples:\n"
             "  perfile validate perf.data\n"
             "  perf record -o - ls | perfile validate --strict -\n"
             "  perfile validate --for perf-6.1 --severity error perf.data\n"
             "  perfile validate --format json *.data | jq '.rules'\n"
             "  perfile validate --only V-7 x.perfile      only the archive\n",
};

int cli_validate(int argc, char **argv)
{
    settings set = {.check = {.size = sizeof set.check}, .form = &cli_findings_text};
    int status = CLI_CONTINUE;
    for (int c; status == CLI_CONTINUE &&
                (c = cli_next_option("validate", argc, argv, &cli_validate_spec)) != -1;)
        status = read_option(c, &set);
    if (status != CLI_CONTINUE)
        return status;
    if (set.explain)
        return explain_rule(set.explain);
    if (set.rules)
        return list_rules();
    cli_inputs in;
    status = cli_read_inputs("validate", argc, argv, true, &in);
    return status == CLI_CONTINUE ? validate_files(&in, &set) : status;
}
