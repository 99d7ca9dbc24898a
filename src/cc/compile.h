/* The compilation of one file. Private to cc/. */
#ifndef HEDDLE_CC_COMPILE_H
#define HEDDLE_CC_COMPILE_H

#include "cc/job.h"
#include "files/file.h"

enum cc_language { LANGUAGE_CU, LANGUAGE_C, LANGUAGE_CPP, LANGUAGE_PTX, LANGUAGE_LINK };
/* By the options, or by its name. */
enum cc_language cc_language_of(struct job *j, const char *input);

/* Has the compilers read the source and its headers as clang wants them, if they are written as
 * nvcc takes them (sources.c). */
bool cc_rewrite_source(struct job *j, const char *input);
/* Compiles the device code for one architecture. */
bool cc_compile_device(struct job *j, const char *input, const char *arch, const char *output);
/* The PTX of a file for one architecture: compiled, or the file itself. */
bool cc_read_device(struct job *j, const char *input, const char *arch, struct file_bytes *file);
/* The fat binary of a file for all architectures, from malloc. NULL: errors, printed. */
void *cc_make_fatbin(struct job *j, const char *input, size_t *bytes);
/* A .cu file to an object, with the fat binary inside. */
bool cc_compile_cuda(struct job *j, const char *input, const char *output);

#endif
