/* What the files of debug/ share: the debugger of a process, its breakpoints, and the launch that
 * it has to do with. Private to debug/.
 *
 * The launch runs under a schedule, on one thread. Where it is to stop, that thread serves the
 * front end's requests (requests.c) until one lets it go on: a *motion*. Going back is running
 * again from a snapshot, or the start, under the same schedule, to an earlier time: memory is put
 * back first (reverse.c). Such a run is a *pass*; what it prints was printed before.
 */
#ifndef HEDDLE_DEBUG_DEBUGGER_H
#define HEDDLE_DEBUG_DEBUGGER_H

#include <jansson.h>

#include "debug/run.h"
#include "debug/expression.h"
#include "debug/undo.h"
#include "debug/where.h"
#include "exec/heap_log.h"
#include "exec/schedule.h"
#include "exec/snapshot.h"

/* ---- what is stopped at ---- */

enum point_kind { POINT_LINE, POINT_FUNCTION, POINT_PTX_LINE, POINT_WATCH };

/* Of the hits of a point that are not ignored, which stop. */
enum hit_rule { HIT_ALL, HIT_FROM, HIT_AT, HIT_EACH, HIT_UP_TO };

struct point {
    uint32_t id;
    enum point_kind kind;
    char *file, *function; /* as they were asked for */
    uint32_t line;
    char *condition, *expression; /* expression: what is watched */
    bool enabled, temporary;
    bool placed;            /* a kernel that was launched has had code there, and the front end knows it */
    uint64_t hits, ignored; /* hits that do not stop any more */
    enum hit_rule rule;
    uint64_t rule_count;
    char *log; /* what it tells instead of stopping; or NULL */
    /* POINT_WATCH: */
    enum ptx_space space;    /* GLOBAL, SHARED, LOCAL */
    uint64_t address, bytes; /* generic; */
    uint64_t in_space;       /* the same as events have it */
    const struct c_type *type;
    struct arena arena;    /* of the type */
    struct thread_name of; /* whose shared or local memory it is */
    bool on_reads, on_writes;
    uint64_t launch; /* in which launch alone; of global memory 0: in all */
};

struct log_piece;
struct log_pieces {
    VEC(struct log_piece) list;
};

/* A place of a point in the kernel that runs. */
struct location_at {
    struct point *point; /* an index would do; points live until they are deleted */
    struct op *op;
    uint32_t level;         /* how many of the calls that are inlined there it is in */
    struct node *test;      /* its condition there, or NULL */
    const char *wrong;      /* why the condition cannot be evaluated there: it stops always */
    struct log_pieces *log; /* of a point that tells; or NULL */
};

/* ---- how the launch goes on ---- */

enum motion { MOVE_ON, MOVE_STEP, MOVE_NEXT, MOVE_FINISH, MOVE_UNTIL, MOVE_STEP_PTX, MOVE_NEXT_PTX };

enum pass {
    PASS_FORWARD, /* stops where the motion ends */
    PASS_SEARCH,  /* on the way to a time: notes where the motion would have ended before it */
    PASS_GO,      /* on the way to a time, where it stops */
};

/* A value that the user has given something, at a time; it is given again whenever the launch
 * passes that time again. */
struct edit {
    uint64_t time;
    struct thread_name thread;
    uint32_t frame;
    char *to, *value;
};

struct written {
    bool any, is_read;
    struct point *point;
    struct thread_name thread;
    const struct op *op;
    uint64_t time;
    uint8_t before[64]; /* n_before of the bytes that there were */
    uint64_t n_before;
};

/* What a checker has found: at an operation that a warp was executing. */
struct checked {
    uint64_t time; /* before that */
    struct thread_name thread;
    const char *text, *code, *notes[2]; /* notes: of a race, the other access */
    uint32_t n_notes;
};

/* A snapshot, what has been written in global memory since, and where the rest stood. */
struct kept {
    struct snapshot *of;
    uint64_t time;
    struct undo undo;
    struct stop last;
    size_t heap;
};

struct module_info;

