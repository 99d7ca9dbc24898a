/* Open addressing with linear probing, at most half full; see map.h. */
#include "base/map.h"

static struct map_entry *find(const struct map *m, struct str name, uint32_t hash)
{
    uint32_t mask = m->capacity - 1;
    for (uint32_t i = hash & mask;; i = (i + 1) & mask) {
        struct map_entry *e = &m->entries[i];
        if (!e->value || (e->hash == hash && str_eq(e->name, name)))
            return e;
    }
}

static void grow(struct map *m)
{
    struct map old = *m;
    m->capacity = old.capacity ? old.capacity * 2 : 16;
    m->entries = ARENA_ARRAY(m->arena, struct map_entry, m->capacity);
    for (uint32_t i = 0; i < old.capacity; i++)
        if (old.entries[i].value)
            *find(m, old.entries[i].name, old.entries[i].hash) = old.entries[i];
}

void *map_get_hashed(const struct map *m, struct str name, uint32_t hash)
{
    return m->capacity ? find(m, name, hash)->value : NULL;
}

void *map_get(const struct map *m, struct str name)
{
    return m->capacity ? find(m, name, str_hash(name))->value : NULL;
}

void *map_put(struct map *m, struct str name, void *value)
{
    if (2 * (m->n + 1) > m->capacity)
        grow(m);
    uint32_t hash = str_hash(name);
    struct map_entry *e = find(m, name, hash);
    void *before = e->value;
    if (!before)
        m->n++;
    *e = (struct map_entry){name, hash, value};
    return before;
}
