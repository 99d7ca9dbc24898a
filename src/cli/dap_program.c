/* Starts the program of an editor's session, passes its output on, and ends it; see dap.h. */
#include "cli/dap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "debug/link.h"

/* ---- output ---- */

/* The length of the longest prefix that ends between UTF-8 characters; all of a text that is not
   UTF-8. */
static size_t whole_characters(const char *p, size_t n)
{
    for (size_t back = 1; back <= 3 && back <= n; back++) {
        unsigned char c = (unsigned char)p[n - back];
        size_t length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
        if (c >= 0xc0)
            return length > back ? n - back : n;
        if (c < 0x80)
            break;
    }
    return n;
}

/* Passes on one piece of the program's output; returns false if there is none. */
static bool pass_output(struct dap *d, int i)
{
    static const char *const categories[] = {"stdout", "stderr"};
    char text[1 << 14];
    size_t had = d->broken[i].n;
    memcpy(text, d->broken[i].at, had);
    ssize_t got = d->output[i] >= 0 ? read(d->output[i], text + had, sizeof text - had) : 0;
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (got <= 0) { /* a terminal reports EIO after its last writer has closed it */
        if (d->output[i] >= 0)
            close(d->output[i]);
        d->output[i] = -1;
    }
    size_t n = had + (got > 0 ? (size_t)got : 0), whole = got > 0 ? whole_characters(text, n) : n;
    d->broken[i].n = n - whole;
    memcpy(d->broken[i].at, text + whole, n - whole);
    if (whole)
        dap_event(d, "output", json_pack("{s:s, s:o}", "category", categories[i], "output", json_text(text, whole)));
    if (whole && i == 1 && d->says.arena)
        text_put(&d->says, text, whole);
    return got > 0;
}

/* Opens a terminal, for output that comes line by line, or a pipe: ends[1] is the program's. */
static bool open_output(int ends[2], bool terminal)
{
    struct termios how;
    char name[128];
    ends[0] = terminal ? posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
    if (ends[0] >= 0 && grantpt(ends[0]) == 0 && unlockpt(ends[0]) == 0 && ptsname_r(ends[0], name, sizeof name) == 0 &&
        (ends[1] = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)) >= 0 && tcgetattr(ends[1], &how) == 0) {
        cfmakeraw(&how);
        tcsetattr(ends[1], TCSANOW, &how);
    } else {
        if (ends[0] >= 0)
            close(ends[0]);
        if (pipe2(ends, O_CLOEXEC) != 0)
            return false;
    }
    return fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
}

/* ---- the end ---- */

static void tell_end(struct dap *d)
{
    for (int i = 0; i < 2; i++)
        while (pass_output(d, i))
            ;
    for (int i = 0; i < 2; i++)
        if (d->output[i] >= 0) {
            close(d->output[i]);
            d->output[i] = -1;
        }
    if (d->f.status > 128 && d->f.status < 128 + 65)
        dap_say(d, "console",
                arena_printf(&d->at_stop, "The program was ended by signal %d (%s).\n", d->f.status - 128,
                             strsignal(d->f.status - 128)));
    if (d->opened) {
        dap_event(d, "exited", json_pack("{s:i}", "exitCode", d->f.status));
        dap_event(d, "terminated", NULL);
    }
    d->has_ended = true;
}

/* Closes the connection to the program: it has ended, or is no longer read. */
static void unlink_program(struct dap *d)
{
    close(d->f.link);
    d->f.link = -1;
    d->asked.n = 0;
    if (d->f.state != FRONT_GONE)
        dap_await(&d->f);
}

