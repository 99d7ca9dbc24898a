/* What the debugger's front end keeps from one run to the next; see debug_front.h. */
#include "cli/debug_front.h"

void front_name_value(struct front *f, const char *name, const char *type, const char *value)
{
    json_object_set_new(f->variables, name, json_pack("{s:s, s:s}", "type", type ? type : "", "value", value));
}

void front_note_point(struct front *f, long long id)
{
    f->last_point = id;
    f->next_point = id > f->next_point ? id : f->next_point;
    front_name_value(f, "bpnum", "int", arena_printf(&f->arena, "%lld", id));
}

json_t *front_point(const struct front *f, long long id)
{
    for (size_t i = 0; i < json_array_size(f->points); i++)
        if (number_of(json_array_get(f->points, i), "id") == id)
            return json_array_get(f->points, i);
    return NULL;
}

void front_forget_point(struct front *f, long long id)
{
    for (size_t i = json_array_size(f->points); i-- > 0;)
        if (!id || number_of(json_array_get(f->points, i), "id") == id)
            json_array_remove(f->points, i);
}

void front_forget_reached(struct front *f, const json_t *ids)
{
    size_t i;
    const json_t *id;
    json_array_foreach(ids, i, id)
    {
        long long number = json_integer_value(id);
        if (json_is_true(json_object_get(front_point(f, number), "temporary")))
            front_forget_point(f, number);
    }
}
