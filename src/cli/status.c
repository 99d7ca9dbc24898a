/* See status.h. The program's own output to the same terminal starts at the line's beginning, and
 * overwrites it. */
#include "cli/status.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/demangle.h"
#include "base/monotonic.h"
#include "base/printable.h"
#include "base/text.h"

static const double FIRST_SECONDS = 2, TERMINAL_SECONDS = 0.25, LOG_SECONDS = 60, TIMES_THE_COST = 20;

bool status_is_due(struct status *s)
{
    double now = seconds_now();
    if (!s->started) {
        s->started = now;
        s->due = now + (isatty(STDERR_FILENO) ? FIRST_SECONDS : LOG_SECONDS);
    }
    return now >= s->due;
}

static const char *duration(double seconds, struct arena *arena)
{
    if (seconds < 100)
        return arena_printf(arena, "%.0f s", seconds);
    return seconds < 6000 ? arena_printf(arena, "%.0f min", seconds / 60)
                          : arena_printf(arena, "%.1f h", seconds / 3600);
}

/* Estimates the time left for a launch that has run long enough to show its speed, if its blocks
   take about equal times. */
static void put_left(struct text *t, struct status *s, const struct status_now *now)
{
    double since = seconds_now() - s->launch_started;
    if (now->done && since > 1)
        text_printf(t, ", about %s left",
                    duration(since * (double)(now->blocks - now->done) / (double)now->done, t->arena));
}

static void put_launch(struct text *t, struct status *s, const struct status_now *now)
{
    bool same = now->kernel && s->blocks == now->blocks && strncmp(s->kernel, now->kernel, sizeof s->kernel - 1) == 0;
    if (!same) {
        s->launch_started = seconds_now();
        s->blocks = now->blocks;
        snprintf(s->kernel, sizeof s->kernel, "%s", now->kernel ? now->kernel : "");
    }
    if (!now->kernel)
        return;
    text_printf(t, "`%s`", printable_excerpt(t->arena, str_of(demangle(str_of(now->kernel), t->arena)), false));
    if (now->blocks)
        text_printf(t, " %s of %s blocks (%.0f%%)", count_text(now->done, t->arena), count_text(now->blocks, t->arena),
                    100 * (double)now->done / (double)now->blocks);
    if (now->blocks && same)
        put_left(t, s, now);
    text_puts(t, "; ");
}

static size_t columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

void status_show(struct status *s, const struct status_now *now, double cost, struct arena *arena)
{
    bool terminal = isatty(STDERR_FILENO);
    double at = seconds_now(), pause = terminal ? TERMINAL_SECONDS : LOG_SECONDS;
    struct text t = {.arena = arena};
    text_printf(&t, "heddle: %s: ", s->command);
    put_launch(&t, s, now);
    text_printf(&t, "%s launch%s done%s%s after %s%s", count_text(now->launches, arena), now->launches == 1 ? "" : "es",
                *now->found ? ", " : "", now->found, duration(at - s->started, arena), now->run);
    if (terminal)
        fprintf(stderr, "\r%.*s\033[K\r", (int)columns() - 1, t.p);
    else
        fprintf(stderr, "%s\n", t.p);
    fflush(stderr);
    s->shown = terminal;
    s->due = at + (TIMES_THE_COST * cost > pause ? TIMES_THE_COST * cost : pause);
}

void status_end(struct status *s)
{
    if (s->shown)
        fputs("\r\033[K", stderr);
    s->shown = false;
}