struct run {
    struct debugger *d;
    struct machine *machine;
    struct launch_request *request;
    struct kernel *kernel;
    const struct debug_names *names;
    uint64_t number; /* among the launches that the debugger has seen, from 1 on */
    const char *policy;
    struct stopper stopper;
    struct event_client client;
    struct schedule schedule;
    struct arena arena; /* of what lives as long as the launch */
    struct lines lines;
    VEC(struct location_at) locations;
    VEC(struct module_info *) modules; /* scope.h */
    struct launch *launch;             /* while it runs */
    VEC(uint32_t) hit;                 /* the points that it stopped at last */
    struct stop now;                   /* where it stands; warp NULL: nowhere, as it has ended */
    bool in_fault;                     /* the operation of `now` has failed */
    uint64_t time;                     /* of the stop */
    struct thread_name focus;
    uint32_t frame; /* of the focus's calls: 0 is the innermost */
    /* the motion */
    enum motion motion;
    uint64_t count;        /* how often */
    struct line_keys keys; /* where the focus has come last, */
    uint32_t first_depth;  /* and its calls when the motion began */
    uint32_t first_op;     /* MOVE_UNTIL: its place in the code */
    struct {
        const struct code *of, *caller; /* MOVE_FINISH: the function that is left, no inlined one, */
        const struct op *call;          /* and its call; or NULL. Behind the motion: what has returned */
        bool done;
    } finished;
    bool focus_leaves; /* it executes its last operation */
    uint64_t poll_at;  /* when to look for a message */
    bool interrupted;
    struct written written; /* by a watchpoint */
    uint32_t also;          /* the breakpoint that stops where a watchpoint does, or 0 */
    struct point *searched; /* who has written last is searched for, and will stand in `written`; or NULL */
    /* passes */
    enum pass pass;
    uint64_t until;      /* PASS_SEARCH: its end; PASS_GO: where */
    VEC(uint64_t) found; /* PASS_SEARCH: the last `count` of them, around */
    uint64_t n_found;
    uint64_t begun_at; /* the time when the pass has begun */
    uint64_t
        border; /* PASS_SEARCH: behind the first operation of the focus, before which it is not known where it was; or 0 */
    uint64_t stands_at; /* of a search for the last write: the time to come back to */
    bool again;         /* the launch has been ended to be run again, */
    uint64_t from;      /* from this time or an earlier one on */
    uint64_t furthest;  /* what it prints before that time has been printed */
    /* to go back: */
    struct undo undo; /* since the start, up to the first that is kept */
    struct {
        struct kept *at;
        uint32_t n, capacity;
    } kept;
    uint64_t left_bytes;    /* of --snapshots */
    uint64_t apart;         /* how far apart they are, in operations of warps */
    uint64_t next_snapshot; /* a time */
    bool lost;              /* not all could be kept: there is no way back */
    struct heap_log heap;
    uint64_t heap_used; /* when the launch began */
    /* --check: */
    struct event_client late;                                  /* behind the checkers */
    VEC(struct checked) findings;                              /* of this launch, */
    VEC(const char *) known;                                   /* and the texts of all that are known; */
    size_t n_checked;                                          /* how many the checker has counted */
    const struct checked *at_finding;                          /* where it stands, inside of the operation; or NULL */
    const struct checked *passed;                              /* where it goes on from; or NULL */
    const char *no_way_back;                                   /* why not; or NULL */
    const char *reason;                                        /* of the last stop: "breakpoint", "step", ... */
    void (*print)(void *data, const char *text, size_t bytes); /* the machine's, while it is kept from it */
};

struct debugger {
    int link;
    bool gone;                    /* the front end is */
    void (*serve)(struct run *r); /* requests_serve() */
    bool (*poll)(struct run *r);  /* requests_poll() */
    pthread_mutex_t lock;         /* held by whoever runs a launch under the debugger */
    char *policy;
    struct schedule_launch replayed; /* policy replay:FILE: the launch that the file is of; kernel NULL: any */
    uint64_t replayable;             /* how many of that kernel there have been */
    uint64_t snapshot_bytes;
    struct {
        struct point **at;
        uint32_t n, capacity;
    } points;
    struct {
        struct edit *at;
        uint32_t n, capacity;
    } edits;
    uint32_t next_id;
    uint64_t launches;
    bool always;         /* launches in which nothing is to stop run under it, too */
    bool begun;          /* the front end has said what it had to say before the first launch */
    bool stop_at_launch; /* at the first operation of the next */
    bool kills;          /* every launch from now on */
    struct run *run;     /* or NULL */
};

/* ---- points.c ---- */

/* Finds the places of all points in the run's kernel. */
void points_locate(struct run *r);
/* Adds one; NULL where memory is exhausted. */
struct point *point_add(struct debugger *d, enum point_kind kind);
struct point *point_find(struct debugger *d, uint32_t id);
void point_delete(struct debugger *d, struct point *p);
/* Those that stop once, and have. */
void points_delete_reached(struct debugger *d);
/* Which hits stop: "3" and ">= 3", from the third on; "== 3", "% 3", "<= 3", "> 3", "< 3". False:
 * it is none of that. */
bool point_read_hits(struct point *p, const char *text);
/* It is hit once more, forwards: does it stop? */
bool point_hit(struct point *p);
/* How many places a point has; what it is called, with the line where it has come to be. */
uint32_t point_places(const struct run *r, const struct point *p);
/* Of a line without code: the next one that has some, in the same file; 0: there is none.
 * *last: the last line of that file that has some; 0: the kernel has no code of it. */
