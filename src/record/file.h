/* Files of records (records.h): binary ones are compressed by zstd with a checksum; those whose
 * name ends in .txt are text. */
#ifndef HEDDLE_RECORD_FILE_H
#define HEDDLE_RECORD_FILE_H

#include "record/records.h"

struct record_writer;

/* NULL with errno set. */
struct record_writer *record_create(const char *path);
/* What goes wrong is told by record_finish(). */
void record_write(struct record_writer *w, struct record *r);
/* Behind the last record; false with errno set where the file is not whole. NULL is allowed. */
bool record_finish(struct record_writer *w);

struct record_reader;

/* The whole file; NULL with *error (in the arena) where it cannot be read or is none. */
struct record_reader *record_open(const char *path, struct arena *arena, const char **error);
/* From the start again. */
void record_rewind(struct record_reader *r);
/* The next record, whose texts and lists are good until the one after it. False at the end, or with
 * an error. */
bool record_next(struct record_reader *r, struct record *to);
/* "FILE:12: ..." for text, "FILE: record 12: ..."; NULL while all is well. */
const char *record_error(struct record_reader *r, struct arena *arena);
/* What the last record says is wrong, beyond its form. */
void record_fail(struct record_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void record_close(struct record_reader *r); /* NULL is allowed */

#endif
