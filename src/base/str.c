/* Edit distance; the rest of str.h is inline. */
#include "base/str.h"

enum { LONGEST = 63 };

unsigned str_distance(struct str a, struct str b, unsigned limit)
{
    unsigned row[LONGEST + 1];
    if (a.n > LONGEST || b.n > LONGEST)
        return limit + 1;
    for (size_t j = 0; j <= b.n; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= a.n; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b.n; j++) {
            unsigned best = diagonal + (a.p[i - 1] != b.p[j - 1]);
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[b.n] > limit ? limit + 1 : row[b.n];
}
