/* A unit's way through the compiler: makes its request, gets code from the disk or the compiler,
 * and loads it; and writes what HEDDLE_DUMP, HEDDLE_LOG and HEDDLE_PERF ask for. */
#ifndef HEDDLE_JIT_UNIT_COMPILE_H
#define HEDDLE_JIT_UNIT_COMPILE_H

#include "jit/host/unit.h"

/* Does code for this computer always serve lanes at divergent addresses one by one? */
bool unit_wants_serial_walks(const struct machine *m);
/* Writes the request for a kernel as bytes; false with u->why if it cannot be compiled. */
bool unit_write_request(struct jit *j, struct unit *u, const struct kernel *k);
/* Takes the best code on disk, whichever unit asked for it. Code that is dumped must be
 * compiled. */
bool unit_recall(struct jit *j, struct unit *u);
/* Compiles and loads its code; false with u->why if that is impossible. */
bool unit_compile(struct jit *j, struct unit *u);
/* With HEDDLE_LOG=engine: prints why it has no code. */
void unit_tell_why(const struct jit *j, const struct unit *u);
/* If asked for: opens the file in /tmp where perf looks for names of code that is in no file. */
FILE *unit_open_perf_map(void);

#endif
