/* atomicMin, atomicMax, atomicInc, atomicDec, atomicAnd, atomicOr, atomicXor of every type and scope. */
#include "atomics.h"

KERNEL min_int(void *cells) BODY(CELLS_OF(int) THREE(atomicMin, -i))
KERNEL min_unsigned(void *cells) BODY(CELLS_OF(unsigned) THREE(atomicMin, 0xfffffff0u - i))
KERNEL min_long_long(void *cells) BODY(CELLS_OF(long long) THREE(atomicMin, -i * 0x100000000ll))
KERNEL min_unsigned_long_long(void *cells) BODY(CELLS_OF(unsigned long long) THREE(atomicMin, ~0ull - i))
KERNEL max_int(void *cells) BODY(CELLS_OF(int) THREE(atomicMax, i - 100))
KERNEL max_unsigned(void *cells) BODY(CELLS_OF(unsigned) THREE(atomicMax, 0x80000000u + i))
KERNEL max_long_long(void *cells) BODY(CELLS_OF(long long) THREE(atomicMax, i - 0x100000000ll))
KERNEL max_unsigned_long_long(void *cells) BODY(CELLS_OF(unsigned long long) THREE(atomicMax, (1ull << 63) + i))
KERNEL inc_wraps(void *cells) BODY(CELLS_OF(unsigned) (void)in_grid; THREE(atomicInc, 9u + 0 * i))
KERNEL dec_wraps(void *cells) BODY(CELLS_OF(unsigned) (void)in_grid; THREE(atomicDec, 9u + 0 * i))
KERNEL and_int(void *cells) BODY(CELLS_OF(int) THREE(atomicAnd, ~(1 << i % 31)))
KERNEL and_unsigned(void *cells) BODY(CELLS_OF(unsigned) THREE(atomicAnd, ~(1u << i % 8)))
KERNEL and_unsigned_long_long(void *cells) BODY(CELLS_OF(unsigned long long) THREE(atomicAnd, ~(1ull << i % 48)))
KERNEL or_int(void *cells) BODY(CELLS_OF(int) THREE(atomicOr, 1 << i % 31))
KERNEL or_unsigned(void *cells) BODY(CELLS_OF(unsigned) THREE(atomicOr, 1u << i % 8))
KERNEL or_unsigned_long_long(void *cells) BODY(CELLS_OF(unsigned long long) THREE(atomicOr, 1ull << i % 48))
KERNEL xor_int(void *cells) BODY(CELLS_OF(int) THREE(atomicXor, 1 << i % 3))
KERNEL xor_unsigned(void *cells) BODY(CELLS_OF(unsigned) THREE(atomicXor, (unsigned)i))
KERNEL xor_unsigned_long_long(void *cells) BODY(CELLS_OF(unsigned long long) THREE(atomicXor, 1ull << i % 63))
REGISTER_KERNEL(min_int)
REGISTER_KERNEL(min_unsigned)
REGISTER_KERNEL(min_long_long)
REGISTER_KERNEL(min_unsigned_long_long)
REGISTER_KERNEL(max_int)
REGISTER_KERNEL(max_unsigned)
REGISTER_KERNEL(max_long_long)
REGISTER_KERNEL(max_unsigned_long_long)
REGISTER_KERNEL(inc_wraps)
REGISTER_KERNEL(dec_wraps)
REGISTER_KERNEL(and_int)
REGISTER_KERNEL(and_unsigned)
REGISTER_KERNEL(and_unsigned_long_long)
REGISTER_KERNEL(or_int)
REGISTER_KERNEL(or_unsigned)
REGISTER_KERNEL(or_unsigned_long_long)
REGISTER_KERNEL(xor_int)
REGISTER_KERNEL(xor_unsigned)
REGISTER_KERNEL(xor_unsigned_long_long)

typedef unsigned long long u64;

/* Of `n` threads with the numbers 0 to n - 1, the exclusive or of what they bring. */
static unsigned xor_of(int n, int modulus)
{
    unsigned x = 0;
    for (int i = 0; i < n; i++)
        x ^= modulus ? 1u << i % modulus : (unsigned)i;
    return x;
}

static u64 xor_wide(int n)
{
    u64 x = 0;
    for (int i = 0; i < n; i++)
        x ^= 1ull << i % 63;
    return x;
}

int main(void)
{
    FAMILY(min_int, int, 7, 1 - THREADS, 1 - GRID);
    FAMILY(min_unsigned, unsigned, ~0u, 0xfffffff0u - (THREADS - 1), 0xfffffff0u - (GRID - 1));
    FAMILY(min_long_long, long long, 7, -(THREADS - 1) * 0x100000000ll, -(GRID - 1) * 0x100000000ll);
    FAMILY(min_unsigned_long_long, u64, ~0ull, ~0ull - (THREADS - 1), ~0ull - (GRID - 1));
    FAMILY(max_int, int, -1000, THREADS - 101, GRID - 101);
    FAMILY(max_unsigned, unsigned, 5, 0x80000000u + THREADS - 1, 0x80000000u + GRID - 1);
    FAMILY(max_long_long, long long, -4611686018427387904ll, THREADS - 1 - 0x100000000ll, GRID - 1 - 0x100000000ll);
    FAMILY(max_unsigned_long_long, u64, 5, (1ull << 63) + THREADS - 1, (1ull << 63) + GRID - 1);
    FAMILY(inc_wraps, unsigned, 0, THREADS % 10, GRID % 10);
    FAMILY(dec_wraps, unsigned, 9, 9 - THREADS % 10, 9 - GRID % 10);
    FAMILY(inc_wraps, unsigned, 50, (THREADS - 1) % 10, (GRID - 1) % 10);     /* above the limit: to 0 */
    FAMILY(dec_wraps, unsigned, 50, 9 - (THREADS - 1) % 10, 9 - (GRID - 1) % 10); /* above the limit: to the limit */
    FAMILY(and_int, int, -1, 1 << 31, 1 << 31);
    FAMILY(and_unsigned, unsigned, 0xfffu, 0xf00u, 0xf00u);
    FAMILY(and_unsigned_long_long, u64, ~0ull, 0xffff000000000000ull, 0xffff000000000000ull);
    FAMILY(or_int, int, 0, 0x7fffffff, 0x7fffffff);
    FAMILY(or_unsigned, unsigned, 0x100, 0x1ff, 0x1ff);
    FAMILY(or_unsigned_long_long, u64, 1ull << 63, 0x8000ffffffffffffull, 0x8000ffffffffffffull);
    FAMILY(xor_int, int, 0, (int)xor_of(THREADS, 3), (int)xor_of(GRID, 3));
    FAMILY(xor_unsigned, unsigned, 77, 77 ^ xor_of(THREADS, 0), 77 ^ xor_of(GRID, 0));
    FAMILY(xor_unsigned_long_long, u64, 0, xor_wide(THREADS), xor_wide(GRID));
    return done();
}
