/* What the environment asks of the engines: HEDDLE_ENGINE, HEDDLE_TIER, HEDDLE_TARGET, HEDDLE_DUMP
 * and HEDDLE_LOG (docs/JIT.md). */
#ifndef HEDDLE_JIT_SETTINGS_H
#define HEDDLE_JIT_SETTINGS_H

#include "base/log.h"
#include "jit/request.h"

struct machine_config;

struct settings {
    enum jit_tier tier; /* HEDDLE_TIER: that one alone; or 0 */
    hd_engine wish;     /* HEDDLE_ENGINE: where neither launch nor machine say; compiled code where that can be */
    bool dump_ir, dump_llvm, dump_asm, dump_time, log[N_LOG_TOPICS];
    const char *target; /* HEDDLE_TARGET: code is made for that CPU level, to be looked at alone; or NULL */
};

/* Words that ask for nothing are named in a note of the machine, and ignored. */
void settings_read(struct settings *s, const struct machine_config *c);

/* Is something to be written of what is compiled? */
bool settings_dump(const struct settings *s);

#endif
