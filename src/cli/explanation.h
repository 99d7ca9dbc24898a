/* What was counted of launches (explain/json.h), from one process or many: put together, and written as JSON, as CSV and as a summary
 * in words. docs/EXPLAIN.md says what the JSON has. */
#ifndef HEDDLE_CLI_EXPLANATION_H
#define HEDDLE_CLI_EXPLANATION_H

#include <stdio.h>

#include "cli/cli.h"

struct explanation {
    json_t *launches, *processes, *host; /* arrays; host: streams and threads over time */
    json_t *kernels;                     /* by line: an object of explanation_key() */
    uint64_t uncounted;
    uint64_t running; /* launches that had not ended when their processes did: nothing is known of them */
    bool lost;        /* there was more, which could not be written or read */
};

/* Which kernel a launch is of: its process, its device, and its number among those that were launched there. */
struct explanation_key {
    char text[72];
};
struct explanation_key explanation_key(const json_t *of);

/* A number of a JSON object; 0 where it is not there. */
static inline double real_of(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

void explanation_init(struct explanation *e);
void explanation_free(struct explanation *e);

/* What a process has written (cuda/watch/explain.h), a line each. A launch or a kernel gets the process's number. */
void explanation_read(struct explanation *e, FILE *f);
/* A line of it; the value is the callee's to free. */
void explanation_add(struct explanation *e, int process, json_t *line);

/* All of it: docs/EXPLAIN.md says what is in it. NULL where memory is exhausted. */
json_t *explanation_json(const struct explanation *e, const char *program, const char *device, struct arena *arena);
/* A line for each launch. */
const char *explanation_csv(const struct explanation *e, struct arena *arena);
/* What happens over time, as Perfetto opens it (trace/events.h); from malloc, or NULL where memory is exhausted. */
char *explanation_trace(const struct explanation *e, const char *device, struct arena *arena);
/* For people: the kernels, the longest first. */
void explanation_print(const struct explanation *e, const struct options *o, FILE *out, struct arena *arena);
/* The device whose figures these are: what --device says, or the one that HEDDLE_DEVICE lets programs see, or an H200. */
const char *explanation_device(const struct options *o);
/* hd_explainer_options.sample_after */
uint64_t explanation_sample_after(const struct options *o);
/* The file of the page. */
const char *explanation_page(const struct options *o);

/* The files that the options name, before anything runs: NULL, or what is wrong. And afterwards: the exit status. */
const char *explanation_files_wrong(struct session *s);
/* Is a file one of these? */
bool explanation_writes(const struct options *o, const char *path);
/* --device names none: says so. */
int explanation_no_device(struct session *s);
/* The JSON as a page. */
int explanation_write_page(struct session *s, const json_t *json);
int explanation_write_files(struct session *s, const struct explanation *e, const char *program);

#endif
