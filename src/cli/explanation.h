/* What was counted of launches (explain/json.h), from one process or many: put together, and
 * written as JSON, as CSV and as a summary in words. docs/EXPLAIN.md says what the JSON has. */
#ifndef HEDDLE_CLI_EXPLANATION_H
#define HEDDLE_CLI_EXPLANATION_H

#include <stdio.h>

#include "base/vec.h"
#include "cli/cli.h"
#include "cli/status.h"

/* Numbers of rows. */
typedef VEC(uint32_t) row_list;

enum { EXPLAINED_DEVICES = 16 }; /* of a process: MAX_DEVICES of cuda/state/state.h */

struct explanation {
    struct arena *arena;
    json_t *rows, *processes,
        *host;         /* arrays; rows: launches, those that are alike once; host: streams and threads over time */
    row_list launches; /* the row of each */
    row_list told[EXPLAINED_DEVICES]; /* rows that the process that is read has told, by device */
    json_t *calls;                    /* of libraries: an object of arrays, by process and device */
    json_t *kernels;                  /* by line: an object of explanation_key() */
    json_t *latest;                   /* row of each kernel: an object of explanation_key() */
    uint64_t uncounted;
    uint64_t running; /* launches that had not ended when their processes did: nothing is known of them */
    bool lost;        /* there was more, which could not be written or read */
};

/* Which kernel a launch is of: its process, its device, and its number among those that were
 * launched there. */
struct explanation_key {
    char text[72];
};
struct explanation_key explanation_key(const json_t *of);

/* All calls of libraries, by function: an array; the caller's to free. */
json_t *explanation_calls(const struct explanation *e);

/* A number of a JSON object; 0 where it is not there. */
static inline double real_of(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

/* What it keeps besides JSON is in the arena. */
void explanation_init(struct explanation *e, struct arena *arena);
void explanation_free(struct explanation *e);

/* What a process has written (cuda/watch/explain.h), a line each. A launch or a kernel gets the
 * process's number. */
void explanation_read(struct explanation *e, FILE *f);
/* How far the processes are that write to the folder: of each, the last line about it near its
 * file's end. */
struct status_now explanation_look(const char *folder, struct arena *arena);
/* A line of it; the value is the callee's to free. */
void explanation_add(struct explanation *e, int process, json_t *line);

/* How often each row is that of a launch; in the arena. */
uint64_t *explanation_times(const struct explanation *e, struct arena *arena);

/* All of it: docs/EXPLAIN.md says what is in it. `each`: all launches are there in full; else one
 * that is as an earlier one is the number of that. NULL where memory is exhausted. */
json_t *explanation_json(const struct explanation *e, const char *program, const char *device, bool each,
                         struct arena *arena);
/* A line for each launch. */
const char *explanation_csv(const struct explanation *e, struct arena *arena);
/* What happens over time, as Perfetto opens it (trace/events.h); from malloc, or NULL where memory
 * is exhausted. */
char *explanation_trace(const struct explanation *e, const char *device, struct arena *arena);
/* For people: the kernels, the longest first. */
void explanation_print(const struct explanation *e, const struct options *o, FILE *out, struct arena *arena);
/* The device whose figures these are: what --device says, or the one that HEDDLE_DEVICE lets
 * programs see, or an H200. */
const char *explanation_device(const struct options *o);
/* hd_explainer_options.sample_after */
uint64_t explanation_sample_after(const struct options *o);
/* The file of the page. */
const char *explanation_page(const struct options *o);

/* The files that the options name, before anything runs: NULL, or what is wrong. And afterwards:
 * the exit status. */
const char *explanation_files_wrong(struct session *s);
/* Is a file one of these? */
bool explanation_writes(const struct options *o, const char *path);
/* --device names none: says so. */
int explanation_no_device(struct session *s);
/* How the page has JSON. */
#define EXPLANATION_FORMAT (JSON_COMPACT | JSON_REAL_PRECISION(9) | JSON_PRESERVE_ORDER)
/* The same, packed (explanation_page.c). */
json_t *explanation_for_page(const json_t *json, struct arena *arena);
int explanation_write_page(struct session *s, const json_t *json);
int explanation_write_files(struct session *s, const struct explanation *e, const char *program);

#endif
