/* See split.h. */
#include "explore/split.h"

#include <stdlib.h>
#include <string.h>

#include "base/monotonic.h"
#include "explore/message.h"

/* Messages from the first rank: */
enum to_others {
    SAYS_PART = 1, /* steps, and a part to search with them */
    SAYS_STEPS,    /* more steps */
    SAYS_WANT,     /* a part is wanted */
    SAYS_END,      /* enum tree_end */
};
/* Messages to the first rank: */
enum to_first {
    TELLS_PART = 16, /* a part that was wanted */
    TELLS_IDLE,      /* nothing is left to search; with the number of steps left */
    TELLS_DRY,       /* no steps are left */
    TELLS_CUT,       /* a bound cut a loop off */
    TELLS_STOPPED,   /* the search has ended here: enum tree_end */
    TELLS_FOUND,     /* the findings, after the end: message.h */
    TELLS_ABSENT,    /* this rank has no search */
};

/* The state of another rank, as the first one knows it. */
enum peer_state { PEER_IDLE, PEER_BUSY, PEER_DRY };
struct peer {
    enum peer_state state;
    bool asked; /* it was asked for a part */
    struct allowance steps;
    struct rank_message found; /* bytes NULL: not received yet */
};

struct split {
    struct search *search;
    struct ranks *ranks;
    pthread_t thread;
    bool has_thread;
    unsigned absent; /* a rank without a search; 0: none */
    struct peer peers[];
};

/* ---- parts ---- */

static bool send_part(struct ranks *r, unsigned to, int kind, const struct part *part, uint64_t steps)
{
    struct bytes b = {0};
    bytes_put(&b, &steps, sizeof steps);
    bytes_put(&b, &part->first, sizeof part->first);
    bytes_put(&b, part->decisions, part->depth);
    bool sent = !b.failed && ranks_send(r, to, kind, b.at, b.n);
    free(b.at);
    return sent;
}

/* Takes a part into the tree; returns its steps. */
static uint64_t take_part(struct tree *t, const struct rank_message *m)
{
    uint64_t steps;
    const size_t head = sizeof steps + 1;
    memcpy(&steps, m->bytes, sizeof steps);
    if (!tree_give(t, m->bytes + head, (uint32_t)(m->n - head), m->bytes[sizeof steps]))
        tree_stop(t, TREE_STOPPED);
    return steps;
}

/* ---- the first rank ---- */

static struct split *split_of(struct search *s)
{
    unsigned n = s->options->ranks->n;
    if (!s->split && (s->split = calloc(1, sizeof *s->split + n * sizeof s->split->peers[0])) != NULL) {
        s->split->search = s;
        s->split->ranks = s->options->ranks;
    }
    return s->split;
}

/* Handles a message. Unused steps are returned: the other ranks' accounts are exact whenever they
   are idle. */
static void hear(struct split *p, const struct rank_message *m)
{
    struct tree *t = &p->search->tree;
    struct peer *from = &p->peers[m->from];
    switch ((enum to_first)m->kind) {
    case TELLS_PART:
        take_part(t, m);
        from->asked = false;
        break;
    case TELLS_IDLE:
        memcpy(&from->steps.left, m->bytes, sizeof from->steps.left);
        tree_return(t, &from->steps);
        from->state = PEER_IDLE;
        from->asked = false;
        tree_idles(t);
        break;
    case TELLS_DRY:
        from->steps.left = 0;
        from->state = PEER_DRY;
        tree_dries(t, &from->steps);
        break;
    case TELLS_CUT: tree_cuts(t, 0); break;
    case TELLS_STOPPED: tree_stop(t, (enum tree_end)m->bytes[0]); break;
    case TELLS_ABSENT:
        p->absent = m->from;
        tree_stop(t, TREE_STOPPED);
        break;
    case TELLS_FOUND: break;
    }
}

/* How many steps to hand out at once: enough that asking costs nothing, and, when few are left, no
 * more than leaves some for all. */
static uint64_t steps_for_one(const struct split *p)
{
    enum { MOST = 1 << 16, LEAST = 256 };
    uint64_t fair = p->search->step_limit / (4 * p->ranks->n);
    return !p->search->step_limit || fair > MOST ? MOST : fair < LEAST ? LEAST : fair;
}

