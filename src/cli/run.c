/* heddle run: a CUDA program with Heddle's libraries in the place of CUDA's. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "cli/debug_front.h"
#include "cli/program.h"
#include "cli/sandbox.h"
#include "cli/supervise.h"

static int run_for(struct session *s, const char *program, double seconds)
{
    struct supervision v = {.file = program, .words = (char *const *)s->words, .seconds = seconds};
    struct ending e;
    int status = supervise(s, &v, &e);
    return status ? status : e.over_time ? TIME_IS_OVER : end_as(e.status);
}

int cmd_run(struct session *s)
{
    int status;
    if (!s->n_words)
        return usage_error(s, "heddle run needs a program; `heddle run --help` explains");
    if (s->o.debug_on_fault)
        return debug_on_fault(s);
    const char *program = program_prepare(s, NULL, &status);
    if (!program)
        return status;
    if (s->o.confined && confine_program(s, NULL))
        return PROGRAM_CANNOT_RUN;
    signal(SIGXFSZ, SIG_DFL); /* main() ignores SIGXFSZ */
    if (s->o.run_timeout > 0)
        return run_for(s, program, s->o.run_timeout);
    execv(program, (char *const *)s->words);
    usage_error(s, "cannot run `%s`: %s", program, strerror(errno));
    return PROGRAM_CANNOT_RUN;
}
