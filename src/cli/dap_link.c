/* Reads and writes messages of the Debug Adapter Protocol, and turns printed text into messages;
   see dap.h. */
#include "cli/dap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_MESSAGE = 64 << 20, LONGEST_HEADER = 4096 };

/* ---- out ---- */

static bool write_all(int fd, const char *at, size_t n)
{
    while (n) {
        ssize_t wrote = write(fd, at, n);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        at += wrote;
        n -= (size_t)wrote;
    }
    return true;
}

void dap_send(struct dap *d, json_t *message)
{
    char header[64];
    json_object_set_new(message, "seq", json_integer(++d->seq));
    char *text = json_dumps(message, JSON_COMPACT);
    size_t n = text ? strlen(text) : 0;
    snprintf(header, sizeof header, "Content-Length: %zu\r\n\r\n", n);
    if (d->out >= 0 && !(text && write_all(d->out, header, strlen(header)) && write_all(d->out, text, n)))
        d->gone = true;
    free(text);
    json_decref(message);
}

void dap_event(struct dap *d, const char *name, json_t *body)
{
    json_t *message = json_pack("{s:s, s:s}", "type", "event", "event", name);
    if (body)
        json_object_set_new(message, "body", body);
    dap_send(d, message);
}

void dap_say(struct dap *d, const char *category, const char *text)
{
    dap_event(d, "output", json_pack("{s:s, s:o}", "category", category, "output", json_text(text, strlen(text))));
}

/* ---- in ---- */

/* Takes the next whole message from the received bytes; NULL if there is none yet, or if d->wrong
   says that the input is none. */
static json_t *take_message(struct dap *d)
{
    const char *end = d->received.n ? memmem(d->received.at, d->received.n, "\r\n\r\n", 4) : NULL;
    const char *key = "Content-Length:";
    if (!end) {
        if (d->received.n > LONGEST_HEADER)
            d->wrong = "the input is not a message of the Debug Adapter Protocol: its header does not end";
        return NULL;
    }
    size_t header = (size_t)(end + 4 - d->received.at);
    char *at = strndup(d->received.at, header), *line = at ? strcasestr(at, key) : NULL, *rest = NULL;
    long long n = line ? strtoll(line + strlen(key), &rest, 10) : -1;
    bool is_length = line && rest > line && (*rest == '\r' || *rest == '\n') && n >= 0 && n <= LONGEST_MESSAGE;
    free(at);
    if (!is_length) {
        d->wrong = "the input is not a message of the Debug Adapter Protocol: its header has no Content-Length, or a "
                   "wrong one";
        return NULL;
    }
    if (d->received.n - header < (size_t)n)
        return NULL;
    json_t *message = json_loadb(d->received.at + header, (size_t)n, JSON_ALLOW_NUL, NULL);
    d->received.n -= header + (size_t)n;
    memmove(d->received.at, d->received.at + header + (size_t)n, d->received.n);
    return message ? message : json_null();
}

/* Marks the waiting request that a `cancel` message names. */
static void mark_cancelled(struct dap *d, const json_t *message)
{
    const json_t *id = json_object_get(json_object_get(message, "arguments"), "requestId");
    const char *command = text_of(message, "command");
    size_t i;
    json_t *waits;
    if (!id || !command || strcmp(command, "cancel") != 0)
        return;
    json_array_foreach(d->queue, i, waits) if (json_equal(json_object_get(waits, "seq"), id))
        json_object_set_new(waits, "cancelled", json_true());
}

/* Reads the bytes that have arrived. */
void dap_receive(struct dap *d)
{
    enum { ROOM = 1 << 16 };
    json_t *message;
    char *room = VEC_RESERVE(&d->received, ROOM) ? d->received.at + d->received.n : NULL;
    ssize_t n = room ? read(d->in, room, ROOM) : 0;
    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0) {
        d->gone = true;
        return;
    }
    d->received.n += (size_t)n;
    while (!d->wrong && !d->gone && (message = take_message(d))) {
        mark_cancelled(d, message);
        json_array_append_new(d->queue, message);
    }
}

/* ---- text that the command line's functions print ---- */

FILE *dap_keep_text(FILE **stream, char **text, size_t *n)
{
    FILE *kept = *stream, *to = open_memstream(text, n);
    fflush(kept);
    if (to)
        *stream = to;
    return kept;
}

void dap_end_text(FILE **stream, FILE *kept)
{
    if (*stream != kept)
        fclose(*stream);
    *stream = kept;
}

void dap_run_line(struct dap *d, const char *line, char **text)
{
    size_t n = 0;
    *text = NULL;
    FILE *kept = dap_keep_text(&stdout, text, &n);
    front_run_line(&d->f, line);
    dap_end_text(&stdout, kept);
}

void dap_show_stop(struct dap *d, const json_t *event)
{
    char *text = NULL;
    size_t n = 0;
    FILE *kept = dap_keep_text(&stdout, &text, &n);
    front_show_stop(&d->f, event);
    dap_end_text(&stdout, kept);
    dap_say(d, "console", text ? text : "");
    free(text);
}
