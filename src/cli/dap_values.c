/* Scopes, variables and expressions for an editor; see dap.h. */
#include "cli/dap.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 1000 };

/* ---- numbers of what can be unfolded ---- */

static int64_t number(struct dap *d, enum unfold_kind kind, uint32_t frame, const char *expression)
{
    *VEC_PUSH(&d->at_stop, &d->unfolds) =
        (struct unfold){kind, frame, expression ? arena_strdup(&d->at_stop, expression) : NULL};
    return d->unfolds.n;
}

/* The number of the frame that is selected. */
static uint32_t this_frame(struct dap *d)
{
    for (uint32_t i = 0; i < d->frames.n; i++)
        if (d->frames.at[i].thread == d->focus.thread && d->frames.at[i].level == d->focus.level)
            return i;
    *VEC_PUSH(&d->at_stop, &d->frames) = d->focus;
    return d->frames.n - 1;
}

/* ---- variables ---- */

/* Writes a member of "parts" into `to` as the protocol's variable. */
static void describe(struct dap *d, const json_t *part, const char *key, uint32_t frame, json_t *to)
{
    const char *type = text_of(part, "type"), *expression = text_of(part, "expression");
    int64_t members = number_of(part, "members"), elements = number_of(part, "elements");
    const json_t *address = json_object_get(part, "leads_to");
    address = address ? address : json_object_get(part, "address");
    json_object_set(to, key, json_object_get(part, "value"));
    json_object_set_new(to, "variablesReference",
                        json_integer(members + elements ? number(d, UNFOLD_PARTS, frame, expression) : 0));
    if (type)
        json_object_set_new(to, "type", json_string(type));
    if (members)
        json_object_set_new(to, "namedVariables", json_integer(members));
    if (elements)
        json_object_set_new(to, "indexedVariables", json_integer(elements));
    if (address)
        json_object_set_new(
            to, "memoryReference",
            json_string(arena_printf(&d->arena, "0x%llx", (unsigned long long)json_integer_value(address))));
}

static void add_part(struct dap *d, json_t *list, const json_t *part, uint32_t frame)
{
    json_t *v = json_object();
    json_object_set(v, "name", json_object_get(part, "name"));
    json_object_set(v, "evaluateName", json_object_get(part, "expression"));
    describe(d, part, "value", frame, v);
    json_array_append_new(list, v);
}

/* Adds a value that has only text. */
static void add_text(json_t *list, const char *name, const char *value, const char *type)
{
    json_t *v = json_pack("{s:o, s:o, s:i}", "name", json_text(name, strlen(name)), "value",
                          json_text(value, strlen(value)), "variablesReference", 0);
    if (type)
        json_object_set_new(v, "type", json_string(type));
    json_array_append_new(list, v);
}

static void add_named(struct dap *d, json_t *list, const char *name, uint32_t frame)
{
    const char *wrong;
    json_t *part = dap_ask(d, json_pack("{s:s, s:s}", "do", "parts", "expression", name), &wrong);
    if (part)
        add_part(d, list, part, frame);
    else
        add_text(list, name, arena_printf(&d->arena, "<%s>", wrong), NULL);
    json_decref(part);
}

/* Calls `add` for each name in the answer to a request. If the answer is an error, the list shows
 * it. */
static void add_listed(struct dap *d, json_t *list, const char *request, const char *key, uint32_t frame,
                       void (*add)(struct dap *d, json_t *list, const char *name, uint32_t frame))
{
    const char *wrong;
    size_t i;
    const json_t *one;
    json_t *answer = dap_ask(d, json_pack("{s:s}", "do", request), &wrong);
    json_array_foreach(json_object_get(answer, key), i, one)
    {
        const char *name = json_is_string(one) ? json_string_value(one) : text_of(one, "name");
        if (name)
            add(d, list, name, frame);
    }
    if (!answer)
        add_text(list, "none", wrong, NULL);
    json_decref(answer);
}

static void add_registers(struct dap *d, json_t *list)
{
    const char *wrong;
    size_t i;
    const json_t *v;
    json_t *answer = dap_ask(d, json_pack("{s:s}", "do", "registers"), &wrong);
    json_array_foreach(json_object_get(answer, "variables"), i, v)
        add_text(list, text_of(v, "name"), text_of(v, "value"), text_of(v, "type"));
    json_decref(answer);
}

