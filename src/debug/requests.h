/* What a front end can ask, each a JSON object whose "do" names it, and what it is answered: an
 * object, with "error" where that is not possible. The debugger says by itself {"event": "ready" |
 * "stopped" | "ended"}, and serves requests from then until one lets the launch go on. While it
 * runs, it says {"event": "log"}, and looks for requests from time to time: of those that neither
 * need nor move what stands still.
 *
 *     run                                      from "ready"
 *     continue | step | next | finish | until | stepi | nexti      "count", "reverse"
 *     goto         "time"
 *     last_write   "expression"                the answer is a stop
 *     kill | detach
 *     interrupt                                while it runs: without an answer
 *     break        "file", "line" | "function" | "ptx_line"; "condition", "temporary", "id" (that it had in another run),
 *                  "hits" ("3", ">= 3", "% 3": which of them stop), "log" ("i is {i}": it tells and does not stop)
 *                  -> "id", "places", "line", "moved", "pending"
 *     watch        "expression"; "on": "write", "read" or "readWrite" -> "id"
 *     delete | enable | disable   "id"         0: all
 *     ignore       "id", "count"
 *     condition    "id", "condition"
 *     points       -> "points"
 *     focus        "block": [x, y, z], "thread": [x, y, z], "warp", "lane" -> what "stopped" says of the place
 *     frame        "frame" -> the same
 *     frames       -> "frames"
 *     print        "expression", "format", "lanes" -> "type", "value" | "values"
 *     type         "expression", which may be a type -> "type", "whole": with all that it has
 *     set          "to", "value"
 *     parts        "expression", "from", "count" -> "type", "value", "bytes", "address" (of what is in memory), "leads_to" (of a pointer), "members",
 *                  "elements" (how many), "parts": [{the same, "name", "expression"}]: members, or `count` elements from `from` on; 0: none
 *     shared       -> "names": of the variables in shared memory
 *     locals | args | registers -> "variables": [{"name", "type", "value"}]
 *     memory       "expression", "count", "size", "format" -> "address", "values"
 *     blocks | warps | lanes -> "list"
 *     ptx          "from", "to" -> "lines"
 *     line         "file", "line" -> "ranges": [[FROM, TO]] of lines of PTX
 *     function     "function" -> "file", "line": where it begins
 *     functions    -> "names": of the kernel's code, with those that are inlined there
 *     launch       -> of what the launch is
 */
#ifndef HEDDLE_DEBUG_REQUESTS_H
#define HEDDLE_DEBUG_REQUESTS_H

#include "debug/show.h"

/* A request, and what its answer is made of. */
struct asked {
    struct run *r;
    const json_t *request;
    json_t *answer;
    struct arena arena;
    jmp_buf no_memory;
    bool goes_on; /* the launch does, behind the answer */
};

/* Returns what is wrong, or NULL. */
typedef const char *request_fn(struct asked *a);

/* request_points.c */
request_fn request_break, request_watch, request_delete, request_enable, request_disable, request_ignore,
    request_condition, request_points, request_last_write;
/* request_places.c */
request_fn request_focus, request_frame, request_frames, request_blocks, request_warps, request_lanes,
    request_functions, request_function, request_line, request_ptx, request_launch;
/* request_values.c */
request_fn request_print, request_type, request_set, request_locals, request_args, request_registers, request_memory;
request_fn request_parts, request_shared; /* request_parts.c */

/* ---- what a request says ---- */

static inline const char *asked_text(const struct asked *a, const char *key)
{
    return json_string_value(json_object_get(a->request, key));
}
static inline int64_t asked_number(const struct asked *a, const char *key, int64_t otherwise)
{
    const json_t *v = json_object_get(a->request, key);
    return json_is_integer(v) ? json_integer_value(v) : otherwise;
}
static inline bool asked_switch(const struct asked *a, const char *key)
{
    return json_is_true(json_object_get(a->request, key));
}

/* The thread that is looked at, and its frame; NULL with *wrong: nothing runs, or the thread has no
 * place in the code. */
const struct call_frame *asked_frame(struct asked *a, struct where *w, const char **wrong);
/* Parses an expression in the selected frame, which is `f`. Of a thread that has no place in the
 * code, only what has an address is known. NULL with *wrong. */
struct node *asked_expression(struct asked *a, const char *text, struct where *w, struct frame *f, const char **wrong);
/* Names of files are bytes: what is no UTF-8 is said to be that. */
json_t *tell_text(const char *text);
/* Adds what "stopped" says of the place: "focus", "frame", "state", "time". */
void tell_place(struct run *r, json_t *to, struct arena *arena);
/* A watchpoint on an expression; NULL with *wrong. */
struct point *watch_point(struct asked *a, const char *expression, const char **wrong);
/* What was there before a write, and is now. */
void tell_written(struct run *r, json_t *to, struct arena *arena);

#endif
