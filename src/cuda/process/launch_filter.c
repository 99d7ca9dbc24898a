/* See launch_filter.h. */
#include "cuda/process/launch_filter.h"

#include <string.h>

#include "api/kernel_name.h"
#include "base/demangle.h"

/* ---- as JSON ---- */

static json_t *filters_json(const struct kernel_filters *f)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < f->n; i++)
        if (json_array_append_new(list, json_pack("[i, s]", (int)f->at[i].key, f->at[i].value))) {
            json_decref(list);
            return NULL;
        }
    return list;
}

json_t *launch_filter_json(const struct launch_filter *f)
{
    return json_pack("{s:o, s:o, s:I, s:I}", "only", filters_json(&f->only), "except", filters_json(&f->except), "skip",
                     (json_int_t)f->skip, "count", (json_int_t)f->count);
}

static bool read_filters(json_t *list, struct kernel_filters *f)
{
    f->n = (unsigned)json_array_size(list);
    if (f->n > MAX_FILTERS)
        return false;
    for (unsigned i = 0; i < f->n; i++) {
        int key;
        if (json_unpack(json_array_get(list, i), "[i, s]", &key, &f->at[i].value) || key < 0 || key > FILTER_CALLED)
            return false;
        f->at[i].key = (enum kernel_filter_key)key;
    }
    return true;
}

bool launch_filter_read(const json_t *json, struct launch_filter *f)
{
    json_t *only, *except;
    json_int_t skip, count;
    if (json_unpack((json_t *)json, "{s:o, s:o, s:I, s:I}", "only", &only, "except", &except, "skip", &skip, "count",
                    &count))
        return false;
    f->skip = (uint64_t)skip;
    f->count = (uint64_t)count;
    return read_filters(only, &f->only) && read_filters(except, &f->except);
}

/* ---- in use ---- */

static bool compile(const struct kernel_filters *f, regex_t *regexes)
{
    bool ok = true;
    for (unsigned i = 0; i < f->n; i++)
        if (f->at[i].key == FILTER_REGEX)
            ok &= regcomp(&regexes[i], f->at[i].value, REG_EXTENDED | REG_NOSUB) == 0;
    return ok;
}

bool launch_choice_start(struct launch_choice *c, const struct launch_filter *f)
{
    c->filter = f;
    return compile(&f->only, c->only) && compile(&f->except, c->except);
}

static bool fits(const struct kernel_filter *f, const regex_t *regex, const char *name)
{
    switch (f->key) {
    case FILTER_NAME: return strcmp(name, f->value) == 0;
    case FILTER_PART: return strstr(name, f->value) != NULL;
    case FILTER_REGEX: return regexec(regex, name, 0, NULL, 0) == 0;
    case FILTER_CALLED: return false; /* needs both names of the kernel */
    }
    return false;
}

static bool any_fits(const struct kernel_filters *f, const regex_t *regexes, const char *mangled, const char *readable)
{
    for (unsigned i = 0; i < f->n; i++)
        if (fits(&f->at[i], &regexes[i], mangled) || fits(&f->at[i], &regexes[i], readable) ||
            (f->at[i].key == FILTER_CALLED && kernel_is_called(mangled, readable, f->at[i].value)))
            return true;
    return false;
}

static bool names_take(const struct launch_choice *c, const char *kernel)
{
    const struct launch_filter *f = c->filter;
    struct arena scratch = {0};
    const char *readable = f->only.n || f->except.n ? demangle(str_of(kernel), &scratch) : kernel;
    readable = readable ? readable : kernel;
    bool take = (!f->only.n || any_fits(&f->only, c->only, kernel, readable)) &&
                !any_fits(&f->except, c->except, kernel, readable);
    arena_free(&scratch);
    return take;
}

bool launch_choice_takes(struct launch_choice *c, const char *kernel)
{
    if (!names_take(c, kernel))
        return false;
    uint64_t place = c->matching++;
    return place >= c->filter->skip && (!c->filter->count || place - c->filter->skip < c->filter->count);
}
