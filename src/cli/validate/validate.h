/* What `perfile validate` found, and the forms it is told in. */
#ifndef CLI_VALIDATE_VALIDATE_H
#define CLI_VALIDATE_VALIDATE_H

#include "cli/input.h"
#include "perfile/check.h"

/* A file that is being looked at. */
typedef struct cli_validation {
    const cli_input *in;
    const char *name;
    bool all;            /* every finding is told, not the first of its kind only */
    uint64_t counts[4];  /* findings by severity */
    const char *failure; /* why it could not be read, or NULL */
    const char *version; /* of perf that was asked for, or NULL */
    unsigned verdict;
} cli_validation;

/* A form of output.  `begin` and `end` are called once, the others for each file. */
typedef struct cli_findings_form {
    const char *name;
    uint64_t most; /* findings of a rule that are told unless all are asked for; 0: all */
    void (*begin)(void);
    void (*file)(const cli_validation *v);
    void (*finding)(const cli_validation *v, const perfile_finding *f);
    void (*reason)(const cli_validation *v, unsigned verdict, const char *sentence);
    void (*file_end)(const cli_validation *v);
    void (*end)(void);
} cli_findings_form;

extern const cli_findings_form cli_findings_text, cli_findings_json, cli_findings_sarif;

/* The stage that `in` reads through; tallies are asked of it. */
perfile_check_summary cli_rule_summary(const cli_validation *v, unsigned rule, unsigned severity);

/* The path of the file that a finding is in: that of the capture, or of a part of a directory. */
void cli_finding_path(const cli_validation *v, uint32_t part, char *out, size_t size);

/* "refuses it", "reads it" … */
const char *cli_verdict_words(unsigned verdict);

/* `--rules` and `--explain ID`; the exit status. */
int cli_list_rules(void);
int cli_explain_rule(const char *id);
/* What readers make of captures that break the rule, line by line. */
void cli_rule_effects(const perfile_rule *rule, void (*put)(void *user, const char *line),
                      void *user);

#endif
