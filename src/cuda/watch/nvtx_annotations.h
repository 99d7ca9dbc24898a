/* The annotations by NVTX's memory extension: pools with their regions, names and permissions, and
 * the rules that follow for launches. nvtx_memory.c takes the calls. Private to cuda/watch/.
 */
#ifndef HEDDLE_CUDA_WATCH_NVTX_ANNOTATIONS_H
#define HEDDLE_CUDA_WATCH_NVTX_ANNOTATIONS_H

#include <pthread.h>
#include <stdint.h>

#include "cuda/nvtx3/nvToolsExtMem.h"
#include "cuda/state/state.h"

struct range {
    uint64_t start, end;
};

/* A pool; a region that a pool gave out; a name of a part of memory. */
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

/* Rules in an object of permissions: the process's, a device's, or one that threads bind. */
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
    unsigned excludes; /* restricts what others allow: HD_MEMORY_* */
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
    bool any; /* there is some annotation: read without the lock */
    const struct nvtx_memory_asks *asks;
    /* The latest rules: */
    hd_memory_rules *made;
    uint64_t made_at;
    uint32_t made_for; /* the object that they were made for */
    int made_on;       /* the device that they were made for */
} said;

/* The object that the thread has bound, and the permissions that its
 * binding removes from others. */
extern _Thread_local struct said_binding {
    uint32_t object;
    unsigned excludes;
} said_bound;

/* Removes the elements of a list for which a test is true. */
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
/* Is one range inside the other? */
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
