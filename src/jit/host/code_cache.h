/* Compiled code on disk, so that a kernel is compiled once and not once in each process.
 *
 * An entry is a file whose name is a hash of all that its code depends on (code_cache_key). It
 * is written to a temporary name and renamed, so that processes can read and write at the same
 * time. Code that is read here will be run, so it must be the user's own: folder and file belong
 * to the process's effective user, and nobody else can write to them. A checksum over the whole
 * entry, its key included, detects damage and wrong names. An entry that fails a test is removed
 * and counts as absent; a folder that fails is left alone. The folder is HEDDLE_CACHE, or heddle
 * in XDG_CACHE_HOME or ~/.cache; HEDDLE_CACHE=off keeps nothing. Its size is limited to
 * CODE_CACHE_LIMIT_BYTES: the least recently used entries are removed.
 */
#ifndef HEDDLE_JIT_CODE_CACHE_H
#define HEDDLE_JIT_CODE_CACHE_H

#include "jit/wire.h"

#define CODE_CACHE_LIMIT_BYTES (256ull << 20)

/* A BLAKE2b hash (RFC 7693). */
struct code_cache_key {
    uint8_t at[32];
};

/* Why an entry or folder of the cache is not used, in words; or empty. */
struct code_cache_refusal {
    char text[512];
};

/* The key of a request's bytes (wire.h), the tier, and the builds of the library and of the
 * compiler, whose file is `program`. Sandboxed processes have keys of their own. */
struct code_cache_key code_cache_key(const uint8_t *request, size_t bytes, enum jit_tier tier, const char *program,
                                     bool is_confined);

/* Fills result->object and n_inline_caches, to be freed by the caller; false if there is no
 * valid entry. */
bool code_cache_load(const struct code_cache_key *key, struct jit_result *result);
/* Both set result->cache_error if something is refused. */
void code_cache_store(const struct code_cache_key *key, struct jit_result *result);

/* Writes the folder into path; false if nothing is kept. */
bool code_cache_folder(char *path, size_t size);
/* Counts the entries and their bytes; removes them if `clear` is set, together with leftovers of
 * processes that died. */
void code_cache_survey(size_t *entries, uint64_t *bytes, bool clear, struct code_cache_refusal *why);

#endif
