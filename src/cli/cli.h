/* What the commands share. Each command is one file; options.c has their table, flags.def their
 * options. */
#ifndef HEDDLE_CLI_CLI_H
#define HEDDLE_CLI_CLI_H

#include <jansson.h>

#include "base/opts.h"
#include "files/file.h"
#include "cli/progress.h"
#include "heddle.h"

/* Values of the options: a field for each entry of flags.def. */
struct options {
#define FIELD_SWITCH(field)                                    bool field;
#define FIELD_YES_NO(field)                                    bool field;
#define FIELD_COUNT(field)                                     struct opt_count field;
#define FIELD_NUMBER(field)                                    uint64_t field;
#define FIELD_SIZE(field)                                      uint64_t field;
#define FIELD_SECONDS(field)                                   double field;
#define FIELD_DIMS(field)                                      uint32_t field[3];
#define FIELD_TEXT(field)                                      const char *field;
#define FIELD_LIST(field)                                      struct opt_list field;
#define FLAG(kind, field, name, letter, value, commands, help) FIELD_##kind(field)
#include "cli/flags.def"
#undef FLAG
};

/* One run of the program. */
struct session {
    const struct command *command;
    struct arena arena;
    struct options o;
    int argc;
    char **argv;        /* the command's name and its arguments, as typed */
    const char **words; /* what is no option */
    int n_words;
    bool one_is_found; /* the exit status 1 says that something was found, so errors have 2 */
    struct progress progress;
    /* Reads another command line, which starts with a command's name, if one is needed later; what
     * is wrong, or NULL. */
    const char *(*read)(struct session *s, int argc, char **argv);
};

/* A command returns the exit status: 0 success, 1 the input or the kernel has errors, 2 wrong
 * usage. heddle explore returns 1 only after findings. */
struct command {
    /* For the list of commands; name NULL: a variant of the command before. */
    const char *name, *summary;
    int (*run)(struct session *s);
    const char *usage, *details; /* its help before and after the list of options */
    bool reads_arguments;        /* all of them, itself */
};

int cmd_run(struct session *s);
int cmd_cc(struct session *s);
int cmd_launch(struct session *s);
int cmd_check(struct session *s);
int cmd_check_program(struct session *s);
int cmd_explain(struct session *s);
int cmd_explore(struct session *s);
int cmd_explore_program(struct session *s);
int cmd_litmus(struct session *s);
int cmd_debug(struct session *s);
int cmd_debug_program(struct session *s);
int cmd_explain_program(struct session *s);
int explain_compare(struct session *s); /* --compare */
int cmd_ptx(struct session *s);
int cmd_info(struct session *s);
int cmd_cache(struct session *s);
int cmd_pack(struct session *s);
int cmd_completion(struct session *s);
int cmd_manual(struct session *s);

/* ---- options.c ---- */

/* The commands; a NULL name ends them. */
extern const struct command commands[];
/* The command of this name; else NULL, and *near is the most similar name, or NULL. */
const struct command *command_find(const char *name, const char **near);
/* The variant of the command for these arguments: PTX files and programs have different
 * variants. */
const struct command *command_variant(const struct command *c, int argc, char **argv);
/* Reads argv behind the command's name. Returns NULL, or what is wrong. */
const char *command_options(const struct command *c, int argc, char **argv, struct session *s);
const char *command_help(const struct command *c, struct arena *arena);
opt_lines command_option_lines(const struct command *c, struct arena *arena);
/* The command's variant for programs, if it has one for PTX files, too; else NULL. */
const struct command *command_for_programs(const struct command *c);

/* ---- print.c ---- */

/* The exit status of an error that is not the command line's. */
static inline int failure_status(const struct session *s)
{
    return s->one_is_found ? 2 : 1;
}

/* Prints "heddle: ..." to stderr and returns 2. */
int usage_error(struct session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for an error that is not the command line's; returns failure_status(). */
int cli_failure(struct session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The report's text to stderr. Frees the report. */
void report_print(struct session *s, hd_report *report);
/* The report's text, else the result's, to stderr. Frees the report; returns
 * failure_status(). */
int report_failure(struct session *s, hd_result result, hd_report *report);
/* The report's entries as a JSON array. Frees the report, which may be NULL. */
json_t *report_entries(struct session *s, hd_report *report);
/* All files that the value names (members whose names end with "file") as messages name them
 * (base/file_name.h). Returns the value, which may be NULL. */
json_t *json_show_files(json_t *value, struct arena *arena);
/* To be called before any JSON value is made, so that print_json() knows whether memory was
 * exhausted. */
void json_watch_memory(void);
/* Notes that a part of the JSON output could not be kept. */
void json_lose(void);
/* A string from any bytes: bytes that are not UTF-8 become U+FFFD. */
json_t *json_text(const char *text, size_t n);
/* Writes a JSON value to stdout and frees it. Returns the exit status: 0, or 1 where something of
 * it is missing. */
int print_json(struct session *s, json_t *value);

/* ---- machine.c ---- */

/* What is wrong with the CPU level of --cpu (`option`, or NULL) or HEDDLE_CPU, with the possible
 * levels; NULL: nothing. */
const char *wrong_cpu_level(const char *option, struct arena *arena);
/* Makes the machine that the options describe; `base` has everything else. Returns 0, or the exit
 * status after an error. */
int open_machine(struct session *s, const hd_machine_options *base, hd_machine **machine);

#endif
