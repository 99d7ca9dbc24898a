/* Hash maps from names to pointers, in an arena. Names are views and must outlive the map. */
#ifndef HEDDLE_BASE_MAP_H
#define HEDDLE_BASE_MAP_H

#include "base/arena.h"
#include "base/str.h"

struct map_entry {
    struct str name;
    uint32_t hash;
    void *value; /* NULL marks a free entry */
};

struct map {
    struct arena *arena;
    struct map_entry *entries;
    uint32_t n, capacity; /* capacity is 0 or a power of two */
};

static inline void map_init(struct map *m, struct arena *arena)
{
    *m = (struct map){.arena = arena};
}

/* The value of `name`, or NULL. */
void *map_get(const struct map *m, struct str name);
void *map_get_hashed(const struct map *m, struct str name, uint32_t hash);
/* Sets the value (not NULL) of `name`; returns the value it had before, or NULL. */
void *map_put(struct map *m, struct str name, void *value);

#endif
