/* What was counted of launches (explain/json.h), from one process or many: put together, and written as JSON, as CSV and as a summary
 * in words. docs/EXPLAIN.md says what the JSON has. */
#ifndef HEDDLE_CLI_EXPLANATION_H
#define HEDDLE_CLI_EXPLANATION_H

#include <stdio.h>

#include "cli/cli.h"

struct explanation {
    json_t *launches, *kernels, *processes, *host; /* arrays; host: streams and threads over time */
    uint64_t uncounted;
    bool lost; /* there was more, which could not be written or read */
};

void explanation_init(struct explanation *e);
void explanation_free(struct explanation *e);

/* What a process has written (cuda/explain.h), a line each. A launch or a kernel gets the process's number. */
void explanation_read(struct explanation *e, FILE *f);
/* A line of it; the value is the callee's to free. */
void explanation_add(struct explanation *e, int process, json_t *line);

/* All of it, written with jansson's flags; NULL where memory is exhausted. */
char *explanation_json(const struct explanation *e, const char *program, const char *device, size_t flags,
                       struct arena *arena);
/* A row a launch. */
const char *explanation_csv(const struct explanation *e, struct arena *arena);
/* For people: the kernels, the longest first. */
void explanation_print(const struct explanation *e, const char *device, const char *page, FILE *out,
                       struct arena *arena);
/* In words: 7.6 us. */
const char *explanation_time(double ns, struct arena *arena);
/* The device whose figures these are: what --device says, or what programs see. */
const char *explanation_device(const struct options *o);
/* The file of the page. */
const char *explanation_page(const struct options *o);

/* The files that the options name, before anything runs: NULL, or what is wrong. And afterwards: the exit status. */
const char *explanation_files_wrong(struct session *s);
/* Is a file one of these? */
bool explanation_writes(const struct options *o, const char *path);
/* --device names none: says so. */
int explanation_no_device(struct session *s);
int explanation_write_files(struct session *s, const struct explanation *e, const char *program);

#endif