static void look_for_end(struct dap *d)
{
    int status;
    if (d->f.pid > 0 && waitpid(d->f.pid, &status, WNOHANG) == d->f.pid) {
        while (d->f.link >= 0 && link_has_message(d->f.link)) {
            json_t *last = link_receive(d->f.link);
            if (!last)
                break;
            dap_take_event(d, last);
        }
        if (d->f.link >= 0)
            unlink_program(d);
        d->f.pid = 0;
        d->f.state = FRONT_GONE;
        d->f.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    if (d->f.state == FRONT_GONE && !d->has_ended)
        tell_end(d);
}

void dap_wait(struct dap *d)
{
    struct pollfd p[] = {{.fd = d->lets_go ? -1 : d->in, .events = POLLIN},
                         {.fd = d->f.link, .events = POLLIN},
                         {.fd = d->output[0], .events = POLLIN},
                         {.fd = d->output[1], .events = POLLIN}};
    enum { EVERY = 100 };
    if (poll(p, 4, d->f.pid > 0 ? EVERY : -1) < 0)
        return;
    for (int i = 0; i < 2; i++)
        if (p[2 + i].revents)
            pass_output(d, i);
    if (p[1].revents && d->f.link == p[1].fd) {
        json_t *event = link_receive(d->f.link);
        if (event)
            dap_take_event(d, event);
        else
            unlink_program(d);
    }
    if (p[0].revents)
        dap_receive(d);
    look_for_end(d);
}

void dap_close(struct dap *d)
{
    if (d->opened)
        front_close(&d->f);
    for (int i = 0; i < 2; i++)
        if (d->output[i] >= 0)
            close(d->output[i]);
    dap_free_points(d);
    free(d->asked.at);
    free(d->had_stopped.at);
    free(d->goto_path);
    arena_free(&d->at_stop);
    arena_free(&d->launched.arena);
}

/* ---- initialize ---- */

static json_t *filter(const char *name, const char *label, const char *description)
{
    return json_pack("{s:s, s:s, s:s, s:b}", "filter", name, "label", label, "description", description, "default", 1);
}

const char *dap_initialize(struct dap *d, const json_t *arguments, json_t *body)
{
    static const char *const can[] = {"supportsConfigurationDoneRequest",
                                      "supportsFunctionBreakpoints",
                                      "supportsConditionalBreakpoints",
                                      "supportsHitConditionalBreakpoints",
                                      "supportsEvaluateForHovers",
                                      "supportsStepBack",
                                      "supportsSetVariable",
                                      "supportsGotoTargetsRequest",
                                      "supportsCompletionsRequest",
                                      "supportsExceptionInfoRequest",
                                      "supportTerminateDebuggee",
                                      "supportsDelayedStackTraceLoading",
                                      "supportsLogPoints",
                                      "supportsSetExpression",
                                      "supportsTerminateRequest",
                                      "supportsDataBreakpoints",
                                      "supportsReadMemoryRequest",
                                      "supportsWriteMemoryRequest",
                                      "supportsDisassembleRequest",
                                      "supportsCancelRequest",
                                      "supportsSteppingGranularity",
                                      "supportsInstructionBreakpoints",
                                      "supportsClipboardContext"};
    const char *format = text_of(arguments, "pathFormat");
    const json_t *lines = json_object_get(arguments, "linesStartAt1");
    if (format && strcmp(format, "path") != 0)
        return arena_printf(&d->arena, "sources are named by paths, not by `%s`: set pathFormat to path", format);
    d->lines_from_0 = json_is_false(lines);
    for (size_t i = 0; i < sizeof can / sizeof can[0]; i++)
        json_object_set_new(body, can[i], json_true());
    json_object_set_new(
        body, "exceptionBreakpointFilters",
        json_pack("[o,o,o,o]",
                  filter("fault", "Faults", "bad accesses (out of bounds, misaligned and others), and traps"),
                  filter("assert", "Failed assertions", "assert() of device code"),
                  filter("deadlock", "Deadlocks", "all threads are waiting, and none can go on"),
                  filter("finding", "Findings of --check", "races, reads of uninitialised memory")));
    return NULL;
}

/* ---- launch ---- */

struct line {
    struct arena *arena;
    VEC(char *) words;
    const char *wrong;
};

static void add_word(struct line *l, const char *word)
{
    *VEC_PUSH(l->arena, &l->words) = arena_strdup(l->arena, word);
}

/* Adds a text, a number, or a list of them. */
static void add_words(struct line *l, const char *key, const json_t *v)
{
    size_t i;
    const json_t *one;
    if (json_is_string(v))
        add_word(l, json_string_value(v));
    else if (json_is_integer(v))
        add_word(l, arena_printf(l->arena, "%lld", (long long)json_integer_value(v)));
    else if (json_is_real(v))
        add_word(l, arena_printf(l->arena, "%.17g", json_real_value(v)));
    else if (json_is_array(v))
        json_array_foreach(v, i, one) add_words(l, key, one);
    else if (v && !json_is_null(v))
        l->wrong = arena_printf(l->arena, "launch: `%s` is a text or a list of texts", key);
}

/* Adds the options that a launch request has under names of its own. */
static void add_options(struct line *l, const json_t *arguments)
{
    static const char *const names[] = {"policy", "snapshots", "grid", "block", "cluster", "shared"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const json_t *v = json_object_get(arguments, names[i]);
        if (!v || json_is_null(v))
            continue;
        add_word(l, arena_printf(l->arena, "--%s", names[i]));
        add_words(l, names[i], v);
    }
    if (json_is_true(json_object_get(arguments, "check")))
        add_word(l, "--check");
    add_words(l, "options", json_object_get(arguments, "options"));
}

static bool is_dap_option(const char *word, bool *takes_next)
{
    *takes_next = strcmp(word, "--dap-port") == 0;
    return *takes_next || strcmp(word, "--dap") == 0 || strncmp(word, "--dap-port=", strlen("--dap-port=")) == 0;
}

/* Editors name a program in the current folder "app"; a shell wants "./app". */
static const char *place_of(const char *program, struct arena *arena)
{
    bool is_here = !strchr(program, '/') && access(program, X_OK) == 0 && !file_find_program(program, arena);
    return is_here ? arena_printf(arena, "./%s", program) : program;
}

/* The command line that the request means: Heddle's options, and then the program with its
 * arguments. */
static struct line command_line(struct dap *d, const json_t *arguments, struct arena *arena)
{
    struct line l = {.arena = arena};
    const char *program = text_of(arguments, "program");
    add_word(&l, "debug");
    add_options(&l, arguments);
    for (int i = 1; i < d->s->argc; i++) {
        bool takes_next;
        if (is_dap_option(d->s->argv[i], &takes_next))
            i += takes_next;
        else
            add_word(&l, d->s->argv[i]);
    }
    if (program && d->s->n_words)
        l.wrong = "launch: heddle's command line already names a program: leave out `program`, or the one on the "
                  "command line";
    if (!program && !d->s->n_words)
        l.wrong = "launch: `program` is missing: the path of a program, or of a PTX file";
    if (program)
        add_word(&l, place_of(program, arena));
    add_words(&l, "kernel", json_object_get(arguments, "kernel"));
    add_words(&l, "args", json_object_get(arguments, "args"));
    *VEC_PUSH(arena, &l.words) = NULL;
    return l;
}

static const char *set_environment(struct dap *d, const json_t *arguments)
{
    const char *directory = text_of(arguments, "cwd"), *key;
    json_t *env = json_object_get(arguments, "env"), *v;
    if (directory && chdir(directory) != 0)
        return arena_printf(&d->arena, "launch: cannot go to the folder %s: %s", directory, strerror(errno));
    json_object_foreach(env, key, v)
    {
        if (json_is_string(v) ? setenv(key, json_string_value(v), 1) : unsetenv(key))
            return arena_printf(&d->arena, "launch: `%s` is not the name of an environment variable", key);
    }
    return NULL;
}

/* Opens the front end. Returns what it printed if it could not be opened. */
static const char *open_front(struct dap *d, const struct line *l)
{
    struct session *s = &d->launched;
    int argc = (int)l->words.n - 1;
    *s = (struct session){.arena = s->arena};
    progress_init(&s->progress);
    const char *wrong = d->s->read(s, argc, l->words.at);
    if (wrong)
        return wrong;
    char *text = NULL;
    size_t n = 0;
    FILE *kept = dap_keep_text(&stderr, &text, &n);
    int status = front_open(&d->f, s, !s->n_words || !file_is_ptx(s->words[0]));
    dap_end_text(&stderr, kept);
    n -= n && text[n - 1] == '\n';
    wrong = status ? arena_strndup(&d->arena, text ? text : "it cannot be run", text ? n : strlen("it cannot be run"))
                   : NULL;
    free(text);
    d->f.await = dap_await;
    d->f.data_of_await = d;
    d->f.private[0] = d->in;
    d->f.private[1] = d->out;
    return wrong;
}

static const char *start(struct dap *d)
{
    int ends[2][2];
    for (int i = 0; i < 2; i++) {
        if (!open_output(ends[i], i == 0))
            return arena_printf(&d->arena, "cannot read what the program prints: %s", strerror(errno));
        d->output[i] = ends[i][0];
        d->f.output[i] = ends[i][1];
    }
    bool failed = d->f.start(&d->f);
    for (int i = 0; i < 2; i++) {
        close(d->f.output[i]);
        d->f.output[i] = -1;
    }
    return failed ? "the program cannot be started" : NULL;
}

static void tell_initialized(struct dap *d)
{
    dap_event(d, "process",
              json_pack("{s:o, s:b, s:s}", "name", json_text(d->launched.words[0], strlen(d->launched.words[0])),
                        "isLocalProcess", 1, "startMethod", "launch"));
    dap_event(d, "initialized", NULL);
}

/* Starts a kernel of PTX files at once, so that breakpoints find their places; a program starts
 * only when its breakpoints are known. */
const char *dap_launch(struct dap *d, const json_t *arguments, json_t *body)
{
    (void)body;
    if (d->opened)
        return "something has been launched already";
    const char *console = text_of(arguments, "console"), *wrong = set_environment(d, arguments);
    if (console && strcmp(console, "internalConsole") != 0)
        return arena_printf(&d->arena,
                            "launch: the console `%s` is not supported: the program's output is sent as output events, "
                            "and `stdin` names a file for its input",
                            console);
    struct line l = command_line(d, arguments, &d->launched.arena);
    wrong = wrong ? wrong : l.wrong ? l.wrong : open_front(d, &l);
    const char *input = text_of(arguments, "stdin");
    if (!wrong && input && (!d->f.is_program || access(input, R_OK)))
        wrong = d->f.is_program ? arena_printf(&d->arena, "launch: cannot read `stdin`, %s: %s", input, strerror(errno))
                                : "launch: a kernel of a PTX file reads no standard input: leave out `stdin`";
    if (wrong)
        return wrong;
    d->f.input_of_it = input ? arena_strdup(&d->launched.arena, input) : NULL;
    d->opened = true;
    d->stops_at_entry = json_is_true(json_object_get(arguments, "stopOnEntry"));
    d->only_runs = json_is_true(json_object_get(arguments, "noDebug"));
    d->then = tell_initialized;
    if (d->f.is_program)
        return NULL;
    d->says = (struct text){.arena = &d->arena};
    d->opened = false; /* what ends before it has begun reports no end */
    wrong = start(d);
    while (!wrong && d->f.state != FRONT_READY && d->f.state != FRONT_GONE && !d->gone)
        dap_wait(d);
    wrong = wrong ? wrong : d->f.state == FRONT_GONE ? (d->says.p ? d->says.p : "the kernel cannot be launched") : NULL;
    d->says = (struct text){0};
    d->opened = true;
    return wrong;
}

const char *dap_attach(struct dap *d, const json_t *arguments, json_t *body)
{
    (void)d;
    (void)arguments;
    (void)body;
    return "attach: Heddle cannot attach to a running program: use `launch`; gdb -p attaches to its host code";
}

const char *dap_configuration_done(struct dap *d, const json_t *arguments, json_t *body)
{
    (void)arguments;
    (void)body;
    if (!d->opened)
        return "nothing has been launched";
    d->configured = true;
    if (d->f.state == FRONT_READY)
        dap_begin(d);
    else if (d->f.is_program && d->f.state == FRONT_IDLE) {
        const char *wrong = start(d);
        dap_await(&d->f);
        return wrong;
    }
    return NULL;
}

/* ---- leaving ---- */

const char *dap_terminate(struct dap *d, const json_t *arguments, json_t *body)
{
    (void)arguments;
    (void)body;
    if (d->f.pid > 0)
        kill(d->f.pid, SIGTERM);
    return NULL;
}

static void leave(struct dap *d)
{
    d->lets_go = d->f.pid > 0;
    d->out = -1;
    while (d->f.pid > 0)
        dap_wait(d);
}

const char *dap_disconnect(struct dap *d, const json_t *arguments, json_t *body)
{
    (void)body;
    d->ends = true;
    if (!json_is_false(json_object_get(arguments, "terminateDebuggee")) || d->f.pid <= 0)
        return NULL;
    if (d->f.state != FRONT_RUNS && d->f.link >= 0)
        json_decref(front_request(&d->f, json_pack("{s:s}", "do", "detach")));
    if (d->f.link >= 0)
        unlink_program(d);
    d->then = leave;
    return NULL;
}
