/* Writes down what checkers are told (file.h), so that it can be told again without the kernels:
 * replay.h.
 *
 * A recorder listens to one checker or to several whose work is ordered together, and is the first
 * client of each of their launches: it wants the kinds of events that their tools want. While it
 * listens all is told one after the other, whoever tells it: so the checkers have met events in the
 * order of the file.
 */
#ifndef HEDDLE_RECORD_RECORDER_H
#define HEDDLE_RECORD_RECORDER_H

#include "heddle.h"

struct recorder;
struct checker;
struct machine;

/* NULL with errno set. */
struct recorder *recorder_open(const char *path);
/* Before the checker is told anything. `o`: the checker's. False where memory is exhausted, or
 * there are too many. */
bool recorder_add(struct recorder *r, struct checker *c, struct machine *m, const hd_checker_options *o);
/* What is said of the whole: the program's name, and findings that no detector has made, as JSON;
 * each may be NULL. */
void recorder_summary(struct recorder *r, const char *program, const char *findings);
/* Behind the last event; its checkers are still there. False with errno set where the file is not
 * whole. NULL is allowed. */
bool recorder_close(struct recorder *r);

#endif
