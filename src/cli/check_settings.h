/* What the options of `heddle check PROGRAM` ask for. */
#ifndef HEDDLE_CLI_CHECK_SETTINGS_H
#define HEDDLE_CLI_CHECK_SETTINGS_H

#include "cli/cli.h"
#include "cuda/process/check_options.h"

enum check_format { CHECK_TEXT, CHECK_JSON, CHECK_SARIF, CHECK_JUNIT, CHECK_SANITIZER };

struct check_settings {
    struct check_options process; /* for the checked processes; its folder is not set here */
    enum check_format format;
    bool application_only, nvtx;
    unsigned runs;
    uint64_t seed, print_limit; /* print_limit 0: none */
    int error_exitcode;
    const char *log_file; /* or NULL */
    struct opt_list save; /* files */
};

/* Returns NULL, or what is wrong, in the arena. */
const char *check_settings(const struct options *o, struct check_settings *c, struct arena *arena);
/* Reads only --tool: values of enum hd_tool, 0 if the option is not given. */
const char *check_tools(const struct options *o, unsigned *set, struct arena *arena);
/* Reads which launches are meant: --kernel-name and similar options, --launch-skip,
 * --launch-count. */
const char *launch_filter_settings(const struct options *o, struct launch_filter *f, struct arena *arena);
/* --target-processes. */
const char *target_processes_setting(const struct options *o, bool *application_only, struct arena *arena);

/* The number of words that the option at `word` takes, if it is one of these n options with a value
 * (--runs=2: 1, --runs 2: 2); else 0. */
int option_words(const char *word, const char *const names[], size_t n);

#endif
