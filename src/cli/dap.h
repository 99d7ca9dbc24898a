/* heddle debug --dap: a server of the Debug Adapter Protocol. An editor's requests become those of
 * the debugger in the other process (debug/requests.h), what that says becomes events, and what the
 * program prints becomes output. Private to cli/.
 *
 * A thread's number is 2 + its place in the grid; 1 stands for the program while no kernel stands
 * still. Frames and what can be unfolded have numbers that hold until the launch goes on.
 */
#ifndef HEDDLE_CLI_DAP_H
#define HEDDLE_CLI_DAP_H

#include <stdio.h>

#include "base/vec.h"
#include "cli/debug_front.h"

enum { HOST_THREAD = 1, FIRST_THREAD = 2, PTX_SOURCE = 1 };

/* A thread, and a call of its. */
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
    char *path;      /* DAP_LINE: the source's, "" for the PTX; else NULL */
    json_t *request; /* what the debugger is asked for; without "do": it is refused whatever runs */
    int64_t id, line;
    bool verified, is_set, is_new; /* is_set: the debugger has it; is_new: it has not been asked yet */
    char *refused;                 /* from malloc: why it has not; or NULL */
    struct dap_frame of;           /* DAP_DATA: whose */
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
    json_t *queue; /* requests that have come, and wait */
    int64_t seq;
    bool gone;                   /* the editor is */
    const char *wrong;           /* with what it says, which is no message; or NULL */
    void (*then)(struct dap *d); /* behind the answer to the request; or NULL */
    bool lines_from_0;
    bool opened, configured, has_begun, ends, has_ended, lets_go, stops_at_entry, only_runs;
    int output[2]; /* what the program prints, or -1 */
    struct {
        char at[4];
        size_t n;
    } broken[2];      /* a character of which a part has come */
    struct text says; /* what a kernel that is being launched says on its standard error; its arena NULL: nobody asks */
    /* where it stands */
    int64_t number, grid[3], block[3]; /* of the launch */
    const char *reason;                /* of the stop, as the protocol has it */
    bool focus_is_known;
    struct dap_frame focus;  /* which the debugger looks at, */
    struct dap_frame chosen; /* and the user: that which stopped, until another one is asked for */
    int64_t goes_to;         /* the breakpoint at which `goto` is to come; or 0 */
    char *goto_path;         /* from malloc: the source of the last targets; or NULL */
    VEC(struct dap_frame) frames;
    VEC(struct unfold) unfolds;
    VEC(int64_t) had_stopped; /* threads that have stopped in this launch */
    struct arena at_stop;
    /* breakpoints */
    VEC(struct dap_point) points;
    int64_t next_id;
    VEC(int64_t) asked; /* answers that are to come: of which points; 0: of none */
    json_t *filters;    /* exceptions that stop: their names */
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
/* What is printed to the stream is kept from now on, until its end: the text is from malloc, or
 * NULL. */
FILE *dap_keep_text(FILE **stream, char **text, size_t *n);
void dap_end_text(FILE **stream, FILE *kept);
/* Runs a command of the terminal; what it has printed is from malloc, or NULL. */
void dap_run_line(struct dap *d, const char *line, char **text);
/* Says of a stop what the terminal would. */
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

/* A request's arguments in, the body of its response out; what is wrong, or NULL. */
typedef const char *dap_request_fn(struct dap *d, const json_t *arguments, json_t *body);

#define DAP_REQUEST(name, function, stands) dap_request_fn dap_##function;
#include "cli/dap_requests.def"
#undef DAP_REQUEST

/* ---- dap_look.c ---- */

/* Asks; NULL with *wrong. The answer is the caller's, the text the request's. Takes the request. */
json_t *dap_ask(struct dap *d, json_t *request, const char **wrong);
/* Takes a request that has the launch go on. */
const char *dap_go(struct dap *d, json_t *request);
/* The launch goes on: the front's `await`. */
void dap_await(struct front *f);
/* What has numbers has them no longer. */
void dap_forget_stop(struct dap *d);
int64_t dap_threads_of_block(const struct dap *d);
/* The place of coordinates. */
int64_t dap_place_in(const json_t *c, const int64_t dims[3]);
/* The thread of "focus", or of a place's. */
int64_t dap_thread_of(const struct dap *d, const json_t *focus);
/* False: there is no such thread. */
bool dap_thread_at(const struct dap *d, int64_t id, int64_t block[3], int64_t thread[3]);
/* Takes a request that is answered by a place, which is then looked at. What is wrong, or NULL. */
const char *dap_take_place(struct dap *d, json_t *request);
/* Looks at a thread's call; at a thread, whichever its call. What is wrong, or NULL. */
const char *dap_look(struct dap *d, struct dap_frame at);
const char *dap_look_at_thread(struct dap *d, int64_t thread);
/* The same by the number of a frame; without one, at what the user looks at. */
const char *dap_look_at_frame(struct dap *d, const json_t *number);
/* What a number unfolds, whose thread is then looked at; NULL with *wrong. */
const struct unfold *dap_unfold_at(struct dap *d, int64_t n, const char **wrong);
/* The expression of what a number unfolds into by name; looks at its thread. What is wrong, or
 * NULL. */
const char *dap_expression_of(struct dap *d, int64_t number, const char *name, const char **expression);
/* A file that can be read, or the PTX; with the line in it. */
json_t *dap_source(struct dap *d, const json_t *frame, int64_t *line);

/* ---- dap_points.c ---- */

/* The debugger is asked for all breakpoints: it has none yet. */
void dap_set_points(struct dap *d);
/* An answer to what was asked while the launch ran. */
void dap_take_answer(struct dap *d, json_t *answer);
/* All that are to come, of a debugger that stands still. */
void dap_take_answers(struct dap *d);
/* Tells the editor what has become of its breakpoints, and which others there are. */
void dap_compare_points(struct dap *d);
/* Does a stop for that fault stop? */
bool dap_stops(struct dap *d, const json_t *event);
void dap_free_points(struct dap *d);

/* ---- dap_stops.c ---- */

/* The debugger, which has found a kernel, is told what there is to stop at, and lets it run. */
void dap_begin(struct dap *d);
/* What the debugger says of its own accord. Takes it. */
void dap_take_event(struct dap *d, json_t *event);
/* The editor is told that another thread is looked at. */
void dap_tell_focus(struct dap *d);

/* ---- dap_program.c ---- */

/* Waits a little for the program to say or print something, or to end; for the editor, too. */
void dap_wait(struct dap *d);
/* The program, if it runs, ends. */
void dap_close(struct dap *d);

#endif
