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

static bool grow(struct undo *u)
{
    struct undo bigger = {.room = u->room ? 2 * u->room : 1 << 10};
    if (bigger.room * sizeof *u->pieces > u->limit_bytes)
        return false;
    bigger.pieces = calloc(bigger.room, sizeof *bigger.pieces);
    if (!bigger.pieces)
        return false;
    for (size_t i = 0; i < u->room; i++)
        if (u->pieces[i].at)
            bigger.pieces[place_of(&bigger, u->pieces[i].at)] = u->pieces[i];
    free(u->pieces);
    u->pieces = bigger.pieces;
    u->room = bigger.room;
    return true;
}

static void keep_piece(struct undo *u, uint64_t at)
{
    if (2 * (u->n + 1) > u->room && !grow(u)) {
        u->lost = true;
        return;
    }
    struct undo_piece *p = &u->pieces[place_of(u, at)];
    if (p->at)
        return;
    p->at = at;
    memcpy(p->before, (const void *)(uintptr_t)at, UNDO_BYTES);
    u->n++;
}

void undo_keep(struct undo *u, uint64_t at, uint64_t bytes)
{
    uint64_t end = at + bytes;
    for (at -= at % UNDO_BYTES; at < end && !u->lost; at += UNDO_BYTES)
        keep_piece(u, at);
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

void undo_free(struct undo *u)
{
    free(u->pieces);
    *u = (struct undo){0};
}
