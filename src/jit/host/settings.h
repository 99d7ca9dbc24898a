/* The environment's settings for the engines: HEDDLE_ENGINE, HEDDLE_TIER, HEDDLE_TARGET,
 * HEDDLE_DUMP and HEDDLE_LOG (docs/JIT.md). */
#ifndef HEDDLE_JIT_SETTINGS_H
#define HEDDLE_JIT_SETTINGS_H

#include "base/log.h"
#include "jit/request.h"

struct machine_config;

struct settings {
    enum jit_tier tier; /* HEDDLE_TIER: only this tier; or 0 */
    /* HEDDLE_ENGINE: used if neither launch nor machine chooses one; compiled code if possible */
    hd_engine wish;
    bool dump_ir, dump_llvm, dump_asm, dump_time, log[N_LOG_TOPICS];
    /* HEDDLE_TARGET: code is compiled for that CPU level, to be inspected and not run; or NULL */
    const char *target;
};

/* Unknown words are ignored, with a note of the machine. */
void settings_read(struct settings *s, const struct machine_config *c);

/* Is anything of the compiled code to be dumped? */
bool settings_dump(const struct settings *s);

#endif
