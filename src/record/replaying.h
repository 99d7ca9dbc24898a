/* Shared by the files of a replay: replay.c has the file's life, replay_definitions.c the
 * definitions; replay_blocks.c, replay_access.c, replay_sync.c and replay_host.c replay
 * events. Private to record/. */
#ifndef HEDDLE_RECORD_REPLAYING_H
#define HEDDLE_RECORD_REPLAYING_H

#include "check/check.h"
#include "check/memory/rules.h"
#include "record/file.h"
#include "record/replay.h"

enum { REPLAY_CHECKERS = 64 };

struct replay_kernel {
    struct site_table table;
    struct site *sites;
    bool *is_described; /* by site: the checker was told of it */
    VEC(struct site_variable) variables;
    VEC(struct code_misuse) misuses;
};

struct replay_launch {
    struct event_launch launch;
    struct event_writes writes;
    struct event_list events;
    struct memory_rules *rules;
    bool has_grid;
};

struct replay_block {
    struct replay *replay;
    struct access_event last; /* the last access, for events that refer to it; its addresses: */
    uint64_t address[WARP_LANES];
    struct access_source source;
    struct event_block block;
};

struct replay_answer {
    enum answer_kind kind;
    uint64_t position, key, value;
    const char *text;
    struct number_list list;
};

struct replay_memory {
    uint64_t start, bytes;
    enum mem_kind kind;
    const char *name;
};

struct replay_checker {
    struct replay *replay;
    struct checker *checker;
    hd_checker_options options;
    VEC(struct replay_memory) memory; /* sorted by address */
};

struct replay {
    struct record_reader *reader;
    struct arena arena;
    uint64_t position; /* of the current event */
    /* Definitions, by number: */
    VEC(const struct source *) sources;
    VEC(const char *) files;
    VEC(const struct cuda_place *) lines;
    VEC(const struct ptx_loc *) locs;
    VEC(struct replay_kernel *) kernels;
    VEC(struct replay_answer) answers; /* by the position of their events, once all are read */
    struct replay_frame {
        uint64_t place;
        hd_frame frame;
    } *frames; /* by place; the frames of one place from the innermost out */
    uint32_t n_frames, frames_capacity;
    const char *program, *findings;
    /* Events: */
    struct replay_checker checkers[REPLAY_CHECKERS];
    unsigned n_checkers;
    VEC(uint32_t) tasks, timelines; /* numbers in this run by the file's numbers; 0: none */
    VEC(hd_memory_rule) rules;      /* for the next launch */
    VEC(struct replay_launch *) launches;
    VEC(struct replay_block *) blocks;  /* NULL: the block has ended */
    struct access_event performing;     /* the access that is performed next; block NULL: none; */
    uint64_t performing_at[WARP_LANES]; /* its addresses */
};

/* ---- replay_definitions.c ---- */

/* Takes the record of a definition. */
void replay_definition(struct replay *r, const struct record *x);
/* Called when all definitions are read. */
void replay_sort(struct replay *r);
const struct replay_answer *replay_answer(const struct replay *r, enum answer_kind kind, uint64_t key);
/* What a checker can ask: struct checker_world. */
struct checker_world replay_world(struct replay_checker *c);
size_t replay_frames(void *data, const void *place, const hd_frame **frames);

/* ---- replay_host.c ---- */

void replay_host(struct replay *r, const struct record *x);
void replay_memory(struct replay *r, const struct record *x);
void replay_rule(struct replay *r, const struct record *x);
void replay_launch(struct replay *r, const struct record *x);
/* The task of this run for the file's number; false if there is none. 0 gives 0. */
bool replay_task(struct replay *r, uint64_t number, uint32_t *task);

/* ---- replay_blocks.c, replay_access.c, replay_sync.c: events of launches. They return false,
 * which ends the replay, if the event is not possible. ---- */

bool replay_grid(struct replay *r, const struct record *x);
bool replay_block(struct replay *r, const struct record *x);
bool replay_block_end(struct replay *r, const struct record *x);
void replay_free_blocks(struct replay *r);
bool replay_access(struct replay *r, const struct record *x);
bool replay_performed(struct replay *r, const struct record *x);
bool replay_issue(struct replay *r, const struct record *x);
bool replay_matrix(struct replay *r, const struct record *x);
bool replay_overtake(struct replay *r, const struct record *x);
bool replay_fault(struct replay *r, const struct record *x);
bool replay_heap(struct replay *r, const struct record *x);
bool replay_enter(struct replay *r, const struct record *x);
bool replay_sync(struct replay *r, const struct record *x);

/* ---- replay_blocks.c: what records name; NULL, and an error, where there is none ---- */

/* Always returns false. */
bool replay_impossible(struct replay *r, const char *why);
struct replay_block *replay_block_at(struct replay *r, uint64_t id);
/* Numbers from 1 on; NULL for 0. Clears *good if there is no such block, or if it is in another
 * cluster than `as`. */
struct event_block *replay_block_or_none(struct replay *r, uint64_t id, const struct event_block *as, bool *good);
const struct site *replay_site_or_none(struct replay *r, const struct event_block *b, uint64_t number, bool *good);
const struct site *replay_site_at(struct replay *r, const struct event_block *b, uint64_t number);
/* The block of a warp; it has not ended, and has that warp. */
struct event_block *replay_warp_at(struct replay *r, uint32_t block, uint32_t warp);
/* A site of its kernel, and *b; NULL if one of them does not exist. */
const struct site *replay_warp_site(struct replay *r, uint32_t block, uint32_t warp, uint64_t site,
                                    struct event_block **b);
/* The clients of the block's launch. */
struct event_list *replay_list_of(const struct event_block *b);

#endif
