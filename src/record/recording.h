/* Shared by the files of a recorder: recorder.c has its life, events.c writes events, definitions.c
 * writes definitions. Private to record/. */
#ifndef HEDDLE_RECORD_RECORDING_H
#define HEDDLE_RECORD_RECORDING_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/map.h"
#include "check/world.h"
#include "record/file.h"
#include "record/recorder.h"

enum { RECORDED_CHECKERS = 64 };

struct recorded_checker {
    struct checker *checker;
    struct machine *machine;
    hd_checker_options options;
    uint64_t version, allocated; /* the state of its memory at the last look */
    struct known_memory {
        uint64_t start, bytes;
        uint32_t kind;
    } *known; /* sorted by address */
    uint32_t n_known;
};

struct recorded_launch {
    struct recorded_launch *next;
    struct recorder *recorder;
    struct event_client client, last; /* the launch's first and last client */
    uint32_t id;
    bool has_grid;
};

struct recorded_block {
    struct recorded_launch *launch;
    uint32_t id;
};

struct kept_answer {
    enum answer_kind kind;
    uint64_t position, key, value;
    char *text;
    uint64_t *list;
    uint32_t n;
};

struct recorded_kernel {
    const struct site_table *table;
    uint8_t *written; /* by site, for sites outside a kernel's record: it is written */
};

struct recorder {
    struct checker_listener listener;
    pthread_mutex_t lock; /* protects everything but the answers */
    struct record_writer *file;
    uint64_t n_events;
    uint32_t n_blocks, n_launches, n_checkers;
    struct recorded_checker checkers[RECORDED_CHECKERS];
    struct recorded_launch *launches;
    VEC(uint64_t) ranges, parties, tasks; /* of the event being written */
    _Atomic bool no_memory;
    pthread_mutex_t answers_lock;
    VEC(struct kept_answer) answers;
    /* definitions.c: */
    struct arena arena; /* for the maps, whose values are numbers from 1 */
    struct map sources, files, lines, locs, places;
    uint32_t n_sources, n_files, n_lines, n_locs;
    bool has_maps;
    VEC(struct recorded_kernel) kernels;
    VEC(const void *) host_places;
};

/* ---- recorder.c ---- */

/* Writes the thread's next event, with the lock held; the second writes an answer to a client that
 * was told of it. `text` is copied. */
void recorder_write_event(struct recorder *r, struct record *x);
void recorder_answer(struct recorder *r, enum answer_kind kind, uint64_t key, uint64_t value, const char *text);

/* ---- events.c ---- */

void recorder_open_events(void);
/* The first and the last client of a launch. They want every event that the clients between them
   want. */
void recorder_set_clients(struct recorded_launch *l, const struct event_list *events);
/* 1 + the block's number; 0 if there is no block, or it is not recorded. */
uint32_t recorder_block(const struct event_block *b);

/* ---- definitions.c: with the lock held ---- */

unsigned recorder_number_of(const struct recorder *r, const struct checker *c);
/* The kernel's number; writes the kernel with its sites, unless that was done. */
uint32_t recorder_kernel(struct recorder *r, const struct site_table *k);
/* The number of a site of the kernel, even one that no event names. */
uint32_t recorder_site(struct recorder *r, const struct site_table *k, const struct site *s);
/* Fills an answer about a site: value is its kernel, key its number. */
void recorder_name_site(struct recorder *r, const struct site *s, struct record *answer);
void recorder_place(struct recorder *r, const void *place);
void recorder_write_frames(struct recorder *r);
/* Records allocations that have begun or ended since the last look. */
void recorder_look_at_memory(struct recorder *r);
void recorder_free_definitions(struct recorder *r);

#endif
