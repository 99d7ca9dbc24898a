/* A checker's interface to its surroundings besides the events of launches (exec/events.h). On
 * the other side is a machine with a running program, or a recorded file (src/record). */
#ifndef HEDDLE_CHECK_WORLD_H
#define HEDDLE_CHECK_WORLD_H

#include "exec/events.h"
#include "exec/queue.h"
#include "mem/space.h"

struct checker;

/* Acts of the host that a checker is told of. */
enum host_event_kind {
    /* A task: task, timeline (before), timeline_after, note, tasks (that it waits for); block,
     * warp, lane: a thread of a launch has put it, block NULL: the host. */
    HOST_SUBMIT,
    HOST_BEGIN, /* task */
    HOST_END,   /* task */
    HOST_WAIT,  /* tasks: the host has waited for these */
    HOST_LEARN, /* task, tasks: the successors of `task` come after `tasks`, too */
    HOST_CLOSE, /* timeline */
    /* a task that is not a launch, such as a copy, is about to access memory: task, address,
     * bytes, write */
    HOST_RANGE,
    HOST_ACCESS, /* the host itself accesses memory: address, bytes, write, whole, done, place */
    /* Address, bytes, name (copied; NULL: the allocation's own): memory becomes undefined. */
    HOST_UNDEFINED,
    HOST_DEFINED, /* memory becomes defined */
    HOST_COPIED,  /* memory becomes as defined as the memory at `from` */
    /* Address, bytes: memory is about to be freed, or a part of an allocation reused. */
    HOST_FORGET,
    HOST_WRITTEN, /* all memory becomes defined */
    HOST_LAUNCH_END,
    HOST_FINISH, /* the end: memory that has not been freed becomes a finding */
    HOST_EVENT_KINDS
};

struct host_event {
    enum host_event_kind kind;
    uint32_t task, timeline, timeline_after;
    const struct task_note *note;
    const uint32_t *tasks;
    uint32_t n_tasks;
    uint64_t address, bytes, from;
    bool write, whole, done;
    const void *place; /* as hd_checker_options.place returns it */
    const char *name;
    const struct event_block *block;
    unsigned warp, lane;
};

/* An instruction in a basic block that accesses wgmma registers still in use (race/wgmma.c). */
struct code_misuse {
    uint32_t function, block, what;
    const struct site *site;
};

/* What a checker asks. */
struct checker_world {
    void *data;
    /* The allocation that holds an address; */
    bool (*find)(void *data, uint64_t address, struct mem_block *block);
    /* and its name, to follow its size: " `name`", " allocated at main.cu:27", "". */
    const char *(*buffer)(void *data, const struct mem_block *block, struct arena *arena);
    /* Without code at hand (site_table.code): is a basic block after a barrier, or after a call
     * that leads to one? And the i-th misuse of a kernel; false after the last. */
    bool (*behind)(void *data, const struct site *barrier, uint32_t block);
    bool (*misuse)(void *data, const struct site_table *kernel, uint32_t i, struct code_misuse *m);
};

/* A recorder. Each function may be called from any thread, those for the host also from a signal
 * handler. */
struct checker_listener {
    void *data;
    /* Until the thread releases its hold, which nests, no other thread's events are delivered.
     * So the checker processes acts of the host and events of launches in the order in which
     * they are recorded. */
    void (*hold)(void *data);
    void (*give_back)(void *data);
    /* These are called under the hold. `host`: before the act; for HOST_SUBMIT, after it. */
    void (*host)(void *data, const struct checker *c, const struct host_event *e);
    /* A launch with these clients begins: the recorder may become one of them. False without
     * memory. */
    bool (*launch)(void *data, const struct checker *c, const struct site_table *kernel,
                   const struct memory_rules *rules, struct event_list *events);
    void (*misuse)(void *data, const struct site_table *kernel, const struct code_misuse *m);
    /* These are called at any time: the world has given this answer. */
    void (*buffer)(void *data, uint64_t start, const char *text);
    void (*behind)(void *data, const struct site *barrier, const uint64_t *set, uint32_t words);
};

/* The world's answers, for the tools. */
bool checker_find(const struct checker *c, uint64_t address, struct mem_block *block);
const char *checker_buffer(const struct checker *c, const struct mem_block *block, struct arena *arena);

#endif
