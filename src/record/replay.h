/* Tells checkers the events of a file, so that they find what they found when it was recorded. No
 * kernel runs.
 *
 * The file may come from anybody, so each record is validated before checkers are told: what it
 * names is defined, memory is where it can be, accesses are performed in order. An invalid file
 * ends in an error with its place, never in a crash.
 */
#ifndef HEDDLE_RECORD_REPLAY_H
#define HEDDLE_RECORD_REPLAY_H

#include "base/diag.h"

struct replay;

/* Replays the whole file. Returns NULL with *error, in the arena. */
struct replay *replay_run(const char *path, struct arena *arena, const char **error);
/* The findings of the i-th checker, in the order in which checkers were recorded; false behind the
 * last, or (*whole false) if memory is exhausted. */
bool replay_report(struct replay *r, unsigned i, struct diags *diags, bool *whole);
/* Other recorded facts: the program's name (or NULL), the number of launches, and, as JSON,
 * findings that no detector made ("": none). */
const char *replay_program(const struct replay *r);
uint64_t replay_launches(const struct replay *r);
const char *replay_findings(const struct replay *r);
/* The i-th kernel's mangled name, in the order of first launches; NULL behind the last. */
const char *replay_kernel(const struct replay *r, unsigned i);
void replay_free(struct replay *r); /* NULL is allowed */

/* Writes the file's records in the other form: as text if the name ends in .txt. Returns NULL, or
 * what went wrong, in the arena. */
const char *replay_copy(const char *from, const char *to, struct arena *arena);

#endif
