/* See footprint.h. */
#include "explain/footprint.h"

#include <stdlib.h>
#include <string.h>

/* The index of a number in a table of `room` entries, a power of two. */
static size_t place_of(uint64_t number, size_t room)
{
    return (size_t)(number * 0x9E3779B97F4A7C15u >> 20) & (room - 1);
}

/* ---- regions ---- */

static void put_region(struct region **table, size_t room, struct region *r)
{
    size_t at = place_of(r->number, room);
    while (table[at])
        at = (at + 1) & (room - 1);
    table[at] = r;
}

static bool grow_regions(struct footprint *f)
{
    size_t room = f->room ? 2 * f->room : 64;
    struct region **table = calloc(room, sizeof *table);
    if (!table)
        return false;
    for (size_t i = 0; i < f->room; i++)
        if (f->regions[i])
            put_region(table, room, f->regions[i]);
    free(f->regions);
    f->regions = table;
    f->room = room;
    return true;
}

static struct region *find_region(struct footprint *f, uint64_t number)
{
    size_t at = 0;
    if (f->room) {
        at = place_of(number, f->room);
        while (f->regions[at] && f->regions[at]->number != number)
            at = (at + 1) & (f->room - 1);
        if (f->regions[at])
            return f->last = f->regions[at];
    }
    if (2 * f->n_regions >= f->room && !grow_regions(f))
        return NULL;
    struct region *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->number = number;
    put_region(f->regions, f->room, r);
    f->n_regions++;
    return f->last = r;
}

void footprint_touch(struct footprint *f, const struct line *line, unsigned how)
{
    uint64_t number = line->number / REGION_LINES, first = line->number % REGION_LINES * LINE_SECTORS;
    struct region *r = f->last && f->last->number == number ? f->last : find_region(f, number);
    f->lost |= !r;
    if (r && how & FOOTPRINT_READ)
        r->read[first / 64] |= (uint64_t)line->sectors << first % 64;
    if (r && how & FOOTPRINT_WRITE)
        r->written[first / 64] |= (uint64_t)line->sectors << first % 64;
}

/* ---- heat ---- */

static void put_heat(struct heat *table, size_t room, uint64_t sector, uint64_t n, size_t *count)
{
    size_t at = place_of(sector, room);
    while (table[at].sector && table[at].sector != sector + 1)
        at = (at + 1) & (room - 1);
    *count += !table[at].sector;
    table[at].sector = sector + 1;
    table[at].n += n;
}

static bool grow_heat(struct footprint *f)
{
    size_t room = f->heat_room ? 2 * f->heat_room : 256, n = 0;
    struct heat *table = calloc(room, sizeof *table);
    if (!table)
        return false;
    for (size_t i = 0; i < f->heat_room; i++)
        if (f->heat[i].sector)
            put_heat(table, room, f->heat[i].sector - 1, f->heat[i].n, &n);
    free(f->heat);
    f->heat = table;
    f->heat_room = room;
    return true;
}

void footprint_heat(struct footprint *f, uint64_t sector, uint64_t n)
{
    if (2 * f->n_heat >= f->heat_room && !grow_heat(f)) {
        f->lost = true;
        return;
    }
    put_heat(f->heat, f->heat_room, sector, n, &f->n_heat);
}

/* ---- all ---- */

static void merge_region(struct footprint *f, const struct region *from)
{
    struct region *r = find_region(f, from->number);
    f->lost |= !r;
    for (unsigned i = 0; r && i < REGION_WORDS; i++) {
        r->read[i] |= from->read[i];
        r->written[i] |= from->written[i];
    }
}

void footprint_merge(struct footprint *f, struct footprint *from)
{
    f->lost |= from->lost;
    for (size_t i = 0; i < from->room; i++)
        if (from->regions[i])
            merge_region(f, from->regions[i]);
    for (size_t i = 0; i < from->heat_room; i++)
        if (from->heat[i].sector)
            footprint_heat(f, from->heat[i].sector - 1, from->heat[i].n);
    footprint_free(from);
}

void footprint_free(struct footprint *f)
{
    for (size_t i = 0; i < f->room; i++)
        free(f->regions[i]);
    free(f->regions);
    free(f->heat);
    *f = (struct footprint){0};
}

static unsigned count_pairs(uint64_t sectors)
{
    return (unsigned)__builtin_popcountll((sectors | sectors >> 1) & 0x5555555555555555u);
}

static unsigned count_lines(uint64_t sectors)
{
    uint64_t any = sectors | sectors >> 1;
    return (unsigned)__builtin_popcountll((any | any >> 2) & 0x1111111111111111u);
}

struct footprint_sum footprint_sum(const struct footprint *f)
{
    struct footprint_sum s = {0};
    for (size_t i = 0; i < f->room; i++)
        for (unsigned k = 0; f->regions[i] && k < REGION_WORDS; k++) {
            uint64_t read = f->regions[i]->read[k], written = f->regions[i]->written[k];
            s.read += (unsigned)__builtin_popcountll(read);
            s.read_pairs += count_pairs(read);
            s.written += (unsigned)__builtin_popcountll(written);
            s.touched += (unsigned)__builtin_popcountll(read | written);
            s.lines += count_lines(read | written);
        }
    return s;
}

static bool is_hotter(const struct hot_sector *a, const struct hot_sector *b)
{
    return a->operations != b->operations ? a->operations > b->operations : a->address < b->address;
}

void footprint_hottest(const struct footprint *f, struct hot_sector *hottest, unsigned n)
{
    memset(hottest, 0, n * sizeof *hottest);
    for (size_t i = 0; i < f->heat_room; i++) {
        if (!f->heat[i].sector)
            continue;
        struct hot_sector s = {(f->heat[i].sector - 1) * SECTOR_BYTES, f->heat[i].n};
        for (unsigned k = 0; k < n; k++)
            if (is_hotter(&s, &hottest[k])) { /* inserts it, and moves the entries behind it down */
                struct hot_sector cooler = hottest[k];
                hottest[k] = s;
                s = cooler;
            }
    }
}
