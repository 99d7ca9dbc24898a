/* Streams that a user has named for output. */
#ifndef HEDDLE_BASE_OUTPUT_STREAM_H
#define HEDDLE_BASE_OUTPUT_STREAM_H

#include <stdio.h>

/* A file, from its start; "-" is standard output, which stays open when the stream is closed. NULL
 * with errno. */
FILE *written_open(const char *path);

#endif
