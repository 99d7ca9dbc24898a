/* What a checker is told and asks beside the events of launches (exec/events.h): by a machine and a
 * program that run, or by a file of what they did (src/record).
 */
#ifndef HEDDLE_CHECK_WORLD_H
#define HEDDLE_CHECK_WORLD_H

#include "exec/events.h"
#include "exec/queue.h"
#include "mem/space.h"

struct checker;

/* What the host does, as far as a checker hears of it. */
enum host_event_kind {
    HOST_SUBMIT,    /* a task: task, strand (before), strand_after, note, tasks (that it waits for); block,
                     * warp, lane: a thread of a launch has put it, block NULL: the host */
    HOST_BEGIN,     /* task */
    HOST_END,       /* task */
    HOST_WAIT,      /* for tasks */
    HOST_LEARN,     /* task, tasks: what comes after it comes after these, too */
    HOST_CLOSE,     /* strand */
    HOST_RANGE,     /* a task that is no launch, as a copy, is about to access memory: task, address, bytes, write */
    HOST_ACCESS,    /* the host itself does: address, bytes, write, whole, done, place */
    HOST_UNDEFINED, /* address, bytes, name (copied; NULL: the allocation's own): nobody has written it; */
    HOST_DEFINED,   /* somebody has; */
    HOST_COPIED,    /* it is as defined as what is at `from` */
    HOST_FORGET,    /* address, bytes: about to be freed, or a part of an allocation with another meaning */
    HOST_WRITTEN,   /* all memory counts as written */
    HOST_LAUNCH_END,
    HOST_FINISH, /* nothing more is launched: what has not been freed becomes a finding */
    HOST_EVENT_KINDS
};

struct host_event {
    enum host_event_kind kind;
    uint32_t task, strand, strand_after;
    const struct task_note *note;
    const uint32_t *tasks;
    uint32_t n_tasks;
    uint64_t address, bytes, from;
    bool write, whole, done;
    const void *place; /* as hd_checker_options.place says it */
    const char *name;
    const struct event_block *block;
    unsigned warp, lane;
};

/* An instruction on registers of wgmma that are still at work (race/wgmma.c), in a block of code. */
struct code_misuse {
    uint32_t function, block, what;
    const struct site *site;
};

/* Who answers. */
struct checker_world {
    void *data;
    /* The allocation that holds an address; */
    bool (*find)(void *data, uint64_t address, struct mem_block *block);
    /* and what it is called, behind its size: " `name`", " allocated at main.cu:27", "". */
    const char *(*buffer)(void *data, const struct mem_block *block, struct arena *arena);
    /* Where no code is at hand (site_table.code): is a block of code behind a barrier, or a call
     * that leads to one? And the i-th misuse of a kernel; false behind the last. */
    bool (*behind)(void *data, const struct site *barrier, uint32_t block);
    bool (*misuse)(void *data, const struct site_table *kernel, uint32_t i, struct code_misuse *m);
};

/* Who records; each function may be called from any thread, those for the host from a signal's
 * handler. */
struct checker_listener {
    void *data;
    /* Nobody else is told of anything until the thread gives back what it holds, which may be
     * several times: so the checker does what the host tells it, and finds what it finds in a
     * launch's events, in the order in which they are recorded. */
    void (*hold)(void *data);
    void (*give_back)(void *data);
    /* These are called while it is held. `host`: before it is done; HOST_SUBMIT: behind it. */
    void (*host)(void *data, const struct checker *c, const struct host_event *e);
    /* A launch begins, of which these are the clients: it may become one. False where memory is
     * exhausted. */
    bool (*launch)(void *data, const struct checker *c, const struct site_table *kernel,
                   const struct memory_rules *rules, struct event_list *events);
    void (*misuse)(void *data, const struct site_table *kernel, const struct code_misuse *m);
    /* These at any time: the world has said so. */
    void (*buffer)(void *data, uint64_t start, const char *text);
    void (*behind)(void *data, const struct site *barrier, const uint64_t *set, uint32_t words);
};

/* A checker's world, asked by its tools. */
bool checker_find(const struct checker *c, uint64_t address, struct mem_block *block);
const char *checker_buffer(const struct checker *c, const struct mem_block *block, struct arena *arena);

#endif
