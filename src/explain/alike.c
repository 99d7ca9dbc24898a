/* See alike.h. */
#include "explain/alike.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

struct alike_entry {
    struct fingerprint print;
    uint64_t number;
};

/* ---- fingerprints ---- */

static void add_words(struct fingerprint *f, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i += sizeof(uint64_t)) {
        uint64_t w = 0;
        memcpy(&w, (const char *)bytes + i, n - i < sizeof w ? n - i : sizeof w);
        f->half[0] = str_hash_mix(f->half[0] ^ w, str_hash_keys[1]);
        f->half[1] = str_hash_mix(f->half[1] ^ ~w, str_hash_keys[0] | 1);
    }
}

static void add_text(struct fingerprint *f, const char *text)
{
    add_words(f, text ? text : "", text ? strlen(text) : 0);
}

struct fingerprint fingerprint_of(const struct kernel_counters *c)
{
    struct fingerprint f = {{str_hash_keys[0], str_hash_keys[1]}};
    struct kernel_counters figures = *c;
    /* The kernel's number identifies it. */
    figures.name = figures.mangled = figures.launched_by = NULL;
    add_text(&f, c->launched_by);
    for (unsigned i = 0; i < HOT_PLACES; i++) {
        figures.hottest[i].name = NULL;
        add_text(&f, c->hottest[i].name);
    }
    add_words(&f, &figures, sizeof figures);
    return f;
}

/* ---- the table ---- */

/* The entry of the fingerprint, or the free one where it would go. The table is not empty. */
static struct alike_entry *place_of(const struct alike *a, struct fingerprint f)
{
    size_t i = f.half[0] & (a->room - 1);
    while (a->at[i].number && memcmp(&a->at[i].print, &f, sizeof f) != 0)
        i = (i + 1) & (a->room - 1);
    return &a->at[i];
}

uint64_t alike_find(const struct alike *a, struct fingerprint f)
{
    return a->room ? place_of(a, f)->number : 0;
}

/* Returns false if memory is exhausted. */
static bool grow(struct alike *a)
{
    enum { FIRST = 64 };
    struct alike larger = {.n = a->n, .room = a->room ? 2 * a->room : FIRST};
    larger.at = calloc(larger.room, sizeof *larger.at);
    if (!larger.at)
        return false;
    for (size_t i = 0; i < a->room; i++)
        if (a->at[i].number)
            *place_of(&larger, a->at[i].print) = a->at[i];
    free(a->at);
    *a = larger;
    return true;
}

void alike_add(struct alike *a, struct fingerprint f, uint64_t number)
{
    if (2 * (a->n + 1) > a->room && !grow(a))
        return;
    *place_of(a, f) = (struct alike_entry){f, number};
    a->n++;
}

void alike_free(struct alike *a)
{
    free(a->at);
    *a = (struct alike){0};
}
