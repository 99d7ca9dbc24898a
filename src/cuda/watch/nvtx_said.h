/* What has been said of memory by NVTX's memory extension: pools, their regions, names and
 * permissions, and what launches are held to by that. nvtx_memory.c takes the calls. Private to
 * cuda/watch/.
 */
#ifndef HEDDLE_CUDA_WATCH_NVTX_SAID_H
#define HEDDLE_CUDA_WATCH_NVTX_SAID_H

#include <pthread.h>
#include <stdint.h>

#include "cuda/nvtx3/nvToolsExtMem.h"
#include "cuda/state/state.h"

struct range {
    uint64_t start, end;
};

/* A pool; a region of one, which it has given out; what somebody calls a part of memory. */
struct pool {
    struct pool *next;
    struct range at;
    char *name; /* or NULL */
};
struct region {
    struct region *next;
    struct range at;
    const struct pool *of;
};
struct name {
    struct name *next;
    uint64_t start;
    char *text;
};

/* What is allowed where, by an object of permissions: which is that of the process, of a device, or
 * one that threads bind. */
enum { PROCESS = 1, FIRST_DEVICE = 2, FIRST_MADE = FIRST_DEVICE + MAX_DEVICES };
struct permission {
    struct permission *next;
    uint32_t object;
    struct range at;
    unsigned uses;
};
struct object {
    struct object *next;
    uint32_t number;
    unsigned excludes; /* of what others allow, HD_MEMORY_* */
};

extern struct said {
    pthread_mutex_t lock;
    struct pool *pools;
    struct region *regions;
    struct name *names;
    struct permission *permissions;
    struct object *objects;
    uint32_t n_objects;
    uint64_t changes;
    bool any; /* something has been said: read without the lock */
    const struct nvtx_memory_asks *asks;
    /* The rules that were made last: */
    hd_memory_rules *made;
    uint64_t made_at;
    uint32_t made_for; /* object */
    int made_on;       /* device */
} said;

/* The object that the thread has bound, and the bits that its binding takes from others. */
extern _Thread_local struct said_binding {
    uint32_t object;
    unsigned excludes;
} said_bound;

/* Takes those out of a list that a test names. */
#define REMOVE(type, list, test, give_up)                                                                              \
    for (struct type **link_ = &(list), *x; (x = *link_);) {                                                           \
        if (test) {                                                                                                    \
            *link_ = x->next;                                                                                          \
            give_up;                                                                                                   \
            free(x);                                                                                                   \
        } else {                                                                                                       \
            link_ = &x->next;                                                                                          \
        }                                                                                                              \
    }

void said_changed(void);
/* All of one in the other. */
bool said_is_in(const struct range *inner, const struct range *outer);
void said_forget_permissions(const struct range *at);
void said_remove_region(const struct range *at);
void said_empty_pool(const struct pool *p);
struct pool *said_find_pool(const void *handle);
struct region *said_find_region(uint64_t start);
void said_set_name(uint64_t start, char *text);
const char *said_name_of(uint64_t start);
uint32_t said_object_of(nvtxMemPermissionsHandle_t handle);

#endif