static void add_warp_variable(struct dap *d, json_t *list, const char *name, uint32_t frame)
{
    json_array_append_new(list,
                          json_pack("{s:s, s:s, s:I, s:i}", "name", name, "value", "in each lane", "variablesReference",
                                    (json_int_t)number(d, UNFOLD_LANES, frame, name), "namedVariables", 32));
}

static void add_lanes(struct dap *d, json_t *list, const char *expression)
{
    const char *wrong;
    size_t i;
    const json_t *v;
    json_t *answer =
        dap_ask(d, json_pack("{s:s, s:s, s:b}", "do", "print", "expression", expression, "lanes", 1), &wrong);
    json_array_foreach(json_object_get(answer, "values"), i, v) if (json_is_string(v))
        add_text(list, arena_printf(&d->arena, "lane %zu", i), json_string_value(v), NULL);
    if (!answer)
        add_text(list, "none", wrong, NULL);
    json_decref(answer);
}

static const char *add_parts(struct dap *d, json_t *list, const struct unfold *u, const json_t *arguments)
{
    const char *wrong;
    size_t i;
    const json_t *part;
    uint32_t frame = u->frame; /* growth of the table moves `u` */
    int64_t from = number_of(arguments, "start"), count = number_of(arguments, "count");
    json_t *answer = dap_ask(d,
                             json_pack("{s:s, s:s, s:I, s:I}", "do", "parts", "expression", u->expression, "from",
                                       (json_int_t)from, "count", (json_int_t)(count > 0 ? count : MOST_PARTS)),
                             &wrong);
    json_array_foreach(json_object_get(answer, "parts"), i, part) add_part(d, list, part, frame);
    if (answer && count <= 0 && from + (int64_t)json_array_size(list) < number_of(answer, "elements"))
        add_text(list, "...",
                 arena_printf(&d->arena, "%lld elements in all: `print e@N` shows others",
                              (long long)number_of(answer, "elements")),
                 NULL);
    json_decref(answer);
    return wrong;
}

const char *dap_variables(struct dap *d, const json_t *arguments, json_t *body)
{
    static const char *const places[] = {"threadIdx", "blockIdx", "blockDim", "gridDim", "$warp", "$lane"};
    const char *wrong;
    const struct unfold *u = dap_unfold_at(d, number_of(arguments, "variablesReference"), &wrong);
    json_t *list = json_array();
    json_object_set_new(body, "variables", list);
    if (!u)
        return wrong;
    uint32_t frame = u->frame;
    switch (u->kind) {
    case UNFOLD_LOCALS: add_listed(d, list, "locals", "variables", frame, add_named); break;
    case UNFOLD_ARGS: add_listed(d, list, "args", "variables", frame, add_named); break;
    case UNFOLD_SHARED: add_listed(d, list, "shared", "names", frame, add_named); break;
    case UNFOLD_PLACES:
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
            add_named(d, list, places[i], frame);
        break;
    case UNFOLD_REGISTERS: add_registers(d, list); break;
    case UNFOLD_WARP:
        add_listed(d, list, "args", "variables", frame, add_warp_variable);
        add_listed(d, list, "locals", "variables", frame, add_warp_variable);
        break;
    case UNFOLD_LANES: add_lanes(d, list, u->expression); break;
    case UNFOLD_PARTS: return add_parts(d, list, u, arguments);
    }
    return NULL;
}

const char *dap_scopes(struct dap *d, const json_t *arguments, json_t *body)
{
    static const struct {
        enum unfold_kind kind;
        const char *name, *hint;
        bool expensive;
    } all[] = {{UNFOLD_LOCALS, "Locals", "locals", false},         {UNFOLD_ARGS, "Arguments", "arguments", false},
               {UNFOLD_SHARED, "Shared memory", NULL, true},       {UNFOLD_PLACES, "Thread and block", NULL, true},
               {UNFOLD_REGISTERS, "Registers", "registers", true}, {UNFOLD_WARP, "Lanes of the warp", NULL, true}};
    json_t *list = json_array();
    const char *wrong = dap_look_at_frame(d, json_object_get(arguments, "frameId"));
    json_object_set_new(body, "scopes", list);
    for (size_t i = 0; !wrong && i < sizeof all / sizeof all[0]; i++) {
        json_t *s = json_pack("{s:s, s:I, s:b}", "name", all[i].name, "variablesReference",
                              (json_int_t)number(d, all[i].kind, this_frame(d), NULL), "expensive", all[i].expensive);
        if (all[i].hint)
            json_object_set_new(s, "presentationHint", json_string(all[i].hint));
        json_array_append_new(list, s);
    }
    return wrong;
}

