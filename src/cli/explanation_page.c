/* What the page of `heddle explain` has of the JSON: what it does not show is left out, and what
 * stands in many launches and instructions is there once. explain/page/base.js puts it together
 * again. */
#include "cli/explanation.h"

#include <stdlib.h>

#include "base/map.h"

/* Texts, or values as texts, by their numbers. */
struct interned {
    struct arena *arena;
    struct map numbers; /* from 1, as pointers */
    json_t *list;
};

static json_t *number_of(struct interned *t, const char *text, json_t *value)
{
    struct str key = str_of(arena_strdup(t->arena, text));
    uintptr_t n = (uintptr_t)map_get(&t->numbers, key);
    if (!n) {
        json_array_append(t->list, value);
        n = json_array_size(t->list);
        map_put(&t->numbers, key, (void *)n);
    }
    return json_integer((json_int_t)n - 1);
}

static json_t *small_launch(struct interned *plots, json_t *launch)
{
    json_t *copy = json_copy(launch), *occupancy = json_copy(json_object_get(launch, "occupancy"));
    json_t *plot = json_object_get(occupancy, "plot");
    char *text = plot ? json_dumps(plot, JSON_COMPACT) : NULL;
    json_object_del(copy, "metrics");
    if (text)
        json_object_set_new(occupancy, "plot", number_of(plots, text, plot));
    if (occupancy)
        json_object_set_new(copy, "occupancy", occupancy);
    free(text);
    return copy;
}

static json_t *small_places(struct interned *strings, const json_t *list)
{
    static const char *const keys[] = {"file", "inlined_file", "module"};
    json_t *small = json_array(), *one;
    size_t i;
    json_array_foreach(list, i, one)
    {
        json_t *copy = json_copy(one);
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            json_t *text = json_object_get(one, keys[k]);
            if (json_is_string(text))
                json_object_set_new(copy, keys[k], number_of(strings, json_string_value(text), text));
        }
        json_array_append_new(small, copy);
    }
    return small;
}

static json_t *small_kernel(struct interned *strings, json_t *kernel)
{
    static const char *const lists[] = {"lines", "instructions"};
    json_t *copy = json_copy(kernel);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (json_object_get(kernel, lists[i]))
            json_object_set_new(copy, lists[i], small_places(strings, json_object_get(kernel, lists[i])));
    return copy;
}

json_t *explanation_for_page(const json_t *json, struct arena *arena)
{
    struct interned plots = {.arena = arena, .list = json_array()}, strings = {.arena = arena, .list = json_array()};
    json_t *page = json_copy((json_t *)json), *launches = json_array(), *kernels = json_array(), *one;
    size_t i;
    map_init(&plots.numbers, arena);
    map_init(&strings.numbers, arena);
    json_array_foreach(json_object_get(json, "launches"), i, one)
        json_array_append_new(launches, json_is_object(one) ? small_launch(&plots, one) : json_incref(one));
    json_array_foreach(json_object_get(json, "kernels"), i, one)
        json_array_append_new(kernels, small_kernel(&strings, one));
    if (json_object_get(json, "launches"))
        json_object_set(page, "launches", launches);
    if (json_object_get(json, "kernels"))
        json_object_set(page, "kernels", kernels);
    json_object_set(page, "plots", plots.list);
    json_object_set(page, "strings", strings.list);
    json_decref(launches);
    json_decref(kernels);
    json_decref(plots.list);
    json_decref(strings.list);
    return page;
}
