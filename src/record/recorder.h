/* Records what checkers are told (file.h), so that a replay can tell it again without running
 * kernels: replay.h.
 *
 * A recorder listens to one checker, or to several whose work is ordered together. It is the first
 * client of each of their launches, and wants the kinds of events that their tools want. While it
 * listens, events of all threads are serialised, so that checkers get them in the order of the
 * file.
 */
#ifndef HEDDLE_RECORD_RECORDER_H
#define HEDDLE_RECORD_RECORDER_H

#include "heddle.h"

struct recorder;
struct checker;
struct machine;

/* Returns NULL with errno set. */
struct recorder *recorder_open(const char *path);
/* Call it before the checker is told anything. `o`: the checker's options. Returns false if memory
 * is exhausted, or there are too many checkers. */
bool recorder_add(struct recorder *r, struct checker *c, struct machine *m, const hd_checker_options *o);
/* Adds facts about the whole: the program's name, and, as JSON, findings that no detector made;
 * each may be NULL. */
void recorder_summary(struct recorder *r, const char *program, const char *findings);
/* Call it behind the last event, before the checkers are freed. Returns false with errno set if the
 * file is incomplete. NULL is allowed. */
bool recorder_close(struct recorder *r);

#endif
