/* Files of records (records.h). Binary ones are compressed by zstd, with a checksum; a name that
 * ends in .txt means text. */
#ifndef HEDDLE_RECORD_FILE_H
#define HEDDLE_RECORD_FILE_H

#include "record/records.h"

struct record_writer;

/* Returns NULL with errno set. */
struct record_writer *record_create(const char *path);
/* Errors are reported by record_finish(). */
void record_write(struct record_writer *w, struct record *r);
/* Call it behind the last record. Returns false with errno set if the file is incomplete. NULL is
   allowed. */
bool record_finish(struct record_writer *w);

struct record_reader;

/* Opens a file; NULL with *error (in the arena) if it cannot be read, or is no such file. */
struct record_reader *record_open(const char *path, struct arena *arena, const char **error);
/* Returns to the start. */
void record_rewind(struct record_reader *r);
/* Reads the next record, whose texts and lists are valid until the one after it. Returns false at
 * the end, or after an error. */
bool record_next(struct record_reader *r, struct record *to);
/* "FILE:12: ..." for text, "FILE: record 12: ..."; NULL if there was no error. */
const char *record_error(struct record_reader *r, struct arena *arena);
/* Reports an error in the last record's contents. */
void record_fail(struct record_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void record_close(struct record_reader *r); /* NULL is allowed */

#endif
