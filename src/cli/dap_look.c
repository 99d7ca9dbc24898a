/* Asks the debugger about the threads and frames that an editor names by numbers; see dap.h. */
#include "cli/dap.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- asking ---- */

json_t *dap_ask(struct dap *d, json_t *request, const char **wrong)
{
    json_t *answer = front_request(&d->f, request);
    const char *error = text_of(answer, "error");
    *wrong = error ? arena_strdup(&d->arena, error) : !answer ? "the program has ended" : NULL;
    if (*wrong) {
        json_decref(answer);
        return NULL;
    }
    return answer;
}

void dap_forget_stop(struct dap *d)
{
    memset(&d->frames, 0, sizeof d->frames);
    memset(&d->unfolds, 0, sizeof d->unfolds);
    arena_free(&d->at_stop);
    d->focus_is_known = false;
}

void dap_await(struct front *f)
{
    struct dap *d = f->data_of_await;
    f->state = FRONT_RUNS;
    dap_forget_stop(d);
}

const char *dap_go(struct dap *d, json_t *request)
{
    const char *wrong;
    json_t *answer = dap_ask(d, request, &wrong);
    if (answer)
        dap_await(&d->f);
    json_decref(answer);
    return wrong;
}

/* ---- threads by number ---- */

static int64_t at(const json_t *list, size_t i)
{
    return json_integer_value(json_array_get(list, i));
}

int64_t dap_place_in(const json_t *c, const int64_t dims[3])
{
    return at(c, 0) + dims[0] * (at(c, 1) + dims[1] * at(c, 2));
}

int64_t dap_threads_of_block(const struct dap *d)
{
    return d->block[0] * d->block[1] * d->block[2];
}

int64_t dap_thread_of(const struct dap *d, const json_t *focus)
{
    const json_t *block = json_object_get(focus, "block"), *thread = json_object_get(focus, "thread");
    return block
               ? FIRST_THREAD + dap_place_in(block, d->grid) * dap_threads_of_block(d) + dap_place_in(thread, d->block)
               : HOST_THREAD;
}

static void coordinates(int64_t n, const int64_t dims[3], int64_t to[3])
{
    to[0] = n % dims[0];
    to[1] = n / dims[0] % dims[1];
    to[2] = n / dims[0] / dims[1];
}

/* Returns false if there is no such thread. */
bool dap_thread_at(const struct dap *d, int64_t id, int64_t block[3], int64_t thread[3])
{
    int64_t n = id - FIRST_THREAD, per_block = dap_threads_of_block(d);
    if (n < 0 || per_block <= 0 || n / per_block >= d->grid[0] * d->grid[1] * d->grid[2])
        return false;
    coordinates(n / per_block, d->grid, block);
    coordinates(n % per_block, d->block, thread);
    return true;
}

static json_t *coordinates_json(const int64_t c[3])
{
    return json_pack("[I,I,I]", (json_int_t)c[0], (json_int_t)c[1], (json_int_t)c[2]);
}

const char *dap_take_place(struct dap *d, json_t *request)
{
    const char *wrong;
    json_t *place = dap_ask(d, request, &wrong);
    if (!place)
        return wrong;
    json_object_update(d->f.place, place);
    if (!json_object_get(place, "frame"))
        json_object_del(d->f.place, "frame");
    d->focus = (struct dap_frame){dap_thread_of(d, json_object_get(place, "focus")), number_of(place, "level")};
    d->focus_is_known = true;
    json_decref(place);
    return NULL;
}

const char *dap_look(struct dap *d, struct dap_frame f)
{
    int64_t block[3], thread[3];
    const char *wrong = NULL;
    if (d->f.state != FRONT_STANDS)
        return "no thread is stopped";
    if (!dap_thread_at(d, f.thread, block, thread))
        return arena_printf(&d->arena, "there is no thread %lld", (long long)f.thread);
    if (!d->focus_is_known || d->focus.thread != f.thread)
        wrong = dap_take_place(d, json_pack("{s:s, s:o, s:o}", "do", "focus", "block", coordinates_json(block),
                                            "thread", coordinates_json(thread)));
    if (!wrong && d->focus.level != f.level)
        wrong = dap_take_place(d, json_pack("{s:s, s:I}", "do", "frame", "frame", (json_int_t)f.level));
    return wrong;
}

