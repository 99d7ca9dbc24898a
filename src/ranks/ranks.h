/* Processes that mpirun has started together: ranks. Messages between them go through MPI, which is
 * in a library of its own (libheddle-mpi.so): it is loaded where a launcher has started this
 * process, and nothing else needs it.
 *
 * One thread at a time may call these functions. */
#ifndef HEDDLE_RANKS_RANKS_H
#define HEDDLE_RANKS_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "base/arena.h"

struct rank_message {
    unsigned from;
    int kind; /* the user's number */
    size_t n;
    uint8_t *bytes; /* the receiver's to free */
};

/* What libheddle-mpi.so has, as `heddle_rank_transport`. */
struct rank_transport {
    bool (*connect)(unsigned *n, unsigned *number, unsigned *on_this_host);
    bool (*send)(unsigned to, int kind, const void *bytes, size_t n);
    /* A message that is there; false: none is. */
    bool (*receive)(struct rank_message *m);
    void (*disconnect)(void);
    void (*abort)(int status); /* ends all ranks */
};

struct ranks {
    unsigned n, number;    /* n: 1 where this process is alone */
    unsigned on_this_host; /* of the n */
    const char *launcher;
    const struct rank_transport *transport; /* NULL: not connected */
    unsigned idle_us;                       /* ranks_rest() */
    bool lost;                              /* one of them does not answer */
};

/* Who has started this process, as the environment says. */
void ranks_find(struct ranks *r);
/* Connects all ranks, which have to call it; does nothing where there is one. Returns why that
 * cannot be, or NULL. */
const char *ranks_connect(struct ranks *r, struct arena *arena);
/* Where one is lost, all others are ended. */
void ranks_disconnect(struct ranks *r);
/* Takes from the environment what says so: for a program that this process starts, and that is no
 * rank. */
void ranks_hide(void);

static inline bool ranks_send(struct ranks *r, unsigned to, int kind, const void *bytes, size_t n)
{
    return r->transport->send(to, kind, bytes, n);
}
/* A message, if one has come. */
static inline bool ranks_receive(struct ranks *r, struct rank_message *m)
{
    bool any = r->transport->receive(m);
    r->idle_us = any ? 0 : r->idle_us;
    return any;
}
/* Sleeps a little, longer the longer nothing has come: who waits for a message takes no processor
 * from those who work. */
static inline void ranks_rest(struct ranks *r)
{
    r->idle_us = r->idle_us < 20 ? 20 : r->idle_us < 300 ? r->idle_us * 2 : r->idle_us;
    usleep(r->idle_us);
}

#endif
