/* Shared by the files of debug/: the debugger of a process, its breakpoints, and the launch that
 * is being debugged. Private to debug/.
 *
 * The launch runs under a schedule, on one thread. When it stops, that thread serves the front
 * end's requests (requests.c) until one of them, a *motion*, lets the launch go on. To go back,
 * memory is restored (reverse.c), and the launch runs again under the same schedule, from a
 * snapshot or from its start, up to an earlier time. Such a run is a *pass*; it prints nothing new.
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

/* ---- breakpoints and watchpoints ---- */

enum point_kind { POINT_LINE, POINT_FUNCTION, POINT_PTX_LINE, POINT_WATCH };

/* Which hits of a point stop, among those that are not ignored. */
enum hit_rule { HIT_ALL, HIT_FROM, HIT_AT, HIT_EACH, HIT_UP_TO };

struct point {
    uint32_t id;
    enum point_kind kind;
    char *file, *function; /* as the user wrote them */
    uint32_t line;
    char *condition, *expression; /* expression: what is watched */
    bool enabled, temporary;
    /* A launched kernel has had code there, and the front end was told. */
    bool placed;
    uint64_t hits, ignored; /* ignored: how many of the next hits do not stop */
    enum hit_rule rule;
    uint64_t rule_count;
    char *log; /* a message that it prints instead of stopping; or NULL */
    /* POINT_WATCH: */
    enum ptx_space space;    /* GLOBAL, SHARED, LOCAL */
    uint64_t address, bytes; /* address: generic */
    uint64_t in_space;       /* the address within its space, as in events */
    const struct c_type *type;
    struct arena arena;    /* of the type */
    struct thread_name of; /* whose shared or local memory it is */
    bool on_reads, on_writes;
    uint64_t launch; /* the only launch in which it stops; 0 (global memory): in all */
};

struct log_piece;
struct log_pieces {
    VEC(struct log_piece) list;
};

/* A place of a point in the kernel that runs. */
struct location_at {
    struct point *point; /* points live until they are deleted */
    struct op *op;
    uint32_t level;         /* how many of the inlined calls there enclose it */
    struct node *test;      /* its condition there, or NULL */
    const char *wrong;      /* why the condition cannot be evaluated: it always stops */
    struct log_pieces *log; /* of a point with a message; or NULL */
};

/* ---- how the launch goes on ---- */

enum motion { MOVE_ON, MOVE_STEP, MOVE_NEXT, MOVE_FINISH, MOVE_UNTIL, MOVE_STEP_PTX, MOVE_NEXT_PTX };

enum pass {
    PASS_FORWARD, /* stops where the motion ends */
    PASS_SEARCH,  /* on the way to a time: notes where the motion would have ended before it */
    PASS_GO,      /* on the way to a time, where it stops */
};

/* An assignment by the user (`set var`) at a time; it is repeated whenever the launch passes that
 * time again. */
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
    uint8_t before[64]; /* the first n_before bytes of the old value */
    uint64_t n_before;
};

/* A finding of a checker, at an operation that a warp was executing. */
struct checked {
    uint64_t time; /* before that operation */
    struct thread_name thread;
    const char *text, *code, *notes[2]; /* notes: of a race, the other access */
    uint32_t n_notes;
};

