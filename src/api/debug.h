/* Debuggers of machines, for the command and for programs. These are to debug/run.h what public
 * functions would be. */
#ifndef HEDDLE_API_DEBUG_H
#define HEDDLE_API_DEBUG_H

#include "heddle.h"

struct debugger;

struct debug_settings {
    const char *policy;      /* "serial", "random:SEED", "replay:FILE"; copied */
    uint64_t snapshot_bytes; /* limit on the memory kept for going back within a launch */
    /* The path of libheddle-dwarf.so, which reads debugging information; or NULL. */
    const char *dwarf_library;
    /* launches that have no stops run in the interpreter, too, so that a fault stops them */
    bool always;
};

/* `link`: a connected socket to a front end (debug/requests.h), which the debugger now owns.
 * Returns NULL if memory is exhausted. */
struct debugger *api_debugger_create(int link, const struct debug_settings *settings);
void api_debugger_destroy(struct debugger *d);
/* Lets the debugger, which outlives the machine, handle the machine's launches. Call it before
 * kernels are looked up. */
void api_debug(hd_machine *m, struct debugger *d);

#endif
