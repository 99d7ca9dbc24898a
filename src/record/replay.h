/* Tells checkers what a file of events says, so that they find what they have found then; no kernel
 * runs.
 *
 * What a file says is looked at before anybody is told of it: that what it names has been said,
 * that memory is where it can be, that performing follows accesses. A file that anybody may have
 * written ends in an error with its place, and in no crash.
 */
#ifndef HEDDLE_RECORD_REPLAY_H
#define HEDDLE_RECORD_REPLAY_H

#include "base/diag.h"

struct replay;

/* All of the file. NULL with *error, in the arena. */
struct replay *replay_run(const char *path, struct arena *arena, const char **error);
/* What its checkers have found, in the order in which they were recorded: the i-th checker's; false
 * behind the last, or (*whole false) where memory is exhausted. */
bool replay_report(struct replay *r, unsigned i, struct diags *diags, bool *whole);
/* What was recorded beside that: the program's name (or NULL), how many launches, findings that no
 * detector has made, as JSON ("": none). */
const char *replay_program(const struct replay *r);
uint64_t replay_launches(const struct replay *r);
const char *replay_findings(const struct replay *r);
/* The i-th kernel, mangled, in the order of first launches; NULL behind the last. */
const char *replay_kernel(const struct replay *r, unsigned i);
void replay_free(struct replay *r); /* NULL is allowed */

/* The file's records, written in the other form: text where its name ends in .txt. NULL, or what
 * went wrong, in the arena. */
const char *replay_copy(const char *from, const char *to, struct arena *arena);

#endif
