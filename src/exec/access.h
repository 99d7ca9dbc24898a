/* Accesses of a warp's lanes to memory: loads, stores and atomic operations (access.c, atom.c),
 * where an address leads (locate.c), and what clients of events are told of it (watched.c). `base`
 * is that of the activation; what returns bool is false after a fault. */
#ifndef HEDDLE_EXEC_ACCESS_H
#define HEDDLE_EXEC_ACCESS_H

#include "exec/fault.h"

struct warp;
struct block;
struct activation;
struct op;
struct mem_access;
struct access_source;
struct issue_event;

bool access_load(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask);
bool access_store(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask);
bool access_atom(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask);
/* An element of an asynchronous reduction: a cell in shared or global memory, and what it is
 * reduced with. */
void atom_reduce(const struct mem_access *m, uint8_t *cell, bool shared, const uint8_t *with);

/* Every lane's address; inactive lanes get an active one's. */
void access_addresses(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask,
                      uint64_t *address);

/* The address of one lane. */
uint64_t access_address_of_lane(const struct warp *w, const struct activation *a, uint8_t *const base[4],
                                const struct op *o, unsigned lane);

/* ---- locate.c ---- */

/* The rank of a block in its cluster: a cluster's blocks have numbers that follow each other. The
 * block with a rank; NULL where it has ended. */
uint32_t block_rank(const struct block *b);
struct block *block_of_rank(struct block *b, uint32_t rank);

/* Where an address of a lane leads. */
struct location {
    uint8_t *at;          /* on the host; NULL in local memory */
    enum ptx_space space; /* GLOBAL, SHARED or LOCAL */
    uint64_t address;     /* in that space */
    uint64_t window;      /* bytes of that space, shared and local */
    struct block *owner;  /* of shared memory */
    bool writes;          /* of asynchronous work: it is what is written */
};

/* FAULT_none, or what is wrong; *p is filled as far as it is known. */
enum fault_kind access_locate(struct warp *w, enum ptx_space space, uint64_t address, uint32_t bytes, bool writes,
                              struct location *p);
/* The same for an access of o, alignment and state space of atomics included. */
enum fault_kind access_locate_op(struct warp *w, const struct op *o, uint64_t address, struct location *p);
/* Copies from a generic address of a lane; false after a fault. */
bool access_read(struct warp *w, const struct op *o, unsigned lane, uint64_t address, void *to, uint32_t bytes);

/* ---- watched.c ---- */

/* Tells the clients of events that the machine itself writes into the lanes' local memory:
 * parameters, results. */
void access_tell_write(struct warp *w, const struct op *o, uint32_t lanes, uint64_t address, uint32_t bytes);
/* A client may have a lane's access left out, which would fault. */
bool access_leave_out(const struct warp *w, const struct op *o, unsigned lane, enum fault_kind kind,
                      const struct location *p, uint32_t bytes);
/* Tells the clients of events that a lane has issued a bulk copy, of which `more` has all that is
 * not named here. */
void access_tell_bulk(const struct warp *w, const struct op *o, unsigned lane, uint64_t to, uint64_t from,
                      const struct issue_event *more);

#endif