uint32_t point_nearest(const struct run *r, const struct point *p, uint32_t *last);
/* The same of functions that the kernel does not come to: of other kernels; 0: there is none. */
uint32_t point_elsewhere(const struct run *r, const struct point *p);
/* Is that path what was asked for: by its last components, or whole? */
bool point_is_file(const char *path, const char *asked);
/* Is a function called so: by its name in the PTX, or in the source, of which the end does? */
bool point_is_called(struct str mangled, const char *asked, struct arena *arena);
/* The names that a file or function might be meant by; or NULL. */
const char *point_suggestion(const struct run *r, const struct point *p, struct arena *arena);

/* ---- log.c ---- */

/* "i is {i}" at a place. What is wrong with a value is told in its stead. */
struct log_pieces *log_parse(const char *text, const struct scope *scope, struct arena *arena);
void log_tell(struct run *r, const struct location_at *at, const struct frame *f, uint32_t lanes);

/* ---- scope.c ---- */

/* What is visible in a frame of a thread; frame NULL: what has an address alone. */
struct scope scope_of(struct run *r, const struct call_frame *frame);
/* The same of an operation of a function, in so many of the calls that are inlined there. */
struct scope scope_at(struct run *r, const struct code *code, const struct op *op, uint32_t level);
/* What a call of a function has returned, in the caller's frame, while the thread stands behind the call; NULL: nothing,
 * or its type is not known. */
struct node *scope_returned(struct run *r, const struct code *of, const struct ir_call *call, struct arena *arena);
/* Finds the lines of the kernel. */
void scope_lines(struct run *r);
/* Loads the library that reads debugging information, if it is there; before a sandbox is entered. */
void scope_load(const char *path);
/* Ends the use of debugging information. */
void scope_close(struct run *r);

/* ---- move.c ---- */

/* The thread that is looked at goes on as the motion says, from where it stands. */
void move_begin(struct run *r, enum motion motion, uint64_t count);
/* The run is begun again, to find where the motion would have ended before, or at a time. */
void move_back(struct run *r, enum motion motion, uint64_t count);
void move_to(struct run *r, uint64_t time);
/* The same, to find the last write to what a point watches: the launch then stands where it stands
 * now. */
void move_search(struct run *r, struct point *p);

/* The launch is over while a pass looks for something: as if it had come to its end. */
void move_end(struct run *r);
/* The launch is about to run again, from a time on. */
void move_again(struct run *r, uint64_t time);

/* How many calls out the frame is that is looked at. */
uint32_t move_outer(const struct run *r, const struct where *w);
/* The focus has changed: the frame that is looked at is its first. */
void frame_reset(struct run *r);

/* For the stopper, and the client of events: */
bool move_on_stop(void *data, const struct stop *at);
void move_on_fault(void *data, struct warp *w, const struct op *op, unsigned lane);
void move_on_access(void *data, const struct access_event *e);
void move_on_heap(void *data, const struct heap_event *e);

/* The launch is inside of an operation that a checker has found something at. */
void move_on_finding(struct run *r, const struct checked *f);

/* ---- returned.c ---- */

/* Notes which function `finish` leaves, of the frame that is looked at; none if that is an inlined call. */
void returned_note(struct run *r, const struct where *w);
/* Does a thread stand at the first instruction behind that call? */
bool returned_is_there(const struct run *r, const struct stop *at);
/* Adds the value to an event. */
void returned_tell(struct run *r, json_t *to, struct arena *arena);

/* ---- findings.c ---- */

/* What has been found at the operation that is executed at a time; or NULL. */
const struct checked *finding_at(const struct run *r, uint64_t time);
/* What is found up to now is no news. */
void findings_forget(struct run *r);

/* ---- reverse.c ---- */

void back_open(struct run *r);
void back_close(struct run *r);
/* Bytes of global memory are about to be written. */
void back_keep(struct run *r, uint64_t at, uint64_t bytes);
/* All is as it was when the launch began; it is over. */
void back_restart(struct run *r);
/* The table that has what is written now. */
struct undo *back_since(struct run *r);

/* ---- requests.c, tell.c ---- */

/* Serves requests until the launch is to go on, or the front end has gone. */
void requests_serve(struct run *r);
/* Tells the front end that the launch has stopped. */
void requests_tell_stop(struct run *r, const char *reason, const char *text);
/* That nothing has run yet; that the launch has ended. */
void requests_tell_ready(struct run *r);
/* Which points have code in this kernel as the first one. */
void requests_tell_placed(struct run *r);
void requests_tell_failure(struct debugger *d, const struct kernel *k, const struct diags *diags);
void requests_tell_end(struct run *r, hd_result result, const struct diags *diags);
/* Serves what has come in while the launch runs; true where it is to stop. */
bool requests_poll(struct run *r);

#endif
