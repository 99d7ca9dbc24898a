/* Where the threads of a launch are while it stands still, and where that is in the texts. */
#ifndef HEDDLE_DEBUG_WHERE_H
#define HEDDLE_DEBUG_WHERE_H

#include "base/text.h"
#include "debug/lines.h"
#include "exec/stops.h"

/* A thread by what does not change when the launch is run again. */
struct thread_name {
    uint64_t block; /* its index in the grid */
    uint32_t warp, lane;
};

enum thread_state {
    THREAD_ABSENT, /* its block runs no more, or not yet, or there is no such thread */
    THREAD_FRESH,  /* it has executed nothing */
    THREAD_READY,  /* it is about to execute `op` */
    THREAD_WAITS,  /* at `op`: for others of its warp, or its block */
    THREAD_EXITED,
};

/* "absent", "fresh", ...: as front ends are told. */
const char *thread_state_word(enum thread_state s);

struct where {
    enum thread_state state;
    struct warp *warp;
    unsigned lane;
    struct activation *act;
    const struct op *op;
    uint32_t code_block;
    uint32_t lanes; /* of the warp that are there, too */
};

/* The resident block of an index; NULL: it has ended, or not begun. */
struct block *block_find(const struct launch *l, uint64_t index);
/* `now`: the warp that stands before an operation. */
struct where thread_find(const struct launch *l, const struct stop *now, const struct thread_name *t);
struct where lane_find(const struct stop *now, struct warp *w, unsigned lane);

/* A call: of a function, or of one that was inlined into another. */
struct call_frame {
    struct activation *act;
    const struct op *op;
    const char *function; /* as the source has it; NULL: of what was inlined is not known */
    const char *file;     /* NULL: unknown */
    uint32_t line, ptx_line;
    uint32_t inlined; /* how many of the calls that are inlined there it is in; 0: the function itself */
};

/* The calls that a thread is in, from the innermost out; `at` has room for `most`. */
enum { MOST_FRAMES = 200 };
uint32_t frames_find(const struct lines *l, const struct where *w, struct call_frame at[MOST_FRAMES],
                     struct arena *arena);

/* The frame that a user looks at first: past what a library has inlined there. */
uint32_t frames_hidden(const struct lines *l, const struct where *w);

/* The line of PTX of a site, or 0. */
uint32_t ptx_line(const struct site *s);

/* ---- lines, as a thread comes through them ---- */

/* What a thread's calls stand at: a key for each, from the outermost in. */
enum { MOST_KEYS = 40 };
struct line_keys {
    uint32_t n;
    struct line_key {
        const char *file;        /* NULL where no line is known: then */
        const struct code *code; /* the function, */
        uint32_t line;           /* and the place in the PTX */
    } at[MOST_KEYS];
};
void keys_find(const struct lines *l, const struct activation *a, const struct op *o, struct line_keys *k);
/* How many of them are further in than a frame's: of a library's, which has none, than those that it has called. */
uint32_t keys_before(const struct lines *l, const struct activation *a, const struct op *o, uint32_t frame);
/* Does a thread that goes from the one to the other begin a line? *depth: the number of calls that
 * it is in there, where the line is: less than before only where it has returned to a line's start.
 * A return into the middle of a line begins none. */
/* Is nothing known of the operation's line, in a function of which some lines are known? A thread
 * comes through it as if it belonged to the line before. */
bool line_is_unknown(const struct lines *l, const struct activation *a, const struct op *o);
bool keys_begin_line(const struct line_keys *before, const struct line_keys *now, uint32_t *depth);

#endif
