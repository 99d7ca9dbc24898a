/* See tree.h. */
#include "explore/tree.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS_AT_ONCE = 256 };

bool tree_begin(struct tree *t, uint64_t limit, uint64_t steps_cut)
{
    *t = (struct tree){.n_workers = 1, .steps_left = limit ? limit : UINT64_MAX, .steps_cut = steps_cut};
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    return tree_give(t, NULL, 0, 0);
}

void tree_free(struct tree *t)
{
    for (struct part *part = t->parts, *next; part; part = next) {
        next = part->next;
        free(part);
    }
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->changed);
}

/* ---- with the lock ---- */

static void end(struct tree *t, enum tree_end end)
{
    if (!t->ended) {
        t->end = end;
        t->ended = true;
    }
    pthread_cond_broadcast(&t->changed);
}

/* Is there nobody left who does something? */
static void look_for_end(struct tree *t)
{
    if (t->n_idle + t->n_dry < t->n_workers || t->n_parts || (t->n_dry && t->steps_left))
        return;
    end(t, t->n_dry ? TREE_LIMITED : TREE_EXHAUSTED);
}

static void look_for_hunger(struct tree *t)
{
    atomic_store_explicit(&t->hungry, t->n_idle > t->n_parts, memory_order_relaxed);
}

static bool gives_up(const struct tree *t)
{
    return t->steps_cut && t->steps_taken >= t->steps_cut && t->has_cut;
}

static void put_back(struct tree *t, struct allowance *a)
{
    if (t->n_dry && a->left)
        pthread_cond_broadcast(&t->changed);
    t->steps_left += a->left;
    t->steps_taken -= a->left;
    a->left = 0;
}

/* ---- parts ---- */

void tree_join(struct tree *t)
{
    pthread_mutex_lock(&t->lock);
    t->n_workers++;
    pthread_mutex_unlock(&t->lock);
}

void tree_leave(struct tree *t)
{
    pthread_mutex_lock(&t->lock);
    t->n_workers--;
    look_for_end(t);
    pthread_mutex_unlock(&t->lock);
}

bool tree_give(struct tree *t, const uint8_t *decisions, uint32_t depth, uint8_t first)
{
    struct part *part = malloc(sizeof *part + depth);
    if (!part)
        return false;
    *part = (struct part){.depth = depth, .first = first};
    if (depth)
        memcpy(part->decisions, decisions, depth);
    pthread_mutex_lock(&t->lock);
    part->next = t->parts;
    t->parts = part;
    t->n_parts++;
    look_for_hunger(t);
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    return true;
}

struct part *tree_take(struct tree *t)
{
    struct part *part = NULL;
    pthread_mutex_lock(&t->lock);
    t->n_idle++;
    look_for_hunger(t);
    look_for_end(t);
    while (!t->ended && !t->parts)
        pthread_cond_wait(&t->changed, &t->lock);
    if (!t->ended) {
        part = t->parts;
        t->parts = part->next;
        t->n_parts--;
        t->n_idle--;
        look_for_hunger(t);
    }
    pthread_mutex_unlock(&t->lock);
    return part;
}

void tree_stop(struct tree *t, enum tree_end why)
{
    pthread_mutex_lock(&t->lock);
    end(t, why);
    pthread_mutex_unlock(&t->lock);
}

/* ---- steps ---- */

bool tree_allow(struct tree *t, struct allowance *a)
{
    void (*grow)(void *) = NULL;
    pthread_mutex_lock(&t->lock);
    if (gives_up(t))
        end(t, TREE_GAVE_UP);
    t->n_dry++;
    look_for_end(t);
    while (!t->ended && !t->steps_left)
        pthread_cond_wait(&t->changed, &t->lock);
    t->n_dry--;
    if (!t->ended) {
        a->left = t->steps_left < STEPS_AT_ONCE ? (uint32_t)t->steps_left : STEPS_AT_ONCE;
        t->steps_left -= a->left;
        t->steps_taken += a->left;
        if (t->grow && t->steps_taken >= t->grow_at) {
            grow = t->grow;
            t->grow = NULL;
        }
    }
    pthread_mutex_unlock(&t->lock);
    if (grow)
        grow(t->data);
    return a->left;
}

void tree_return(struct tree *t, struct allowance *a)
{
    pthread_mutex_lock(&t->lock);
    put_back(t, a);
    if (gives_up(t))
        end(t, TREE_GAVE_UP);
    pthread_mutex_unlock(&t->lock);
}
