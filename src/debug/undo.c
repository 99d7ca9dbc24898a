/* See undo.h. */
#include "debug/undo.h"

#include <stdlib.h>
#include <string.h>

static size_t place_of(const struct undo *u, uint64_t at)
{
    uint64_t h = at / UNDO_BYTES * 0x9E3779B97F4A7C15u;
    size_t i = (size_t)(h >> 20) & (u->room - 1);
    while (u->pieces[i].at && u->pieces[i].at != at)
        i = (i + 1) & (u->room - 1);
    return i;
}

static bool grow(struct undo *u, uint64_t *left_bytes)
{
    struct undo bigger = {.n = u->n, .room = u->room ? 2 * u->room : 1 << 6};
    uint64_t more = (bigger.room - u->room) * sizeof *u->pieces;
    if (more > *left_bytes)
        return false;
    bigger.pieces = calloc(bigger.room, sizeof *bigger.pieces);
    if (!bigger.pieces)
        return false;
    for (size_t i = 0; i < u->room; i++)
        if (u->pieces[i].at)
            bigger.pieces[place_of(&bigger, u->pieces[i].at)] = u->pieces[i];
    free(u->pieces);
    *u = bigger;
    *left_bytes -= more;
    return true;
}

static bool keep_piece(struct undo *u, uint64_t at, const void *before, uint64_t *left_bytes)
{
    if (2 * (u->n + 1) > u->room && !grow(u, left_bytes))
        return false;
    struct undo_piece *p = &u->pieces[place_of(u, at)];
    if (p->at)
        return true;
    p->at = at;
    memcpy(p->before, before, UNDO_BYTES);
    u->n++;
    return true;
}

bool undo_keep(struct undo *u, uint64_t at, uint64_t bytes, uint64_t *left_bytes)
{
    bool kept = true;
    uint64_t end = at + bytes;
    for (at -= at % UNDO_BYTES; at < end && kept; at += UNDO_BYTES)
        kept = keep_piece(u, at, (const void *)(uintptr_t)at, left_bytes);
    return kept;
}

void undo_all(struct undo *u)
{
    for (size_t i = 0; i < u->room; i++)
        if (u->pieces[i].at)
            memcpy((void *)(uintptr_t)u->pieces[i].at, u->pieces[i].before, UNDO_BYTES);
    if (u->room)
        memset(u->pieces, 0, u->room * sizeof *u->pieces);
    u->n = 0;
}

bool undo_merge(struct undo *earlier, struct undo *later, uint64_t *left_bytes)
{
    bool kept = true;
    if (!earlier->n) {
        struct undo none = *earlier;
        *earlier = *later;
        *later = none;
    }
    for (size_t i = 0; i < later->room && kept; i++)
        if (later->pieces[i].at)
            kept = keep_piece(earlier, later->pieces[i].at, later->pieces[i].before, left_bytes);
    if (kept)
        undo_free(later, left_bytes);
    return kept;
}

void undo_free(struct undo *u, uint64_t *left_bytes)
{
    *left_bytes += u->room * sizeof *u->pieces;
    free(u->pieces);
    *u = (struct undo){0};
}
