/* What `heddle check` asks of the processes that it starts: the environment variable HEDDLE_CHECK,
 * a JSON object. Users type the command's options instead. */
#ifndef HEDDLE_CUDA_PROCESS_CHECK_OPTIONS_H
#define HEDDLE_CUDA_PROCESS_CHECK_OPTIONS_H

#include "cuda/process/launch_filter.h"
#include "heddle.h"

/* Which failed calls are reported: those whose error nobody looks at, or all. */
enum check_api_errors { API_ERRORS_NO, API_ERRORS_UNSEEN, API_ERRORS_ALL };

struct check_options {
    /* For the processes' findings: check.h; NULL: the process reads its own
     * (heddle_check_findings). */
    const char *folder;
    int process;    /* the only one that is checked; 0: all */
    unsigned tools; /* of enum hd_tool */
    enum hd_on_error on_error;
    const char *policy; /* hd_machine_options.policy, or NULL */
    /* The mangled name of the kernel whose launch `replay-launch:FILE` replays; or NULL. */
    const char *replayed;
    uint64_t replayed_number;
    const char *events;            /* the file in which events are recorded; or NULL */
    struct launch_filter launches; /* those that are checked */
    bool leak_check;               /* report allocations that the host never frees */
    bool unused_memory;            /* report allocations that no kernel and no copy uses */
    enum check_api_errors api_errors;
    uint64_t shadow_bytes; /* hd_checker_options.shadow_bytes */
};

/* The variable's value, from malloc; NULL if memory is exhausted or a text is not UTF-8. */
char *check_options_text(const struct check_options *o);
/* Reads such a value; false if it is invalid. The strings live until the process ends. */
bool check_options_read(const char *text, struct check_options *o);

#endif
