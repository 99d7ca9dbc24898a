/* A unit's way through the compiler: its request as bytes, the code of the cache on disk or the
 * compiler's answer, and that loaded; and what is said of it to those who ask (HEDDLE_DUMP,
 * HEDDLE_LOG, HEDDLE_PERF). */
#ifndef HEDDLE_JIT_UNIT_COMPILE_H
#define HEDDLE_JIT_UNIT_COMPILE_H

#include "jit/host/unit.h"

/* Does code for this computer serve lanes at addresses of their own one by one in any case? */
bool unit_wants_serial_walks(const struct machine *m);
/* The request for a kernel as bytes; false with u->why where it cannot be compiled. */
bool unit_write_request(struct jit *j, struct unit *u, const struct kernel *k);
/* Takes the code from the disk, by whoever asks first, the best there is; what is dumped has to be
 * compiled. */
bool unit_recall(struct jit *j, struct unit *u);
/* Has the compiler make its code, and loads that; false with u->why where that cannot be. */
bool unit_compile(struct jit *j, struct unit *u);
/* Says why it has no code, for those who ask by HEDDLE_LOG=engine. */
void unit_tell_why(const struct jit *j, const struct unit *u);
/* For those who ask: perf looks for names of code that lies in no file in /tmp. */
FILE *unit_open_perf_map(void);

#endif