/* ---- expressions ---- */

static const char *evaluate(struct dap *d, const char *expression, json_t *body)
{
    const char *wrong;
    json_t *part = dap_ask(d, json_pack("{s:s, s:s}", "do", "parts", "expression", expression), &wrong);
    if (part)
        describe(d, part, "result", this_frame(d), body);
    json_decref(part);
    return wrong;
}

/* Does the line name a command in full? An abbreviation counts as a command only if it is no
 * expression: with a variable `n`, `n` is the variable. */
static bool is_command(struct dap *d, const char *line)
{
    size_t n = strcspn(line, " \t/");
    const char *wrong;
    const struct debug_command *c = debug_command_find(line, n, &d->arena, &wrong);
    return c && strlen(c->name) == n;
}

static const char *run_command(struct dap *d, const char *line, json_t *body)
{
    char *text;
    int64_t thread = d->focus.thread;
    dap_run_line(d, line, &text);
    if (d->f.quits && d->f.pid > 0)
        front_end(&d->f);
    size_t n = text ? strlen(text) : 0;
    n -= n && text[n - 1] == '\n';
    json_object_set_new(body, "result", json_text(text ? text : "", n));
    json_object_set_new(body, "variablesReference", json_integer(0));
    free(text);
    if (d->f.state != FRONT_STANDS)
        return NULL;
    dap_compare_points(d);
    d->focus =
        (struct dap_frame){dap_thread_of(d, json_object_get(d->f.place, "focus")), number_of(d->f.place, "level")};
    if (d->focus.thread != thread)
        d->then = dap_tell_focus;
    return NULL;
}

const char *dap_evaluate(struct dap *d, const json_t *arguments, json_t *body)
{
    const char *expression = text_of(arguments, "expression"), *context = text_of(arguments, "context");
    bool repl = context && strcmp(context, "repl") == 0, stands = d->f.state == FRONT_STANDS;
    const char *wrong = stands ? dap_look_at_frame(d, json_object_get(arguments, "frameId")) : NULL;
    if (!expression)
        return "evaluate: an expression is missing";
    expression += strspn(expression, " \t\n");
    if (wrong && !repl)
        return wrong;
    if (repl && is_command(d, expression))
        return run_command(d, expression, body);
    wrong = stands ? evaluate(d, expression, body) : "no thread is stopped";
    const char *unknown;
    if (wrong && repl && debug_command_find(expression, strcspn(expression, " \t/"), &d->arena, &unknown))
        return run_command(d, expression, body);
    return wrong;
}

static const char *assign(struct dap *d, const char *to, const char *value, json_t *body)
{
    const char *wrong;
    json_decref(dap_ask(d, json_pack("{s:s, s:s, s:s}", "do", "set", "to", to, "value", value ? value : ""), &wrong));
    json_t *part = wrong ? NULL : dap_ask(d, json_pack("{s:s, s:s}", "do", "parts", "expression", to), &wrong);
    if (part)
        describe(d, part, "value", this_frame(d), body);
    json_decref(part);
    return wrong;
}

const char *dap_set_variable(struct dap *d, const json_t *arguments, json_t *body)
{
    const char *name = text_of(arguments, "name"), *expression;
    const char *wrong = dap_expression_of(d, number_of(arguments, "variablesReference"), name ? name : "", &expression);
    return wrong ? wrong : assign(d, expression, text_of(arguments, "value"), body);
}

const char *dap_set_expression(struct dap *d, const json_t *arguments, json_t *body)
{
    const char *expression = text_of(arguments, "expression");
    const char *wrong = dap_look_at_frame(d, json_object_get(arguments, "frameId"));
    return wrong ? wrong : assign(d, expression ? expression : "", text_of(arguments, "value"), body);
}

/* Completes the names of commands. */
const char *dap_completions(struct dap *d, const json_t *arguments, json_t *body)
{
    const char *text = text_of(arguments, "text");
    int64_t column = front_small(number_of(arguments, "column")) - 1;
    json_t *targets = json_array();
    size_t n = text ? strlen(text) : 0;
    (void)d;
    n = column >= 0 && (size_t)column < n ? (size_t)column : n;
    for (const struct debug_command *c = debug_commands; c->name; c++)
        if (text && n && strncmp(c->name, text, n) == 0)
            json_array_append_new(targets, json_pack("{s:s, s:s}", "label", c->name, "detail", c->help));
    json_object_set_new(body, "targets", targets);
    return NULL;
}
