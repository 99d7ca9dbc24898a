/* Canaries: what must not be touched around what kernels may.
 *
 * Around the range of a machine, and around each piece of memory that a worker takes from its pool
 * (a block's shared memory, a warp's local memory, the records), lie gigabytes of pages that nobody
 * may access: a wild access is a signal. The program is linked with --wrap=pool_take and so on for
 * that. What pages leave over beside a piece, and beside allocations, has a pattern, which is
 * looked at after each launch.
 */
#ifndef HEDDLE_TESTS_GUARDED_H
#define HEDDLE_TESTS_GUARDED_H

#include <stddef.h>

#include "heddle.h"

/* Which end of a piece meets the forbidden pages; or pieces are those of the pool itself, beside
 * each other. To be said once. */
enum guard_pieces { GUARD_ENDS, GUARD_STARTS, GUARD_NONE };
void guard_pieces(enum guard_pieces how);
/* hd_machine_create, with forbidden pages around the machine's range. */
hd_result guard_machine(const hd_machine_options *o, hd_machine **m);
/* Writes the pattern into all that belongs to no allocation in the 64 KB around one. */
void guard_around(hd_machine *m, const void *p);
/* The machine is about to go, and these with it. */
void guard_forget(void);
/* The first byte that is no longer the pattern's, or NULL; beside what, if not NULL. */
const void *guard_broken(const char **beside);
/* What an address of a signal lies in. */
const char *guard_describe(const void *p);

#endif
