/* Selects the launches of a process that a command examines, by the kernel's name and by number.
 * The command (`heddle check`, `heddle explain`, `heddle explore`) passes the filter to the
 * processes that it starts, which ask it at each launch.
 */
#ifndef HEDDLE_CUDA_PROCESS_LAUNCH_FILTER_H
#define HEDDLE_CUDA_PROCESS_LAUNCH_FILTER_H

#include <jansson.h>
#include <pthread.h>
#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

/* How a filter compares names, mangled or as in the source: the whole name, a part, or a POSIX
 * extended regular expression for a part; or as names on the command line (api/kernel_name.h). */
enum kernel_filter_key { FILTER_NAME, FILTER_PART, FILTER_REGEX, FILTER_CALLED };
struct kernel_filter {
    enum kernel_filter_key key;
    const char *value;
};

enum { MAX_FILTERS = 64 };
struct kernel_filters {
    unsigned n;
    struct kernel_filter at[MAX_FILTERS];
};

/* Launches of kernels that `only` names (if empty: of all kernels) and `except` does not. Of these,
 * the first `skip` are left out, and the next `count` (0: all) are taken. */
struct launch_filter {
    struct kernel_filters only, except;
    uint64_t skip, count;
};

/* Returns NULL if memory is exhausted or a text is not UTF-8. */
json_t *launch_filter_json(const struct launch_filter *f);
/* Returns false if the value is invalid. The strings live as long as `json`. */
bool launch_filter_read(const json_t *json, struct launch_filter *f);

/* A filter in use. */
struct launch_choice {
    const struct launch_filter *filter;
    /* Compiled filters that are regular expressions. */
    regex_t only[MAX_FILTERS], except[MAX_FILTERS];
    uint64_t matching; /* launches whose names have matched so far */
};

/* False if a regular expression is invalid. */
bool launch_choice_start(struct launch_choice *c, const struct launch_filter *f);
/* Is this launch taken? Called once for each launch, by one thread at a time. */
bool launch_choice_takes(struct launch_choice *c, const char *kernel);

#endif
