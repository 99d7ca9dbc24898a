/* mutate-events N SEED FILE...: replays each file of events and N damaged copies of it: with bits turned, digits exchanged, lines left out,
 * doubled or moved. Each ends with findings or an error; how many did is said. A crash is what the sanitizers are for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "record/replay.h"

static uint64_t state;

static uint64_t choose(uint64_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return n ? (state >> 33) % n : 0;
}

/* True where it could be replayed. */
static bool replay(const char *bytes, size_t n)
{
    struct arena arena = {0};
    const char *error;
    char path[64];
    bool whole = false;
    int file = memfd_create("events", MFD_CLOEXEC);
    if (file < 0 || write(file, bytes, n) != (ssize_t)n)
        exit(2);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    struct replay *r = replay_run(path, &arena, &error);
    struct diags diags = {.arena = &arena};
    for (unsigned i = 0; r && replay_report(r, i, &diags, &whole); i++)
        ;
    bool ok = r;
    replay_free(r);
    arena_free(&arena);
    close(file);
    return ok;
}

/* The line that a place is in. */
static void line_at(const char *p, size_t n, size_t at, size_t *from, size_t *to)
{
    for (*from = at; *from > 0 && p[*from - 1] != '\n'; --*from)
        ;
    for (*to = at; *to < n && p[*to] != '\n'; ++*to)
        ;
    *to += *to < n;
}

static size_t mutate(char *p, size_t n, size_t room)
{
    size_t from, to, at = choose(n);
    char *digit;
    switch (choose(5)) {
    case 0: p[at] ^= (char)(1u << choose(8)); return n;
    case 1: /* a digit becomes another one */
        digit = memchr(p + at, '=', n - at);
        if (digit && digit + 1 < p + n && digit[1] != '\n')
            digit[1 + (digit + 2 < p + n && digit[2] != ' ' && digit[2] != '\n' ? choose(2) : 0)] =
                (char)('0' + choose(10));
        return n;
    case 2:
        line_at(p, n, at, &from, &to);
        memmove(p + from, p + to, n - to);
        return n - (to - from);
    case 3:
        line_at(p, n, at, &from, &to);
        if (n + to - from > room)
            return n;
        memmove(p + to, p + from, n - from);
        return n + (to - from);
    default: return at; /* cut off */
    }
}

static char *read_all(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    char *p = malloc(1 << 24);
    if (!f || !p)
        exit(2);
    *n = fread(p, 1, 1 << 23, f);
    fclose(f);
    return p;
}

int main(int argc, char **argv)
{
    unsigned long times = argc > 3 ? strtoul(argv[1], NULL, 10) : 0, good = 0;
    if (argc < 4)
        return 2;
    for (int i = 3; i < argc; i++) {
        size_t n, damaged;
        char *original = read_all(argv[i], &n), *copy = malloc(1 << 24);
        state = strtoull(argv[2], NULL, 10) + (uint64_t)i;
        if (!copy || !replay(original, n)) {
            printf("%s cannot be replayed\n", argv[i]);
            return 1;
        }
        for (unsigned long k = 0; k < times; k++) {
            memcpy(copy, original, n);
            damaged = n;
            for (uint64_t more = 1 + choose(3); more && damaged; more--)
                damaged = mutate(copy, damaged, 1 << 24);
            good += replay(copy, damaged);
        }
        free(original);
        free(copy);
    }
    printf("%lu of %lu damaged files could be replayed\n", good, times * (unsigned long)(argc - 3));
    return 0;
}
