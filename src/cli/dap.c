/* Sessions of the debug adapter: their clients, requests and options; see dap.h. */
#include "cli/dap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- requests ---- */

static const struct {
    const char *name;
    dap_request_fn *serve;
    bool stands;
} requests[] = {
#define DAP_REQUEST(name, function, stands) {name, dap_##function, stands},
#include "cli/dap_requests.def"
#undef DAP_REQUEST
};

static const char *does_not_stand(const struct dap *d)
{
    enum front_state s = d->f.state;
    return s == FRONT_STANDS || s == FRONT_ENDED ? NULL
           : s == FRONT_GONE                     ? "the program has ended"
           : s == FRONT_RUNS                     ? "the program is running: `pause` stops it in a kernel"
                                                 : "nothing runs yet";
}

static const char *serve(struct dap *d, const char *command, const json_t *arguments, json_t *body)
{
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
        if (strcmp(requests[i].name, command) == 0) {
            const char *wrong = requests[i].stands ? does_not_stand(d) : NULL;
            return wrong ? wrong : requests[i].serve(d, arguments, body);
        }
    return arena_printf(&d->arena, "heddle debug does not support the request `%s`", command);
}

static const char *serve_guarded(struct dap *d, const char *command, const json_t *message, json_t *body)
{
    jmp_buf no_memory;
    d->arena.on_oom = &no_memory;
    if (setjmp(no_memory))
        return "out of memory";
    return json_is_true(json_object_get(message, "cancelled"))
               ? "cancelled"
               : serve(d, command, json_object_get(message, "arguments"), body);
}

static void answer(struct dap *d, const json_t *message)
{
    const char *command = text_of(message, "command"), *type = text_of(message, "type");
    const json_t *seq = json_object_get(message, "seq");
    if (!command || !type || strcmp(type, "request") != 0 || !json_is_integer(seq)) {
        dap_say(d, "console", "A message that is not a request of the Debug Adapter Protocol was ignored.\n");
        return;
    }
    json_t *body = json_object();
    const char *wrong = serve_guarded(d, command, message, body);
    json_t *response = json_pack("{s:s, s:O, s:s, s:b}", "type", "response", "request_seq", seq, "command", command,
                                 "success", !wrong);
    if (wrong) {
        json_t *text = json_text(wrong, strlen(wrong));
        json_object_set(response, "message", text);
        json_object_set_new(response, "body",
                            json_pack("{s:{s:i, s:o, s:b}}", "error", "id", 1, "format",
                                      json_text(wrong, strlen(wrong)), "showUser", 1));
        json_decref(text);
    } else if (json_object_size(body)) {
        json_object_set(response, "body", body);
    }
    json_decref(body);
    dap_send(d, response);
    if (d->then && !wrong)
        d->then(d);
    d->then = NULL;
    d->arena.on_oom = NULL;
    arena_free(&d->arena);
}

const char *dap_cancel(struct dap *d, const json_t *arguments, json_t *body)
{
    /* `cancel` itself does nothing: dap_receive() has marked the waiting request, and other
       requests are answered at once */
    (void)d;
    (void)arguments;
    (void)body;
    return NULL;
}

/* ---- sessions ---- */

static int serve_editor(struct session *s, int in, int out)
{
    struct dap d = {.s = s, .in = in, .out = out, .queue = json_array(), .output = {-1, -1}};
    d.f = (struct front){.link = -1, .output = {-1, -1}};
    d.filters = json_pack("[s,s,s,s]", "fault", "assert", "deadlock", "finding");
    signal(SIGPIPE, SIG_IGN);
    while (!d.ends && !d.gone && !d.wrong) {
        while (json_array_size(d.queue) && !d.ends) {
            json_t *message = json_incref(json_array_get(d.queue, 0));
            json_array_remove(d.queue, 0);
            answer(&d, message);
            json_decref(message);
        }
        if (!d.ends)
            dap_wait(&d);
    }
    if (d.wrong)
        fprintf(stderr, "heddle: %s\n", d.wrong);
    d.out = -1;
    dap_close(&d);
    json_decref(d.queue);
    json_decref(d.filters);
    free(d.received.at);
    return d.wrong ? 1 : 0;
}

/* Accepts connections, and serves each in a process of its own. */
static int listen_for_editors(struct session *s, uint64_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t n = sizeof at;
    int on = 1, fd = port < 65536 ? socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (port >= 65536)
        return usage_error(s, "--dap-port: ports are 0 to 65535");
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) || bind(fd, (void *)&at, sizeof at) ||
        listen(fd, 8) || getsockname(fd, (void *)&at, &n))
        return cli_failure(s, "cannot listen at port %llu of 127.0.0.1: %s", (unsigned long long)port, strerror(errno));
    printf("heddle: editors are served at port %u of 127.0.0.1\n", ntohs(at.sin_port));
    fflush(stdout);
    signal(SIGCHLD, SIG_IGN); /* children are not waited for */
    for (;;) {
        int editor = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
        pid_t pid = editor >= 0 ? fork() : -1;
        if (pid == 0) {
            signal(SIGCHLD, SIG_DFL);
            close(fd);
            _exit(serve_editor(s, editor, editor));
        }
        if (editor >= 0)
            close(editor);
        else if (errno != EINTR && errno != ECONNABORTED)
            return cli_failure(s, "cannot serve editors: %s", strerror(errno));
    }
}

int dap_serve(struct session *s)
{
    if (s->o.dap_port.given)
        return listen_for_editors(s, s->o.dap_port.value);
    /* other output to stdout must not enter the protocol's stream */
    int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return cli_failure(s, "cannot serve an editor: %s", strerror(errno));
    return serve_editor(s, STDIN_FILENO, out);
}
