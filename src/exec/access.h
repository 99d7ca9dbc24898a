/* Memory accesses of a warp's lanes: loads, stores and atomic operations (access.c, atom.c), the
 * location of an address (locate.c), and the events of accesses (watched.c). `base` belongs to
 * the activation. Functions that return bool return false after a fault. */
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
/* One element of an asynchronous reduction: a location in shared or global memory, and the value
 * to reduce it with. */
void atom_reduce(const struct mem_access *m, uint8_t *cell, bool shared, const uint8_t *with);

/* Fills in every lane's address; inactive lanes get that of an active one. */
void access_addresses(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask,
                      uint64_t *address);

/* The address of one lane. */
uint64_t access_address_of_lane(const struct warp *w, const struct activation *a, uint8_t *const base[4],
                                const struct op *o, unsigned lane);

/* ---- locate.c ---- */

/* The rank of a block in its cluster, whose blocks have consecutive numbers. And the block with
 * a rank; NULL if it has ended. */
uint32_t block_rank(const struct block *b);
struct block *block_of_rank(struct block *b, uint32_t rank);

/* The location of a lane's address. */
struct location {
    uint8_t *at;          /* the host's pointer; NULL in local memory */
    enum ptx_space space; /* GLOBAL, SHARED or LOCAL */
    uint64_t address;     /* in that space */
    uint64_t window;      /* the bytes of that space, for shared and local memory */
    struct block *owner;  /* the block whose shared memory it is */
    bool writes;          /* for asynchronous work: it is the destination */
};

/* FAULT_none, or the mistake; *p is filled as far as it is known. */
enum fault_kind access_locate(struct warp *w, enum ptx_space space, uint64_t address, uint32_t bytes, bool writes,
                              struct location *p);
/* The same for an access of o; also tests the alignment and state space of atomics. */
enum fault_kind access_locate_op(struct warp *w, const struct op *o, uint64_t address, struct location *p);
/* Copies from a generic address of a lane; false after a fault. */
bool access_read(struct warp *w, const struct op *o, unsigned lane, uint64_t address, void *to, uint32_t bytes);

/* ---- watched.c ---- */

/* Reports to clients that the machine itself writes parameters or results into the lanes' local
 * memory. */
void access_tell_write(struct warp *w, const struct op *o, uint32_t lanes, uint64_t address, uint32_t bytes);
/* May the access of a lane that would fault be skipped? A client decides. */
bool access_leave_out(const struct warp *w, const struct op *o, unsigned lane, enum fault_kind kind,
                      const struct location *p, uint32_t bytes);
/* Reports to clients that a lane has issued a bulk copy; `more` has all that is not an argument
 * here. */
void access_tell_bulk(const struct warp *w, const struct op *o, unsigned lane, uint64_t to, uint64_t from,
                      const struct issue_event *more);

#endif
