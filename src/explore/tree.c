/* See tree.h. */
#include "explore/tree.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STEPS_AT_ONCE = 256 };

static void begin(struct tree *t)
{
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
}

void tree_begin(struct tree *t, uint64_t limit, struct patience cut)
{
    *t = (struct tree){.steps_left = limit ? limit : UINT64_MAX, .cut = cut};
    begin(t);
}

void tree_begin_branch(struct tree *t)
{
    *t = (struct tree){.is_branch = true};
    begin(t);
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

double thread_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
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

static bool all_wait(const struct tree *t)
{
    return t->n_idle + t->n_dry == t->n_workers && !(t->n_idle && t->n_parts) && !(t->n_dry && t->steps_left);
}

static void look_for_end(struct tree *t)
{
    if (!t->is_branch && all_wait(t))
        end(t, t->n_dry ? TREE_LIMITED : TREE_EXHAUSTED);
}

static void look_for_hunger(struct tree *t)
{
    atomic_store_explicit(&t->hungry, t->n_idle + t->n_wanted > t->n_parts, memory_order_relaxed);
}

static void take_steps(struct tree *t, struct allowance *a, uint64_t many)
{
    a->left = a->given = t->steps_left < many ? t->steps_left : many;
    t->steps_left -= a->left;
}

/* Accounts for the used steps, and returns the rest. */
static void put_back(struct tree *t, struct allowance *a)
{
    if (t->n_dry && a->left)
        pthread_cond_broadcast(&t->changed);
    t->steps_left += a->left;
    t->steps_taken += a->given - a->left;
    *a = (struct allowance){.begun = a->begun};
    if (t->cut.steps && t->steps_taken >= t->cut.steps && t->has_cut)
        end(t, TREE_GAVE_UP);
}

static struct part *pop(struct tree *t)
{
    struct part *part = t->parts;
    t->parts = part->next;
    t->n_parts--;
    return part;
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

void tree_idles(struct tree *t)
{
    pthread_mutex_lock(&t->lock);
    t->n_idle++;
    look_for_hunger(t);
    look_for_end(t);
    pthread_mutex_unlock(&t->lock);
}

/* Takes a part for an idle worker. */
static struct part *take(struct tree *t)
{
    if (t->ended || !t->parts)
        return NULL;
    struct part *part = pop(t);
    t->n_idle--;
    look_for_hunger(t);
    return part;
}

struct part *tree_try_take(struct tree *t)
{
    pthread_mutex_lock(&t->lock);
    struct part *part = take(t);
    pthread_mutex_unlock(&t->lock);
    return part;
}

struct part *tree_take(struct tree *t)
{
    tree_idles(t);
    pthread_mutex_lock(&t->lock);
    while (!t->ended && !t->parts)
        pthread_cond_wait(&t->changed, &t->lock);
    struct part *part = take(t);
    pthread_mutex_unlock(&t->lock);
    return part;
}

void tree_want(struct tree *t, uint32_t n)
{
    pthread_mutex_lock(&t->lock);
    t->n_wanted += n;
    look_for_hunger(t);
    pthread_mutex_unlock(&t->lock);
}

struct part *tree_spare(struct tree *t)
{
    struct part *part = NULL;
    pthread_mutex_lock(&t->lock);
    if (t->n_wanted && t->n_parts > t->n_idle) {
        part = pop(t);
        t->n_wanted--;
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

void tree_cuts(struct tree *t, size_t bytes)
{
    atomic_store_explicit(&t->has_cut, true, memory_order_relaxed);
    if (t->cut.steps == 1 || (t->cut.steps && t->grow && bytes > t->cut.bytes))
        tree_stop(t, TREE_GAVE_UP);
}

enum tree_needs tree_needs(struct tree *t)
{
    pthread_mutex_lock(&t->lock);
    enum tree_needs needs = t->ended || !all_wait(t) ? TREE_NEEDS_NOTHING
                            : t->n_dry               ? TREE_NEEDS_STEPS
                                                     : TREE_NEEDS_PART;
    if (needs == TREE_NEEDS_PART) {
        t->n_wanted = 0; /* there is nothing left to give */
        look_for_hunger(t);
    }
    pthread_mutex_unlock(&t->lock);
    return needs;
}

/* ---- steps ---- */

void tree_dries(struct tree *t, struct allowance *a)
{
    pthread_mutex_lock(&t->lock);
    put_back(t, a);
    t->n_dry++;
    look_for_end(t);
    pthread_mutex_unlock(&t->lock);
}

/* Gives steps to a worker that has none. */
static void allow(struct tree *t, struct allowance *a, uint64_t many)
{
    if (t->ended || !t->steps_left)
        return;
    take_steps(t, a, many);
    t->n_dry--;
}

bool tree_try_allow(struct tree *t, struct allowance *a, uint64_t many)
{
    pthread_mutex_lock(&t->lock);
    allow(t, a, many);
    pthread_mutex_unlock(&t->lock);
    return a->left;
}

bool tree_allow(struct tree *t, struct allowance *a)
{
    void (*grow)(void *) = NULL;
    bool suffices = t->seconds_found && t->has_found && thread_seconds() - a->begun > t->seconds_found;
    tree_dries(t, a);
    pthread_mutex_lock(&t->lock);
    if (suffices)
        end(t, TREE_SUFFICED);
    while (!t->ended && !t->steps_left)
        pthread_cond_wait(&t->changed, &t->lock);
    allow(t, a, STEPS_AT_ONCE);
    if (t->grow && t->steps_taken >= t->grow_at) {
        grow = t->grow;
        t->grow = NULL;
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
    pthread_mutex_unlock(&t->lock);
}

void tree_feed(struct tree *t, uint64_t steps)
{
    pthread_mutex_lock(&t->lock);
    t->steps_left += steps;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

uint64_t tree_drain(struct tree *t)
{
    pthread_mutex_lock(&t->lock);
    uint64_t steps = t->steps_left;
    t->steps_left = 0;
    pthread_mutex_unlock(&t->lock);
    return steps;
}
