/* The commands as flags.def names them. */
#ifndef HEDDLE_CLI_COMMAND_BITS_H
#define HEDDLE_CLI_COMMAND_BITS_H

/* The places of the table of commands, in the order that `heddle --help` shows them; variants for
 * programs stand behind. */
enum place {
    AT_RUN,
    AT_CC,
    AT_LAUNCH,
    AT_CHECK,
    AT_EXPLAIN_PTX,
    AT_EXPLORE,
    AT_DEBUG,
    AT_LITMUS,
    AT_PTX,
    AT_INFO,
    AT_CACHE,
    AT_PACK,
    AT_COMPLETION,
    AT_MANUAL,
    AT_PROGRAM,
    AT_EXPLAIN,
    AT_EXPLORE_PROGRAM,
    AT_DEBUG_PROGRAM,
    N_COMMANDS
};

/* The commands of an option, a bit each: for flags.def. */
enum {
    RUN = 1 << AT_RUN,
    CC = 1 << AT_CC,
    LAUNCH = 1 << AT_LAUNCH,
    CHECK = 1 << AT_CHECK,
    EXPLAIN_PTX = 1 << AT_EXPLAIN_PTX,
    EXPLORE = 1 << AT_EXPLORE,
    DEBUG = 1 << AT_DEBUG,
    LITMUS = 1 << AT_LITMUS,
    PTX = 1 << AT_PTX,
    INFO = 1 << AT_INFO,
    CACHE = 1 << AT_CACHE,
    PACK = 1 << AT_PACK,
    COMPLETION = 1 << AT_COMPLETION,
    MANUAL = 1 << AT_MANUAL,
    PROGRAM = 1 << AT_PROGRAM,
    EXPLAIN = 1 << AT_EXPLAIN,
    EXPLORE_PROGRAM = 1 << AT_EXPLORE_PROGRAM,
    DEBUG_PROGRAM = 1 << AT_DEBUG_PROGRAM,
};

#endif
