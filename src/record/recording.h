/* What the files of a recorder share: recorder.c has its life, events.c writes events, still.c what
 * stands still. Private to record/. */
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
    uint64_t version, allocated; /* of its memory, as it was looked at last */
    struct known_memory {
        uint64_t start, bytes;
        uint32_t kind;
    } *known; /* by address */
    uint32_t n_known;
};

struct recorded_launch {
    struct recorded_launch *next;
    struct recorder *recorder;
    struct event_client client, last; /* the first and the last of the launch */
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
    uint8_t *written; /* by site, of those that are no part of a kernel's record: it is known */
};

struct recorder {
    struct checker_listener listener;
    pthread_mutex_t lock; /* of all but the answers */
    struct record_writer *file;
    uint64_t n_events;
    uint32_t n_blocks, n_launches, n_checkers;
    struct recorded_checker checkers[RECORDED_CHECKERS];
    struct recorded_launch *launches;
    VEC(uint64_t) ranges, parties, tasks; /* of the event that is being written */
    _Atomic bool no_memory;
    pthread_mutex_t answers_lock;
    VEC(struct kept_answer) answers;
    /* still.c: */
    struct arena arena; /* of the maps, whose values are numbers from 1 on */
    struct map sources, files, lines, locs, places;
    uint32_t n_sources, n_files, n_lines, n_locs;
    bool has_maps;
    VEC(struct recorded_kernel) kernels;
    VEC(const void *) host_places;
};

/* ---- recorder.c ---- */

/* The thread's next event, with the lock held; and an answer to what a client asks while that is
 * told: `text` is copied. */
void recorder_write_event(struct recorder *r, struct record *x);
void recorder_answer(struct recorder *r, enum answer_kind kind, uint64_t key, uint64_t value, const char *text);

/* ---- events.c ---- */

void recorder_open_events(void);
/* The first and the last client of a launch, which hear of all that these want. */
void recorder_set_clients(struct recorded_launch *l, const struct event_list *events);
/* 1 + the block's number; 0 where there is none, or it is not recorded. */
uint32_t recorder_block(const struct event_block *b);

/* ---- still.c: with the lock held ---- */

unsigned recorder_number_of(const struct recorder *r, const struct checker *c);
/* The kernel's number; it is written, with its sites, where it has not been. */
uint32_t recorder_kernel(struct recorder *r, const struct site_table *k);
/* The number of a site of the kernel that no event need name. */
uint32_t recorder_site(struct recorder *r, const struct site_table *k, const struct site *s);
/* Of an answer about a site: value is its kernel, key its number. */
void recorder_name_site(struct recorder *r, const struct site *s, struct record *answer);
void recorder_place(struct recorder *r, const void *place);
void recorder_write_frames(struct recorder *r);
/* Allocations that have come or gone since it was looked at last. */
void recorder_look_at_memory(struct recorder *r);
void recorder_free_still(struct recorder *r);

#endif
