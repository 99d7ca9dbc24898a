/* Compiled code on disk, so that a kernel is compiled once and not once a process.
 *
 * An entry is a file named after all that its code depends on (code_cache_key); it is written aside
 * and renamed, so that processes which write and read at once do no harm to each other. What is
 * read here will be run, so it has to be the user's own: the folder and the file belong to the
 * process's effective user, and nobody else can write to them; a sum over all of an entry, its key
 * too, finds what is damaged or stands under another's name. What fails a test is removed and
 * counts as absent; a folder that fails is left alone. The folder is HEDDLE_CACHE, or heddle in
 * XDG_CACHE_HOME or ~/.cache; HEDDLE_CACHE=off keeps nothing. It is held to CODE_CACHE_LIMIT_BYTES:
 * what was used longest ago goes first.
 */
#ifndef HEDDLE_JIT_CODE_CACHE_H
#define HEDDLE_JIT_CODE_CACHE_H

#include "jit/wire.h"

#define CODE_CACHE_LIMIT_BYTES (256ull << 20)

/* A BLAKE2b hash (RFC 7693). */
struct code_cache_key {
    uint8_t at[32];
};

/* Why something of the cache is not used, in words; empty: there is nothing to say. */
struct code_cache_refusal {
    char text[512];
};

/* Of a request's bytes (wire.h), the tier, and the builds of the library and of the compiler, whose
 * file is `program`. What is confined to the sandbox is found by what is confined alone. */
struct code_cache_key code_cache_key(const uint8_t *request, size_t bytes, enum jit_tier tier, const char *program,
                                     bool is_confined);

/* result->object and n_inline_caches, to be freed by the caller; false where there is no good
 * entry. */
bool code_cache_load(const struct code_cache_key *key, struct jit_result *result);
/* Both set result->cache_error where something is refused. */
void code_cache_store(const struct code_cache_key *key, struct jit_result *result);

/* The folder, into path; false where nothing is kept. */
bool code_cache_folder(char *path, size_t size);
/* Counts the entries and their bytes; removes them where `clear` is set, with all that processes
 * which died have left. */
void code_cache_survey(size_t *entries, uint64_t *bytes, bool clear, struct code_cache_refusal *why);

#endif
