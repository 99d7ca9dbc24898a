/* Packs the JSON of `heddle explain` for its page; explain/page/base.js unpacks it.
 *
 * The result is [texts, shapes, value]. A text becomes its index in `texts`, written in base 36, as
 * a string. An array becomes [0, elements ...]. An object becomes [1 + the index of its names in
 * `shapes`, values ...]. An array with more than MOST_SMALL elements that occurred before becomes
 * [-1, its number among such arrays, in the order in which they end].
 */
#include "cli/explanation.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/text.h"

enum { MOST_SMALL = 3 };

/* Numbers texts from 0; also numbers values, by their text. */
struct numbers {
    struct map map; /* from 1, as pointers */
    uint32_t n;
};

struct packer {
    struct arena *arena;
    struct numbers texts, shapes, arrays;
    json_t *all_texts, *all_shapes;
};

/* *is_new: the text had no number yet. */
static uint32_t number_of(struct numbers *of, struct str text, struct arena *arena, bool *is_new)
{
    uintptr_t known = (uintptr_t)map_get(&of->map, text);
    *is_new = !known;
    if (known)
        return (uint32_t)known - 1;
    map_put(&of->map, (struct str){arena_strndup(arena, text.p, text.n), text.n}, (void *)(uintptr_t)++of->n);
    return of->n - 1;
}

static json_t *packed_text(struct packer *p, const json_t *text)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    char out[8], *at = out + sizeof out;
    bool is_new;
    uint32_t n =
        number_of(&p->texts, (struct str){json_string_value(text), json_string_length(text)}, p->arena, &is_new);
    if (is_new)
        json_array_append(p->all_texts, (json_t *)text);
    do
        *--at = digits[n % 36];
    while (n /= 36);
    return json_stringn(at, (size_t)(out + sizeof out - at));
}

static uint32_t shape_of(struct packer *p, const json_t *object)
{
    struct text names = {.arena = p->arena};
    const char *name;
    json_t *value;
    bool is_new;
    text_puts(&names, "");
    json_object_foreach((json_t *)object, name, value) text_printf(&names, "%s\n", name);
    uint32_t n = number_of(&p->shapes, (struct str){names.p, names.n}, p->arena, &is_new);
    json_t *list = is_new ? json_array() : NULL;
    json_object_foreach(is_new ? (json_t *)object : NULL, name, value) json_array_append_new(list, json_string(name));
    if (is_new)
        json_array_append_new(p->all_shapes, list);
    return n;
}

static json_t *packed(struct packer *p, const json_t *value);

static json_t *packed_parts(struct packer *p, const json_t *value)
{
    json_t *parts = json_array(), *one;
    const char *name;
    size_t i;
    json_array_append_new(parts, json_integer(json_is_object(value) ? 1 + (json_int_t)shape_of(p, value) : 0));
    json_object_foreach((json_t *)value, name, one) json_array_append_new(parts, packed(p, one));
    json_array_foreach(value, i, one) json_array_append_new(parts, packed(p, one));
    return parts;
}

static json_t *packed(struct packer *p, const json_t *value)
{
    if (json_is_string(value))
        return packed_text(p, value);
    if (!json_is_object(value) && !json_is_array(value))
        return json_incref((json_t *)value);
    json_t *parts = packed_parts(p, value);
    char *text = json_array_size(parts) > MOST_SMALL ? json_dumps(parts, EXPLANATION_FORMAT) : NULL;
    bool is_new = true;
    uint32_t n = text ? number_of(&p->arrays, str_of(text), p->arena, &is_new) : 0;
    free(text);
    if (is_new)
        return parts;
    json_decref(parts);
    return json_pack("[i, I]", -1, (json_int_t)n);
}

json_t *explanation_for_page(const json_t *json, struct arena *arena)
{
    struct packer p = {.arena = arena, .all_texts = json_array(), .all_shapes = json_array()};
    map_init(&p.texts.map, arena);
    map_init(&p.shapes.map, arena);
    map_init(&p.arrays.map, arena);
    json_t *value = packed(&p, json);
    return json_pack("[o, o, o]", p.all_texts, p.all_shapes, value);
}
