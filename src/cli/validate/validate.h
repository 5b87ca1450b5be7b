/* `perfile validate`: the facts about the file that is checked, and the output forms.
 *
 * validate.c reads the file through the checking stage (perfile_check()) and gives each finding to
 * one of the output forms in forms.c. */
#ifndef CLI_VALIDATE_VALIDATE_H
#define CLI_VALIDATE_VALIDATE_H

#include "cli/input.h"
#include "perfile/check.h"

/* The file that is checked. */
typedef struct cli_validation {
    const cli_input *in; /* in->stream is NULL if the file could not be opened */
    const char *name;
    bool all;            /* --all: report every finding, not only the first of each kind */
    uint64_t counts[4];  /* findings by severity, valid at file_end() */
    const char *failure; /* why the file could not be read, or NULL */
    const char *version; /* version of perf from --for, or NULL */
    unsigned verdict;    /* PERFILE_VERDICT_… for that version */
    bool repairable;     /* the file is in an archive that can be repaired */
} cli_validation;

/* An output form.  Its functions are called in this order: begin() and end() once, the others for
 * each file. */
typedef struct cli_findings_form {
    const char *name;
    uint64_t most; /* most findings per rule and severity without --all; 0 for all */
    void (*begin)(void);
    void (*file)(const cli_validation *v);
    void (*finding)(const cli_validation *v, const perfile_finding *f);
    /* Prints a sentence about why that version of perf does not read everything. */
    void (*reason)(const cli_validation *v, unsigned verdict, const char *sentence);
    void (*file_end)(const cli_validation *v);
    bool (*end)(void); /* returns false if the report is not complete, out of memory */
} cli_findings_form;

extern const cli_findings_form cli_findings_text, cli_findings_json, cli_findings_sarif;

/* Returns how many findings of a rule with this severity the current file has, and where the last
 * one is. */
perfile_check_summary cli_rule_summary(const cli_validation *v, unsigned rule, unsigned severity);

/* Writes the path of the file that has a finding: the capture, or a file of a directory. */
void cli_finding_path(const cli_validation *v, uint32_t part, char *out, size_t size);

/* Returns a verdict in words: "refuses to open it" … */
const char *cli_verdict_words(unsigned verdict);

/* Calls put() with each line about what versions of perf do with captures that break the rule. */
void cli_rule_effects(const perfile_rule *rule, void (*put)(void *user, const char *line),
                      void *user);

#endif