/* Selects a thread, and leaves its frame as it is. */
const char *dap_look_at_thread(struct dap *d, int64_t thread)
{
    if (d->focus_is_known && d->focus.thread == thread)
        return NULL;
    int64_t block[3], at_thread[3];
    if (d->f.state != FRONT_STANDS)
        return "no thread is stopped";
    if (!dap_thread_at(d, thread, block, at_thread))
        return arena_printf(&d->arena, "there is no thread %lld", (long long)thread);
    return dap_take_place(d, json_pack("{s:s, s:o, s:o}", "do", "focus", "block", coordinates_json(block), "thread",
                                       coordinates_json(at_thread)));
}

const char *dap_look_at_frame(struct dap *d, const json_t *number)
{
    int64_t n = json_integer_value(number);
    if (!number || json_is_null(number))
        return dap_look(d, d->chosen);
    if (n < 1 || n > d->frames.n)
        return "this frame no longer exists: the launch has gone on";
    return dap_look(d, d->frames.at[n - 1]);
}

/* ---- what can be unfolded ---- */

/* Selects the thread that the value belongs to. */
const struct unfold *dap_unfold_at(struct dap *d, int64_t n, const char **wrong)
{
    *wrong = "this value belongs to an earlier stop: the launch has gone on";
    if (n < 1 || n > d->unfolds.n)
        return NULL;
    const struct unfold *u = &d->unfolds.at[n - 1];
    *wrong = dap_look(d, d->frames.at[u->frame]);
    return *wrong ? NULL : u;
}

static bool is_operand(const char *e)
{
    for (; *e; e++)
        if (!isalnum((unsigned char)*e) && !strchr("_$%.[]:", *e))
            return false;
    return true;
}

const char *dap_expression_of(struct dap *d, int64_t n, const char *name, const char **expression)
{
    const char *wrong;
    const struct unfold *u = dap_unfold_at(d, n, &wrong);
    *expression = name;
    if (!u)
        return wrong;
    if (u->kind == UNFOLD_LANES || u->kind == UNFOLD_WARP)
        return "select the lane's own thread first";
    if (u->kind == UNFOLD_PARTS && *name != '*')
        *expression = arena_printf(&d->arena, is_operand(u->expression) ? "%s%s%s" : "(%s)%s%s", u->expression,
                                   *name == '[' ? "" : ".", name);
    return NULL;
}

/* ---- sources ---- */

/* A file that can be read: at its path, or of the same name in the current folder. */
static const char *readable(const char *file, struct arena *arena)
{
    char path[PATH_MAX];
    const char *slash = strrchr(file, '/');
    if (realpath(file, path) && access(path, R_OK) == 0)
        return arena_strdup(arena, path);
    return slash && realpath(slash + 1, path) && access(path, R_OK) == 0 ? arena_strdup(arena, path) : NULL;
}

static json_t *ptx_source(struct dap *d)
{
    char path[PATH_MAX];
    const struct session *s = &d->launched;
    bool one = !d->f.is_program && s->n_words && !(s->n_words > 1 && file_is_ptx(s->words[1]));
    if (one && realpath(s->words[0], path)) {
        const char *slash = strrchr(path, '/');
        return json_pack("{s:o, s:o}", "name", json_text(slash + 1, strlen(slash + 1)), "path",
                         json_text(path, strlen(path)));
    }
    return json_pack("{s:s, s:i}", "name", "kernel.ptx", "sourceReference", PTX_SOURCE);
}

json_t *dap_source(struct dap *d, const json_t *frame, int64_t *line)
{
    const char *file = text_of(frame, "file"), *path = file ? readable(file, &d->arena) : NULL;
    if (!path || !number_of(frame, "line")) {
        *line = number_of(frame, "ptx_line");
        return ptx_source(d);
    }
    *line = number_of(frame, "line");
    const char *slash = strrchr(path, '/');
    return json_pack("{s:o, s:o}", "name", json_text(slash + 1, strlen(slash + 1)), "path",
                     json_text(path, strlen(path)));
}
