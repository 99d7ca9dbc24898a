/* Where the threads of a stopped launch are, in the code and in the sources. */
#ifndef HEDDLE_DEBUG_WHERE_H
#define HEDDLE_DEBUG_WHERE_H

#include "base/text.h"
#include "debug/lines.h"
#include "exec/stops.h"

/* A thread, named by what stays the same when the launch runs again. */
struct thread_name {
    uint64_t block; /* its index in the grid */
    uint32_t warp, lane;
};

enum thread_state {
    THREAD_ABSENT, /* its block does not run now, or there is no such thread */
    THREAD_FRESH,  /* it has executed nothing */
    THREAD_READY,  /* it is about to execute `op` */
    THREAD_WAITS,  /* at `op`: for others of its warp, or its block */
    THREAD_EXITED,
};

/* "absent", "fresh", ...: the words that front ends get. */
const char *thread_state_word(enum thread_state s);

struct where {
    enum thread_state state;
    struct warp *warp;
    unsigned lane;
    struct activation *act;
    const struct op *op;
    uint32_t code_block;
    uint32_t lanes; /* all lanes of the warp at this operation */
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
    const char *function; /* its name in the source; NULL: inlined and unknown */
    const char *file;     /* NULL: unknown */
    uint32_t line, ptx_line;
    /* How many of the inlined calls there enclose it; 0: it is the function itself. */
    uint32_t inlined;
};

/* The calls that a thread is in, from the innermost out; `at` has room for `most`. */
enum { MOST_FRAMES = 200 };
uint32_t frames_find(const struct lines *l, const struct where *w, struct call_frame at[MOST_FRAMES],
                     struct arena *arena);

/* The frame that is selected first: the innermost one outside of inlined library code. */
uint32_t frames_hidden(const struct lines *l, const struct where *w);

/* The line of PTX of a site, or 0. */
uint32_t ptx_line(const struct site *s);

/* ---- the lines that a thread passes ---- */

/* The positions of a thread's calls: a key for each, from the outermost in. */
enum { MOST_KEYS = 40 };
struct line_keys {
    uint32_t n;
    struct line_key {
        const char *file;        /* NULL: the line is unknown; then: */
        const struct code *code; /* the function */
        uint32_t line;           /* the line, or the place in the PTX */
    } at[MOST_KEYS];
};
void keys_find(const struct lines *l, const struct activation *a, const struct op *o, struct line_keys *k);
/* How many of the keys are further in than those of a frame. (Library code has no keys: then, than
 * those of the calls that it has made.) */
uint32_t keys_before(const struct lines *l, const struct activation *a, const struct op *o, uint32_t frame);
/* Is the operation's line unknown, in a function of which some lines are known? A thread passes it
 * as if it belonged to the line before. */
bool line_is_unknown(const struct lines *l, const struct activation *a, const struct op *o);
/* Does a thread that goes from the one position to the other begin a line? *depth: in how many
 * calls the line is; fewer than before only if the thread has returned to the start of a line. A
 * return into the middle of a line does not begin one. */
bool keys_begin_line(const struct line_keys *before, const struct line_keys *now, uint32_t *depth);

#endif