/* Sends what the rank waits for, if it is available. */
static bool provide(struct split *p, unsigned to)
{
    struct tree *t = &p->search->tree;
    struct peer *peer = &p->peers[to];
    struct part *part = NULL;
    switch (peer->state) {
    case PEER_BUSY: return false;
    case PEER_DRY:
        if (!tree_try_allow(t, &peer->steps, steps_for_one(p)))
            return false;
        ranks_send(p->ranks, to, SAYS_STEPS, &peer->steps.left, sizeof peer->steps.left);
        break;
    case PEER_IDLE:
        if (!(part = tree_try_take(t)))
            return false;
        tree_dries(t, &peer->steps);
        if (!tree_try_allow(t, &peer->steps, steps_for_one(p)))
            peer->state = PEER_DRY;
        if (!send_part(p->ranks, to, SAYS_PART, part, peer->steps.left))
            tree_stop(t, TREE_STOPPED);
        free(part);
        if (peer->state == PEER_DRY)
            return true;
        break;
    }
    peer->state = PEER_BUSY;
    return true;
}

static void ask(struct split *p, unsigned who)
{
    struct peer *peer = &p->peers[who];
    if (peer->state != PEER_BUSY || peer->asked)
        return;
    peer->asked = true;
    ranks_send(p->ranks, who, SAYS_WANT, NULL, 0);
}

static void *serve(void *data)
{
    struct split *p = data;
    struct tree *t = &p->search->tree;
    for (unsigned i = 1; i < p->ranks->n; i++) {
        tree_join(t);
        tree_idles(t);
    }
    while (!tree_has_ended(t)) {
        struct rank_message m;
        bool any = false;
        for (; ranks_receive(p->ranks, &m); any = true) {
            hear(p, &m);
            free(m.bytes);
        }
        for (unsigned i = 1; i < p->ranks->n; i++)
            any |= provide(p, i);
        for (unsigned i = 1; i < p->ranks->n && tree_is_hungry(t); i++)
            ask(p, i);
        if (!any)
            ranks_rest(p->ranks);
    }
    return NULL;
}

void split_serve(struct search *s)
{
    struct split *p = split_of(s);
    if (!p || pthread_create(&p->thread, NULL, serve, p) != 0)
        return; /* the first rank searches without the others */
    p->has_thread = true;
}

/* A launcher that ends all ranks, because one was lost, sends the same signal as for Ctrl-C. */
static bool is_over_time(const struct split *p, double *until)
{
    static const double seconds_after_signal = 0.7;
    const struct explore_options *o = p->search->options;
    if (!o->interrupted || !atomic_load(o->interrupted))
        return false;
    if (!*until)
        *until = seconds_now() + seconds_after_signal;
    return seconds_now() > *until;
}

const char *split_end(struct search *s, struct arena *arena)
{
    struct split *p = split_of(s);
    uint8_t end = (uint8_t)s->tree.end;
    double until = 0;
    unsigned left = s->options->ranks->n - 1;
    if (!p)
        return explore_out_of_memory.text;
    if (p->has_thread)
        pthread_join(p->thread, NULL);
    for (unsigned i = 1; i < p->ranks->n; i++)
        ranks_send(p->ranks, i, SAYS_END, &end, 1);
    while (left && !p->absent) {
        struct rank_message m;
        if (!ranks_receive(p->ranks, &m)) {
            if (is_over_time(p, &until))
                break;
            ranks_rest(p->ranks);
        } else if (m.kind == TELLS_FOUND) {
            p->peers[m.from].found = m;
            left--;
        } else {
            p->absent = m.kind == TELLS_ABSENT ? m.from : 0;
            free(m.bytes);
        }
    }
    if (p->absent)
        return arena_printf(arena, "the program of rank %u has not reached the launch", p->absent);
    for (unsigned i = 1; left && i < p->ranks->n; i++)
        if (!p->peers[i].found.bytes) {
            p->ranks->lost = true;
            return arena_printf(arena,
                                "rank %u of %u does not answer: its part of the search is lost, so there is no result",
                                i, p->ranks->n);
        }
    return NULL;
}

/* Examines executions that other ranks found, to have their places in this process's memory. */
static void look_again(struct search *s, struct tree *leaves, struct explore_result *r)
{
    uint64_t counts[] = {r->verdict.graphs, r->verdict.blocked, r->verdict.dead, r->verdict.duplicates};
    struct searcher *w = leaves->n_parts ? search_again(s, leaves) : NULL;
    if (w) {
        w->verdict.n_seen = w->verdict.seen_room = 0;
        verdict_add(&r->verdict, &w->verdict);
        searcher_free(w);
    } else if (leaves->n_parts) {
        r->refusal = explore_out_of_memory;
    }
    r->verdict.graphs = counts[0];
    r->verdict.blocked = counts[1];
    r->verdict.dead = counts[2];
    r->verdict.duplicates = counts[3];
}

