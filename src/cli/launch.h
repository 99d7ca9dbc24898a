/* What the files of heddle launch share: a launch of one kernel of PTX files. Private to cli/. */
#ifndef HEDDLE_CLI_LAUNCH_H
#define HEDDLE_CLI_LAUNCH_H

#include "cli/arg.h"
#include "cli/baseline.h"
#include "cli/cli.h"
#include "cli/explanation.h"
#include "cli/interrupt.h"

enum launch_format { FORMAT_TEXT, FORMAT_JSON, FORMAT_SARIF, FORMAT_JUNIT };

struct launch {
    struct session *s;
    enum launch_format format;
    int n_files, first_arg; /* in the session's words */
    bool names_kernel;      /* the word before first_arg is the kernel's name */
    struct file_bytes *files;
    struct interrupt interrupt;
    hd_machine *machine;
    hd_checker *checker; /* or NULL */
    hd_explainer *explainer;
    struct explanation *explanation; /* for heddle explain; else NULL */
    struct debugger *debugger;       /* for heddle debug; else NULL */
    hd_module *module;
    hd_kernel *kernel;
    hd_kernel_info info;
    const char *name; /* the kernel's demangled name */
    struct args args;
    hd_launch_config config;
    double *seconds; /* the time of each repetition */
    hd_launch_stats stats;
    unsigned errors, warnings_found; /* the checker's counts */
    struct baseline baseline;
    uint32_t known; /* findings that are left out because the baseline has them */
    json_t *warnings;
    struct {
        char *at;
        size_t n, capacity;
    } printed;        /* what the kernel printed, for --json */
    bool cannot_keep; /* memory was exhausted, and further output is lost */
    bool is_in_line;  /* the last output ended within a line */
};

uint64_t launch_repetitions(const struct launch *l);
/* Runs the launch of the command line under a debugger (NULL: memory is exhausted), and frees it.
 * Returns the exit status. */
int launch_debugged(struct session *s, struct debugger *d);

/* ---- launch_args.c: what the command line says of the launch; exit statuses ---- */

int launch_read_args(struct launch *l);
int launch_place_buffers(struct launch *l);
int launch_pack_args(struct launch *l);

/* ---- launch_results.c: what is said in the end, in the launch's format ---- */

/* Prints what went wrong, with the findings until then. Frees the report, which may be NULL.
 * Returns the exit status. */
int launch_fail_with(struct launch *l, hd_result result, hd_report *report);
int launch_show_results(struct launch *l);

#endif
