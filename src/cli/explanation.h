/* Merges what one or several processes have counted for their launches (explain/json.h), and writes
 * it as JSON, CSV or a summary in words. docs/EXPLAIN.md says what the JSON has. */
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
    /* arrays; rows: launches, equal ones once; host: streams and threads over time */
    json_t *rows, *processes, *host;
    row_list launches;                /* the row of each */
    row_list told[EXPLAINED_DEVICES]; /* rows of the process whose file is being read, by device */
    /* Calls of libraries: an object of arrays, by process and device. */
    json_t *calls;
    json_t *kernels; /* figures by line: an object by explanation_key() */
    /* The newest row of each kernel: an object by explanation_key(). */
    json_t *latest;
    uint64_t uncounted;
    uint64_t running; /* launches that had not ended when their process did, without figures */
    bool lost;        /* some results could not be written or read */
};

/* Identifies a kernel: its process, its device, and its number among the kernels launched there. */
struct explanation_key {
    char text[72];
};
struct explanation_key explanation_key(const json_t *of);

/* All calls of libraries, by function: an array; the caller's to free. */
json_t *explanation_calls(const struct explanation *e);

/* A number of a JSON object; 0 if the member is missing. */
static inline double real_of(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

/* Everything but JSON values is kept in the arena. */
void explanation_init(struct explanation *e, struct arena *arena);
void explanation_free(struct explanation *e);

/* Reads the lines that a process has written (cuda/watch/explain.h). Launches and kernels get the
 * process's number. */
void explanation_read(struct explanation *e, FILE *f);
/* The progress of the processes that write to the folder, from the last lines of their files. */
struct status_now explanation_look(const char *folder, struct arena *arena);
/* Adds one line; frees the value. */
void explanation_add(struct explanation *e, int process, json_t *line);

/* The number of launches for each row; in the arena. */
uint64_t *explanation_times(const struct explanation *e, struct arena *arena);

/* Everything as JSON, as docs/EXPLAIN.md describes it. `each`: every launch is an object; else a
 * launch that equals an earlier one is that one's number. NULL if memory is exhausted. */
json_t *explanation_json(const struct explanation *e, const char *program, const char *device, bool each,
                         struct arena *arena);
/* A line for each launch. */
const char *explanation_csv(const struct explanation *e, struct arena *arena);
/* Timelines for Perfetto (trace/events.h), from malloc; NULL if memory is exhausted. */
char *explanation_trace(const struct explanation *e, const char *device, struct arena *arena);
/* Prints a summary: kernels, the longest first. */
void explanation_print(const struct explanation *e, const struct options *o, FILE *out, struct arena *arena);
/* The device that the figures are for: that of --device, else of HEDDLE_DEVICE, else an H200. */
const char *explanation_device(const struct options *o);
/* hd_explainer_options.sample_after */
uint64_t explanation_sample_after(const struct options *o);
/* The file of the page. */
const char *explanation_page(const struct options *o);

/* The first checks the output files of the options before anything runs: NULL, or what is wrong.
 * The second writes them afterwards, and returns the exit status. */
const char *explanation_files_wrong(struct session *s);
/* Do the options name this file as an output? */
bool explanation_writes(const struct options *o, const char *path);
/* Reports that --device names no device. */
int explanation_no_device(struct session *s);
/* The format of the page's JSON. */
#define EXPLANATION_FORMAT (JSON_COMPACT | JSON_REAL_PRECISION(9) | JSON_PRESERVE_ORDER)
/* The JSON packed for the page (explanation_page.c). */
json_t *explanation_for_page(const json_t *json, struct arena *arena);
int explanation_write_page(struct session *s, const json_t *json);
int explanation_write_files(struct session *s, const struct explanation *e, const char *program);

#endif
