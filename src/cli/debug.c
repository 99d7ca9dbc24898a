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
    if (is_program) {
        printf("%s: set breakpoints and `run`; `help` lists the commands\n", s->words[0]);
    } else {
        if (f.start(&f))
            return 1;
        front_wait(&f);
        if (f.state == FRONT_GONE)
            return f.status ? f.status : 1;
        printf("Kernel %s is ready: set breakpoints and `run`; `help` lists the commands\n",
               text_of(f.place, "kernel"));
    }
    front_loop(&f);
    front_close(&f);
    return 0;
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
    return s->o.dap || s->o.dap_port.given ? dap_serve(s) : talk(s, false);
}

int cmd_debug_program(struct session *s)
{
    return s->o.dap || s->o.dap_port.given ? dap_serve(s) : talk(s, true);
}