/* A snapshot, the changes of global memory since then, and the position of everything else. */
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
    VEC(uint32_t) hit;                 /* the points of the last stop */
    struct stop now;                   /* where it has stopped; warp NULL: it has ended */
    bool in_fault;                     /* the operation of `now` has failed */
    uint64_t time;                     /* of the stop */
    struct thread_name focus;
    uint32_t frame; /* of the focus's calls: 0 is the innermost */
    /* the motion */
    enum motion motion;
    uint64_t count;        /* how often */
    struct line_keys keys; /* the focus's last line */
    uint32_t first_depth;  /* how many calls it was in when the motion began */
    uint32_t first_op;     /* MOVE_UNTIL: its place in the code */
    struct {
        /* MOVE_FINISH: the function that is left (not an inlined one), and its caller. */
        const struct code *of, *caller;
        const struct op *call; /* the call; or NULL */
        bool done;
    } finished;
    bool focus_leaves; /* it executes its last operation */
    uint64_t poll_at;  /* when to look for a message */
    bool interrupted;
    struct written written; /* by a watchpoint */
    uint32_t also;          /* the breakpoint that stops where a watchpoint does, or 0 */
    /* The point whose last writer is searched for, for `written`; or NULL. */
    struct point *searched;
    /* passes */
    enum pass pass;
    uint64_t until;      /* the time at which the pass ends */
    VEC(uint64_t) found; /* PASS_SEARCH: a ring of the last `count` ends of the motion */
    uint64_t n_found;
    uint64_t begun_at; /* the time at which the pass began */
    /* PASS_SEARCH: the time after the focus's first operation; its line is not known earlier.
     * Or 0. */
    uint64_t border;
    uint64_t stands_at; /* of a search for the last write: the time to come back to */
    bool again;         /* the launch was ended in order to run again */
    uint64_t from;      /* it runs again from this time or an earlier one */
    uint64_t furthest;  /* output before this time was printed already */
    /* to go back: */
    struct undo undo; /* changes from the start to the first snapshot */
    struct {
        struct kept *at;
        uint32_t n, capacity;
    } kept;
    uint64_t left_bytes;    /* of --snapshots */
    uint64_t apart;         /* the distance of snapshots, in operations of warps */
    uint64_t next_snapshot; /* a time */
    bool lost;              /* some changes were not kept, so it cannot go back */
    struct heap_log heap;
    uint64_t heap_used; /* when the launch began */
    /* --check: */
    struct event_client late;     /* it gets events after the checkers */
    VEC(struct checked) findings; /* of this launch */
    VEC(const char *) known;      /* the texts of all findings so far */
    size_t n_checked;             /* how many the checker has counted */
    /* The finding at which the launch has stopped, inside an operation; or NULL. */
    const struct checked *at_finding;
    const struct checked *passed; /* the finding that it continues from; or NULL */
    const char *no_way_back;      /* why it cannot go back; or NULL */
    /* Of the last stop: "breakpoint", "step", ... */
    const char *reason;
    /* The machine's print function, while the debugger's is in its place. */
    void (*print)(void *data, const char *text, size_t bytes);
};

struct debugger {
    int link;
    bool gone;                    /* the front end has ended */
    void (*serve)(struct run *r); /* requests_serve() */
    bool (*poll)(struct run *r);  /* requests_poll() */
    pthread_mutex_t lock;         /* held by whoever runs a launch under the debugger */
    char *policy;
    /* Policy replay:FILE: the launch that was recorded; kernel NULL: any. */
    struct schedule_launch replayed;
    uint64_t replayable; /* how many launches of that kernel there were */
    uint64_t snapshot_bytes;
    struct {
        struct point **at;
        uint32_t n, capacity;
    } points;
    uint32_t watches; /* how many of them are watchpoints */
    struct {
        struct edit *at;
        uint32_t n, capacity;
    } edits;
    uint32_t next_id;
    uint64_t launches;
    bool always;         /* debug launches without breakpoints, too */
    bool begun;          /* the front end has finished its set-up */
    bool stop_at_launch; /* stop at the next launch's first operation */
    bool kills;          /* end every launch from now on */
    struct run *run;     /* or NULL */
};

/* ---- points.c ---- */

/* Finds the places of all points in the run's kernel. */
void points_locate(struct run *r);
/* Adds one; NULL where memory is exhausted. */
struct point *point_add(struct debugger *d, enum point_kind kind);
struct point *point_find(struct debugger *d, uint32_t id);
void point_delete(struct debugger *d, struct point *p);
/* Deletes temporary points that have stopped. */
void points_delete_reached(struct debugger *d);
/* Which hits stop: "3" and ">= 3", from the third on; "== 3", "% 3", "<= 3", "> 3", "< 3". False:
 * the text is none of these. */
bool point_read_hits(struct point *p, const char *text);
/* It is hit once more, forwards: does it stop? */
bool point_hit(struct point *p);
/* How many places a point has. */
uint32_t point_places(const struct run *r, const struct point *p);
/* For a line without code: the next line of the file that has code, or 0. *last: the last line of
 * the file that has code, or 0 if the kernel has no code of that file. */
uint32_t point_nearest(const struct run *r, const struct point *p, uint32_t *last);
/* The next line with code in functions that only other kernels reach; 0: there is none. */
uint32_t point_elsewhere(const struct run *r, const struct point *p);
/* Does the path equal, or end in, the components that the user asked for? */
bool point_is_file(const char *path, const char *asked);
/* Does a function have this name: in the PTX, or, at least its last components, in the source? */
bool point_is_called(struct str mangled, const char *asked, struct arena *arena);
/* Similar names of a file or function, for a message; or NULL. */
const char *point_suggestion(const struct run *r, const struct point *p, struct arena *arena);

