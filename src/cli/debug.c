/* heddle debug: stops in the kernels of a program, or in a kernel of PTX files. The kernel runs in
 * another process; a kernel of PTX files runs there in a sandbox. This process talks with the user
 * or the editor. */
#include <stdio.h>
#include <unistd.h>

#include "cli/dap.h"
#include "cli/debug_front.h"

static int talk(struct session *s, bool is_program)
{
    struct front f;
    int status = front_open(&f, s, is_program);
    if (status)
        return status;
    front_take_interrupts();
    f.on_terminal = isatty(STDIN_FILENO);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (is_program && !s->o.debug_quiet) {
        printf("%s: set breakpoints and `run`; `help` lists the commands\n", s->words[0]);
    } else if (!is_program) {
        if (f.start(&f))
            return 1;
        front_wait(&f);
        if (f.state == FRONT_GONE)
            return f.status ? f.status : 1;
        if (!s->o.debug_quiet)
            printf("Kernel %s is ready: set breakpoints and `run`; `help` lists the commands\n",
                   text_of(f.place, "kernel"));
    }
    front_loop(&f);
    status = s->o.debug_batch && f.state == FRONT_GONE ? f.status : 0;
    front_close(&f);
    return status;
}

/* An editor sends its own commands. */
static int serve(struct session *s)
{
    const struct options *o = &s->o;
    if (o->debug_files.n || o->debug_lines.n || o->debug_batch || o->debug_quiet)
        return usage_error(s, "-x, -ex, -batch and -q are for the terminal: leave them out with --dap");
    return dap_serve(s);
}

int debug_on_fault(struct session *s)
{
    struct front f;
    if (s->o.run_timeout > 0)
        return usage_error(s, "--debug-on-fault waits for commands: leave out --timeout");
    int status = front_open(&f, s, true);
    if (status)
        return status;
    front_take_interrupts();
    f.on_terminal = isatty(STDIN_FILENO);
    setvbuf(stdout, NULL, _IOLBF, 0);
    f.says_nothing = true;
    if (f.start(&f))
        return 1;
    front_wait(&f);
    f.says_nothing = false;
    bool stopped = f.state != FRONT_GONE;
    if (stopped)
        front_loop(&f);
    status = f.status;
    front_close(&f);
    return stopped && !status ? 1 : status;
}

int cmd_debug(struct session *s)
{
    return s->o.dap || s->o.dap_port.given ? serve(s) : talk(s, false);
}

int cmd_debug_program(struct session *s)
{
    return s->o.dap || s->o.dap_port.given ? serve(s) : talk(s, true);
}
