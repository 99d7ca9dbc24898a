/* Local memory of a warp. Lanes are interleaved by words, as in hardware, so that lanes that access
 * the same address touch one cache line: byte `address` of lane l is at ((address & ~3) * 32) + 4 *
 * l + (address & 3).
 */
#ifndef HEDDLE_MEM_LOCAL_H
#define HEDDLE_MEM_LOCAL_H

#include <stdint.h>
#include <string.h>

static inline uint8_t *local_word(uint8_t *local, uint64_t address, unsigned lane)
{
    return local + ((address & ~3ull) * 32) + 4 * lane + (address & 3);
}

/* Copies `bytes` (1, 2, or a multiple of 4) from one lane's local memory; the address is aligned to
 * them, up to 4. */
static inline void local_read(const uint8_t *local, uint64_t address, unsigned lane, void *to, unsigned bytes)
{
    if (bytes < 4)
        memcpy(to, local_word((uint8_t *)local, address, lane), bytes);
    else
        for (unsigned i = 0; i < bytes; i += 4)
            memcpy((uint8_t *)to + i, local_word((uint8_t *)local, address + i, lane), 4);
}

static inline void local_write(uint8_t *local, uint64_t address, unsigned lane, const void *from, unsigned bytes)
{
    if (bytes < 4)
        memcpy(local_word(local, address, lane), from, bytes);
    else
        for (unsigned i = 0; i < bytes; i += 4)
            memcpy(local_word(local, address + i, lane), (const uint8_t *)from + i, 4);
}

#endif