/* ---- log.c ---- */

/* Parses a message such as "i is {i}". If a value cannot be shown, the message says why. */
struct log_pieces *log_parse(const char *text, const struct scope *scope, struct arena *arena);
void log_tell(struct run *r, const struct location_at *at, const struct frame *f, uint32_t lanes);

/* ---- scope.c ---- */

/* The names visible in a frame of a thread; frame NULL: only what has an address. */
struct scope scope_of(struct run *r, const struct call_frame *frame);
/* The same at an operation of a function, within `level` of the inlined calls there. */
struct scope scope_at(struct run *r, const struct code *code, const struct op *op, uint32_t level);
/* The value that a call returned, in the caller's frame, while the thread is right after the call.
 * NULL: it returned nothing, or the type is not known. */
struct node *scope_returned(struct run *r, const struct code *of, const struct ir_call *call, struct arena *arena);
/* Finds the lines of the kernel. */
void scope_lines(struct run *r);
/* Loads the library that reads debugging information, if it is there;
 * before a sandbox is entered. */
void scope_load(const char *path);
/* Ends the use of debugging information. */
void scope_close(struct run *r);

/* ---- move.c ---- */

/* Begins a motion of the focus from where it is. */
void move_begin(struct run *r, enum motion motion, uint64_t count);
/* Runs again to find where the motion would have ended before, or up to a time. */
void move_back(struct run *r, enum motion motion, uint64_t count);
void move_to(struct run *r, uint64_t time);
/* Runs again to find the last write to what a point watches; afterwards the launch is back at the
 * present time. */
void move_search(struct run *r, struct point *p);

/* The launch has ended during a pass: treated like the end of the pass. */
void move_end(struct run *r);
/* The launch is about to run again, from a time on. */
void move_again(struct run *r, uint64_t time);

/* How many calls the selected frame is away from the innermost one. */
uint32_t move_outer(const struct run *r, const struct where *w);
/* The focus has changed: selects its innermost frame. */
void frame_reset(struct run *r);

/* For the stopper, and the client of events: */
bool move_on_stop(void *data, const struct stop *at);
void move_on_fault(void *data, struct warp *w, const struct op *op, unsigned lane);
void move_on_access(void *data, const struct access_event *e);
void move_on_heap(void *data, const struct heap_event *e);

/* Stops inside the operation at which a checker has found something. */
void move_on_finding(struct run *r, const struct checked *f);

/* ---- returned.c ---- */

/* Notes the function of the selected frame, which `finish` leaves; none if the frame is an
 * inlined call. */
void returned_note(struct run *r, const struct where *w);
/* Is a thread at the first instruction after that call? */
bool returned_is_there(const struct run *r, const struct stop *at);
/* Adds the value to an event. */
void returned_tell(struct run *r, json_t *to, struct arena *arena);

/* ---- findings.c ---- */

/* The finding at the operation that is executed at a time; or NULL. */
const struct checked *finding_at(const struct run *r, uint64_t time);
/* Marks all findings so far as known. */
void findings_forget(struct run *r);

/* ---- reverse.c ---- */

void back_open(struct run *r);
void back_close(struct run *r);
/* Bytes of global memory are about to be written. */
void back_keep(struct run *r, uint64_t at, uint64_t bytes);
/* Restores everything to the state before the launch, which has ended. */
void back_restart(struct run *r);
/* The table that records writes now. */
struct undo *back_since(struct run *r);

/* ---- requests.c, tell.c ---- */

/* Serves requests until the launch is to go on, or the front end has gone. */
void requests_serve(struct run *r);
/* Tells the front end that the launch has stopped. */
void requests_tell_stop(struct run *r, const char *reason, const char *text);
/* Tells it that nothing has run yet. */
void requests_tell_ready(struct run *r);
/* Tells it which points have code in a kernel for the first time. */
void requests_tell_placed(struct run *r);
void requests_tell_failure(struct debugger *d, const struct kernel *k, const struct diags *diags);
void requests_tell_end(struct run *r, hd_result result, const struct diags *diags);
/* Serves requests that arrive while the launch runs; true: the launch must stop. */
bool requests_poll(struct run *r);

#endif