void split_collect(struct search *s, struct explore_result *r, bool *is_full, bool *interrupted)
{
    struct tree leaves;
    tree_begin(&leaves, 0, (struct patience){0});
    for (unsigned i = 1; i < s->options->ranks->n; i++) {
        struct found_elsewhere f;
        const struct rank_message *m = &s->split->peers[i].found;
        if (!message_read(s, m->bytes, m->n, r, &leaves, &f)) {
            r->refusal = (struct refusal){
                NULL, arena_printf(&r->arena,
                                   "rank %u explores something else: its files differ, or the contents or "
                                   "addresses of its memory (personality(2) makes addresses equal)",
                                   i)};
            break;
        }
        *is_full |= f.is_full;
        *interrupted |= f.interrupted;
    }
    if (!r->refusal.text)
        look_again(s, &leaves, r);
    tree_free(&leaves);
}

void split_absent(struct ranks *r)
{
    uint8_t end = TREE_STOPPED;
    for (unsigned i = 1; i < r->n && !r->number; i++)
        ranks_send(r, i, SAYS_END, &end, 1);
    if (r->number)
        ranks_send(r, 0, TELLS_ABSENT, NULL, 0);
}

void split_free(struct search *s)
{
    for (unsigned i = 1; s->split && i < s->split->ranks->n; i++)
        free(s->split->peers[i].found.bytes);
    free(s->split);
}

/* ---- another rank ---- */

struct following {
    struct search *s;
    bool begun, ended; /* ended: on the first rank */
    bool told_idle, told_dry, told_cut, told_stop;
    enum tree_end end;
};

static void obey(struct following *f, const struct rank_message *m)
{
    struct tree *t = &f->s->tree;
    uint64_t steps = 0;
    switch ((enum to_others)m->kind) {
    case SAYS_PART: steps = take_part(t, m); break;
    case SAYS_STEPS: memcpy(&steps, m->bytes, sizeof steps); break;
    case SAYS_WANT:
        if (!f->told_idle)
            tree_want(t, 1);
        return;
    case SAYS_END:
        f->ended = true;
        f->end = (enum tree_end)m->bytes[0];
        return;
    }
    f->told_idle = f->told_dry = false;
    tree_feed(t, steps);
    if (!f->begun)
        search_start(f->s);
    f->begun = true;
}

/* Tells the first rank its news, each once; true if there was some. */
static bool tell(struct following *f)
{
    struct ranks *r = f->s->options->ranks;
    struct tree *t = &f->s->tree;
    struct part *part = tree_spare(t);
    if (part) {
        send_part(r, 0, TELLS_PART, part, 0);
        free(part);
        return true;
    }
    if (tree_has_ended(t)) {
        uint8_t end = (uint8_t)t->end;
        if (!f->told_stop)
            ranks_send(r, 0, TELLS_STOPPED, &end, 1);
        return !f->told_stop && (f->told_stop = true);
    }
    enum tree_needs needs = tree_needs(t);
    if (!f->told_cut && atomic_load(&t->has_cut)) {
        f->told_cut = true;
        ranks_send(r, 0, TELLS_CUT, NULL, 0);
    }
    if (needs == TREE_NEEDS_PART && !f->told_idle) {
        uint64_t left = tree_drain(t);
        f->told_idle = true;
        return ranks_send(r, 0, TELLS_IDLE, &left, sizeof left);
    }
    if (needs == TREE_NEEDS_STEPS && !f->told_dry) {
        f->told_dry = true;
        return ranks_send(r, 0, TELLS_DRY, NULL, 0);
    }
    return false;
}

bool split_follow(struct search *s)
{
    struct following f = {.s = s, .told_idle = true};
    struct ranks *r = s->options->ranks;
    tree_begin_branch(&s->tree);
    search_ends_when_found(s);
    while (!f.ended) {
        struct rank_message m;
        bool any = ranks_receive(r, &m);
        if (any) {
            obey(&f, &m);
            free(m.bytes);
        } else if (!f.begun || !tell(&f)) {
            ranks_rest(r);
        }
    }
    tree_stop(&s->tree, f.end);
    search_await(s);
    s->tree.end = f.end; /* the reason that came first here */
    struct bytes b = {0};
    message_write(s, !tree_begins_anew(f.end), &b);
    if (b.failed || !ranks_send(r, 0, TELLS_FOUND, b.at, b.n))
        r->transport->abort(1);
    free(b.at);
    return !tree_begins_anew(f.end);
}
