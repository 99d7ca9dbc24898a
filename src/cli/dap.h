/* heddle debug --dap: a server of the Debug Adapter Protocol. It translates an editor's requests
 * into requests to the debugger in the other process (debug/requests.h), the debugger's messages
 * into events, and the program's output into output events. Private to cli/.
 *
 * A thread's number is 2 + its place in the grid; 1 is the program, while no kernel is stopped.
 * Frames and expandable values have numbers that are valid until the launch goes on.
 */
#ifndef HEDDLE_CLI_DAP_H
#define HEDDLE_CLI_DAP_H

#include <stdio.h>

#include "base/vec.h"
#include "cli/debug_front.h"

enum { HOST_THREAD = 1, FIRST_THREAD = 2, PTX_SOURCE = 1 };

/* A thread, and one of its calls. */
struct dap_frame {
    int64_t thread, level;
};

enum unfold_kind {
    UNFOLD_LOCALS,
    UNFOLD_ARGS,
    UNFOLD_SHARED,
    UNFOLD_PLACES, /* threadIdx and its kind */
    UNFOLD_REGISTERS,
    UNFOLD_WARP,  /* the variables in all lanes: */
    UNFOLD_LANES, /* one of them */
    UNFOLD_PARTS, /* of an expression's value */
};

struct unfold {
    enum unfold_kind kind;
    uint32_t frame; /* its place among the frames */
    char *expression;
};

enum dap_point_kind { DAP_LINE, DAP_FUNCTION, DAP_INSTRUCTION, DAP_DATA };

/* A breakpoint as the editor has set it. */
struct dap_point {
    enum dap_point_kind kind;
    char *path; /* DAP_LINE: the source's, "" for the PTX; else NULL */
    /* The request to the debugger; without "do", the point is refused in every kernel. */
    json_t *request;
    int64_t id, line;
    /* is_set: the debugger has it; is_new: the debugger has not been asked. */
    bool verified, is_set, is_new;
    char *refused;       /* why the debugger refused it, from malloc; or NULL */
    struct dap_frame of; /* DAP_DATA: whose */
};

struct dap {
    struct session *s;       /* of heddle's command line, */
    struct session launched; /* and of what runs */
    struct front f;
    int in, out; /* the editor's */
    struct {
        char *at;
        size_t n, capacity;
    } received;
    json_t *queue; /* requests that have arrived and wait */
    int64_t seq;
    bool gone;                   /* the editor is */
    const char *wrong;           /* why the input is not a message; or NULL */
    void (*then)(struct dap *d); /* called after the answer to the request; or NULL */
    bool lines_from_0;
    bool opened, configured, has_begun, ends, has_ended, lets_go, stops_at_entry, only_runs;
    int output[2]; /* what the program prints, or -1 */
    struct {
        char at[4];
        size_t n;
    } broken[2];      /* a character of which a part has come */
    struct text says; /* standard error of a kernel being launched; arena NULL: not kept */
    /* where it stands */
    int64_t number, grid[3], block[3]; /* of the launch */
    const char *reason;                /* of the stop, as the protocol has it */
    bool focus_is_known;
    struct dap_frame focus; /* which the debugger has selected */
    /* Which the user has selected: the one that stopped, until another is selected. */
    struct dap_frame chosen;
    int64_t goes_to; /* the breakpoint that ends `goto`; or 0 */
    char *goto_path; /* from malloc: the source of the last targets; or NULL */
    VEC(struct dap_frame) frames;
    VEC(struct unfold) unfolds;
    VEC(int64_t) had_stopped; /* threads that have stopped in this launch */
    struct arena at_stop;
    /* breakpoints */
    VEC(struct dap_point) points;
    int64_t next_id;
    VEC(int64_t) asked; /* the points whose answers are outstanding; 0: an answer about none */
    json_t *filters;    /* names of the exceptions that stop */
    struct arena arena; /* of a request */
};

int dap_serve(struct session *s);

/* ---- dap_link.c ---- */

void dap_send(struct dap *d, json_t *message);
/* Reads what the editor has sent. */
void dap_receive(struct dap *d);
/* Takes the body, or NULL. */
void dap_event(struct dap *d, const char *name, json_t *body);
/* Output of the debugger's own. */
void dap_say(struct dap *d, const char *category, const char *text);
/* Opens a stream that keeps what is printed to it: once it is closed, *text is from malloc, or
 * NULL. */
