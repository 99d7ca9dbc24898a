/* Edit distance, and the keys of hashes; the rest of str.h is inline. */
#include "base/str.h"

#include <sys/random.h>

uint64_t str_hash_keys[2] = {0xcbf29ce484222325u, 0x9E3779B97F4A7C15u};

__attribute__((constructor)) static void choose_keys(void)
{
    uint64_t keys[2];
    if (getrandom(keys, sizeof keys, GRND_NONBLOCK) != sizeof keys)
        return;
    str_hash_keys[0] = keys[0];
    str_hash_keys[1] = keys[1] | 1u << 31 | 1; /* odd, and not small */
}

enum { LONGEST = 63 };

unsigned str_distance(struct str a, struct str b, unsigned limit)
{
    /* The last three rows of the table of distances between beginnings. */
    unsigned rows[3][LONGEST + 1];
    if (a.n > LONGEST || b.n > LONGEST)
        return limit + 1;
    for (size_t j = 0; j <= b.n; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= a.n; i++) {
        unsigned *row = rows[i % 3], *before = rows[(i + 2) % 3], *swap = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b.n; j++) {
            unsigned best = before[j - 1] + (a.p[i - 1] != b.p[j - 1]);
            if (before[j] + 1 < best)
                best = before[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1] && swap[j - 2] + 1 < best)
                best = swap[j - 2] + 1;
            row[j] = best;
        }
    }
    unsigned distance = rows[a.n % 3][b.n];
    return distance > limit ? limit + 1 : distance;
}
