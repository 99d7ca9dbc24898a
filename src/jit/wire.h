/* Requests and answers as bytes, between a program and its compiler (compiler_process.c, main.c).
 *
 * Compiled code depends only on the bytes of a request and on the tier. Nothing in them is
 * specific to a process: no address, no order of events. Their hash names the code on disk
 * (code_cache.h).
 */
#ifndef HEDDLE_JIT_WIRE_H
#define HEDDLE_JIT_WIRE_H

#include "jit/request.h"

/* The compiler's open descriptors: the connection, and a pidfd of the program (which may be
 * missing). */
enum { JIT_SOCKET = 3, JIT_PIDFD = 4 };

/* The compiler's first message, when it is ready. */
struct wire_hello {
    char version[24]; /* HEDDLE_VERSION */
    uint32_t layout;  /* wire_layout() */
};
struct wire_hello wire_hello(void);
/* A number that both sides must agree on: abi_number(), and the layout of structs that cross as
 * they are. */
uint32_t wire_layout(void);

/* The header of a request. */
struct wire_ask {
    uint64_t bytes;
    uint32_t tier;           /* enum jit_tier */
    uint32_t seconds;        /* at most, of processor time */
    bool object;             /* is it wanted? */
    bool ir, llvm, assembly; /* are they wanted, as text? */
};

/* To be freed by the caller; NULL without memory. */
uint8_t *wire_write(const struct jit_request *r, size_t *bytes);
/* Reads the request into the arena; names point into the bytes. `shapes` and `tier` are left
 * out. False if bytes are missing. */
bool wire_read(struct jit_request *r, const uint8_t *at, size_t bytes, struct arena *arena);

/* False if the other side is gone. */
bool wire_send_result(int fd, const struct jit_result *r);
/* The caller must release *r in any case. False if there is no answer, or no memory for it. */
bool wire_receive_result(int fd, struct jit_result *r);

#endif
