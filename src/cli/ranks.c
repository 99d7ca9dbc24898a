/* See ranks.h. */
#include "cli/ranks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <unistd.h>

static int own_stderr = -1, kept_stderr = -1;

void begin_ranks(struct ranks *r)
{
    ranks_find(r);
    if (!r->number)
        return;
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    own_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    kept_stderr = memfd_create("heddle-stderr", MFD_CLOEXEC);
    fflush(stdout);
    if (nowhere >= 0)
        dup2(nowhere, STDOUT_FILENO);
    if (kept_stderr >= 0)
        dup2(kept_stderr, STDERR_FILENO);
}

/* Starts this program again in this process, with the same words. */
static void begin_again(struct session *s)
{
    char **words = ARENA_ARRAY(&s->arena, char *, (size_t)s->argc + 2);
    words[0] = "heddle";
    for (int i = 0; i < s->argc; i++)
        words[i + 1] = s->argv[i];
    execv("/proc/self/exe", words);
}

void begin_equal_ranks(struct session *s, struct ranks *r)
{
    /* guards against a loop on systems that ignore the request */
    static const char again[] = "HEDDLE_RANK_BEGUN";
    ranks_find(r);
    int now = personality(0xffffffff);
    if (r->n > 1 && now >= 0 && !(now & ADDR_NO_RANDOMIZE) && !getenv(again) && setenv(again, "1", 1) == 0 &&
        personality((unsigned long)now | ADDR_NO_RANDOMIZE) >= 0)
        begin_again(s);
    begin_ranks(r);
}

int connect_ranks(struct session *s, struct ranks *r)
{
    const char *wrong = ranks_connect(r, &s->arena);
    return wrong ? cli_failure(s, "%s", wrong) : 0;
}

/* All ranks fail alike: the first one prints why, and the launcher ends the others. A rank that is
 * still running has failed alone, and prints why itself. */
static void say_alone(const struct ranks *r)
{
    char text[4096];
    ssize_t n = kept_stderr >= 0 ? pread(kept_stderr, text, sizeof text, 0) : 0;
    sleep(2);
    if (n > 0)
        dprintf(own_stderr, "heddle: rank %u: %.*s", r->number, (int)n, text);
}

int end_ranks(struct ranks *r, int status)
{
    if (r->number && status)
        say_alone(r);
    if (r->transport && status && r->number)
        r->transport->abort(status);
    ranks_disconnect(r);
    return status;
}