FILE *dap_keep_text(FILE **stream, char **text, size_t *n);
void dap_end_text(FILE **stream, FILE *kept);
/* Runs a command of the terminal; *text is its output, from malloc, or NULL. */
void dap_run_line(struct dap *d, const char *line, char **text);
/* Prints a stop as the terminal would. */
void dap_show_stop(struct dap *d, const json_t *event);
/* The editor's lines are from 1 on, or from 0. */
static inline int64_t dap_line(const struct dap *d, int64_t line)
{
    return line - d->lines_from_0;
}
static inline int64_t dap_line_meant(const struct dap *d, int64_t line)
{
    return line + d->lines_from_0;
}

/* ---- dap.c: requests ---- */

/* Takes a request's arguments and fills in the body of its response; returns what is wrong, or
 * NULL. */
typedef const char *dap_request_fn(struct dap *d, const json_t *arguments, json_t *body);

#define DAP_REQUEST(name, function, stands) dap_request_fn dap_##function;
#include "cli/dap_requests.def"
#undef DAP_REQUEST

/* ---- dap_look.c ---- */

/* Asks the debugger, and frees the request. Returns its answer, which the caller frees; else NULL,
 * and *wrong says why, valid until the request ends. */
json_t *dap_ask(struct dap *d, json_t *request, const char **wrong);
/* Sends a request that lets the launch go on, and frees it. */
const char *dap_go(struct dap *d, json_t *request);
/* The launch goes on: the front's `await`. */
void dap_await(struct front *f);
/* Invalidates the numbers of frames and values. */
void dap_forget_stop(struct dap *d);
int64_t dap_threads_of_block(const struct dap *d);
/* The index that belongs to coordinates. */
int64_t dap_place_in(const json_t *c, const int64_t dims[3]);
/* The thread of "focus", or of a place's. */
int64_t dap_thread_of(const struct dap *d, const json_t *focus);
/* False: there is no such thread. */
bool dap_thread_at(const struct dap *d, int64_t id, int64_t block[3], int64_t thread[3]);
/* Sends a request that is answered by a place, selects that place, and frees the request. Returns
 * what is wrong, or NULL. */
const char *dap_take_place(struct dap *d, json_t *request);
/* Selects a thread and one of its calls; without a call, only the thread. Returns what is wrong, or
 * NULL. */
const char *dap_look(struct dap *d, struct dap_frame at);
const char *dap_look_at_thread(struct dap *d, int64_t thread);
/* Selects by the number of a frame; without one, the user's selection. */
const char *dap_look_at_frame(struct dap *d, const json_t *number);
/* What expands under this number; selects its thread. NULL, and *wrong says why. */
const struct unfold *dap_unfold_at(struct dap *d, int64_t n, const char **wrong);
/* The expression for the child `name` of what expands under this number; selects its thread.
 * Returns what is wrong, or NULL. */
const char *dap_expression_of(struct dap *d, int64_t number, const char *name, const char **expression);
/* The frame's source: a file that can be read, or the PTX; *line is the line there. */
json_t *dap_source(struct dap *d, const json_t *frame, int64_t *line);

/* ---- dap_points.c ---- */

/* Asks a debugger that has no breakpoints yet for all of them. */
void dap_set_points(struct dap *d);
/* Takes an answer to a request that was sent while the launch ran. */
void dap_take_answer(struct dap *d, json_t *answer);
/* Takes all outstanding answers of a debugger that is stopped. */
void dap_take_answers(struct dap *d);
/* Tells the editor what became of its breakpoints, and which others exist. */
void dap_compare_points(struct dap *d);
/* Does the user want to stop at this fault? */
bool dap_stops(struct dap *d, const json_t *event);
void dap_free_points(struct dap *d);

/* ---- dap_stops.c ---- */

/* Tells a debugger that has found a kernel where to stop, and lets the kernel run. */
void dap_begin(struct dap *d);
/* Handles an event of the debugger, and frees it. */
void dap_take_event(struct dap *d, json_t *event);
/* Tells the editor that another thread was selected. */
void dap_tell_focus(struct dap *d);

/* ---- dap_program.c ---- */

/* Waits a short time for a message or output of the program, for its end, or for the editor. */
void dap_wait(struct dap *d);
/* Ends the program, if it runs. */
void dap_close(struct dap *d);

#endif
