/* Findings of the tools that look at one instruction at a time; races have a list of their own
 * (race/races.h).
 *
 * A finding is one kind of error at one site: it counts how often that occurred, and names one
 * thread, the first of its launch in the order of blocks and threads. So what is reported does not
 * depend on how blocks were shared out to workers. An occurrence that has been counted before takes
 * no lock, unless it is of an earlier thread. Reports are in the order of the source, and have
 * equal findings of one line once.
 */
#ifndef HEDDLE_CHECK_FINDINGS_H
#define HEDDLE_CHECK_FINDINGS_H

#include <pthread.h>
#include <stdatomic.h>

#include "check/report/places.h"
#include "exec/events.h"

struct finding {
    struct finding *next;      /* of all, newest first */
    struct finding *in_bucket; /* of its bucket of sites */
    const char *code;
    enum diag_severity severity;
    const struct site *site; /* the site; modules stay as long as the machine has a checker */
    const void *key;         /* distinguishes findings with one code and site; or NULL */
    struct place place;      /* of the site */
    const char *symbol;      /* of the kernel that was running, mangled, */
    const char *kernel;      /* as its source has it */
    /* In words, what distinguishes findings with one code and line; or NULL. */
    const char *kind;
    _Atomic uint32_t period; /* in which it was described last */
    _Atomic uint64_t launch; /* its number */
    /* Where the host has put that launch (hd_checker_options.place), or NULL. */
    const void *launched;
    _Atomic uint64_t first; /* the first thread seen in it, in the order of blocks and threads */
    _Atomic uint64_t count;
    uint64_t leaked; /* of a leak: blocks that ended with their context */
    const char *text, *help;
    const char *written;   /* for initcheck: what was known of writes at the first occurrence */
    const char *later;     /* where it is written later, */
    struct region *region; /* its region, whose final state says more; or NULL */
};

enum { FINDING_BUCKETS = 1 << 8 };

struct findings {
    pthread_mutex_t lock; /* protects all but `bucket` and what is atomic */
    struct arena arena;   /* of findings and their texts; as long as the checker */
    /* findings_period() begins another: each finding is described anew by
     * its first occurrence in it */
    _Atomic uint32_t period;
    struct finding *newest;
    _Atomic(struct finding *) bucket[FINDING_BUCKETS];
    uint32_t n;
    struct kept_sources sources; /* the texts that contain its places */
};

/* A mistake of lanes of a warp. The finding names the first of them. */
struct occurrence {
    const char *code;
    const struct site *site;
    const void *key;
    const struct event_block *block;
    uint32_t warp, lanes;
    const char *kind;
    enum diag_severity severity;
};

static inline uint32_t lowest_lane(uint32_t lanes)
{
    return lanes & (0 - lanes);
}

/* Counts an occurrence, by its lanes. Returns the finding if it is new or names another thread
 * now, so that it has to be described: then findings_describe() must follow. Otherwise NULL,
 * also without memory. */
struct finding *findings_count(struct findings *f, const struct occurrence *o);
/* The same for an error that needs no further description. */
struct finding *findings_error(struct findings *f, const char *code, const struct site *site, const void *key,
                               const struct event_block *b, uint32_t warp, uint32_t lanes);
void findings_describe(struct findings *f, struct finding *x, const char *help, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Adds a finding that is counted elsewhere. With the lock held. */
struct finding *findings_add(struct findings *f, const struct occurrence *o);

void findings_period(struct findings *f);

/* The end of a finding's sentence, from what is known at the end of the run; or NULL. */
typedef const char *finding_end_fn(const struct finding *f, struct arena *arena);
void findings_report(struct findings *f, finding_end_fn *end, const hd_checker_options *o, struct diags *diags);
void findings_close(struct findings *f);

/* "thread (1,0,0) of block (0,0,0)" */
const char *thread_name(struct arena *arena, const struct event_block *b, uint32_t warp, unsigned lane);
/* The same, from the block's size and index. */
const char *thread_words(struct arena *arena, const uint32_t block[3], const uint32_t ctaid[3], unsigned thread);
/* "block (0,0,0)" */
const char *block_name(struct arena *arena, const struct event_block *b);
/* "at file.cu:12", "at PTX line 7" */
const char *place_name(struct arena *arena, const struct site *s);

#endif
