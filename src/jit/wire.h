/* Requests and answers as bytes, between a program and its compiler (compiler_process.c, main.c).
 *
 * The bytes of a request, and the tier beside them, are all that compiled code depends on, and
 * nothing in them is particular to a process: no address, no order in which things happened. Their
 * hash names the code on disk (code_cache.h).
 */
#ifndef HEDDLE_JIT_WIRE_H
#define HEDDLE_JIT_WIRE_H

#include "jit/request.h"

/* What is open in the compiler: the connection, and a pidfd of the program (which may be missing). */
enum { JIT_SOCKET = 3, JIT_PIDFD = 4 };

/* The first word of the compiler, when it is ready. */
struct wire_hello {
    char version[24]; /* HEDDLE_VERSION */
    uint32_t layout;  /* wire_layout() */
};
struct wire_hello wire_hello(void);
/* What both sides must agree on, as a number: abi_number(), and what crosses as it stands in
 * memory. */
uint32_t wire_layout(void);

/* What goes before a request. */
struct wire_ask {
    uint64_t bytes;
    uint32_t tier;           /* enum jit_tier */
    uint32_t seconds;        /* of processor time, at most */
    bool object;             /* wanted */
    bool ir, llvm, assembly; /* wanted as text */
};

/* To be freed by the caller; NULL where memory is exhausted. */
uint8_t *wire_write(const struct jit_request *r, size_t *bytes);
/* The request, in the arena and, its names, in the bytes themselves. `shapes` and `tier` are left
 * out. False where bytes are missing. */
bool wire_read(struct jit_request *r, const uint8_t *at, size_t bytes, struct arena *arena);

/* False where the other side is gone. */
bool wire_send_result(int fd, const struct jit_result *r);
/* To be released by the caller, also where it is false: then there is no answer, or no memory for
 * it. */
bool wire_receive_result(int fd, struct jit_result *r);

#endif
