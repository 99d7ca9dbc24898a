/* See check_settings.h. */
#include "cli/check_settings.h"

#include <regex.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/process_files.h"
#include "exec/schedule.h"

static const uint64_t DEFAULT_PRINT_LIMIT = 100, MOST_RUNS = 10000;

/* Returns a word's index in a list that ends with NULL, or -1. */
static int place_of(struct str word, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (str_is(word, words[i]))
            return i;
    return -1;
}

/* ---- tools ---- */

/* bits of enum hd_tool */
static const char *const tools[] = {"memcheck", "racecheck", "initcheck", "synccheck", NULL};

static const char *read_tools(const char *text, unsigned *set, struct arena *arena)
{
    for (const char *p = text; *p;) {
        struct str word = {p, strcspn(p, ",")};
        int bit = place_of(word, tools);
        if (bit < 0)
            return arena_printf(
                arena,
                "`--tool %s`: there is no tool `%.*s`; the tools are memcheck, racecheck, initcheck and synccheck",
                text, STR_ARG(word));
        *set |= 1u << bit;
        p += word.n + (p[word.n] == ',');
    }
    return NULL;
}

const char *check_tools(const struct options *o, unsigned *set, struct arena *arena)
{
    const char *wrong = NULL;
    *set = 0;
    for (unsigned i = 0; !wrong && i < o->tool.n; i++)
        wrong = read_tools(o->tool.at[i], set, arena);
    return wrong;
}

/* ---- kernels ---- */

static const struct {
    const char *word;
    enum kernel_filter_key key;
} keys[] = {
    {"kernel_name=", FILTER_NAME}, {"kne=", FILTER_NAME},    {"kernel_substring=", FILTER_PART},
    {"kns=", FILTER_PART},         {"regex=", FILTER_REGEX}, {"regex:", FILTER_REGEX},
};

static const char *wrong_regex(const char *value, struct arena *arena)
{
    regex_t regex;
    char why[256];
    int error = regcomp(&regex, value, REG_EXTENDED | REG_NOSUB);
    if (!error) {
        regfree(&regex);
        return NULL;
    }
    regerror(error, &regex, why, sizeof why);
    return arena_printf(arena, "`regex=%s`: %s", value, why);
}

/* Reads one or several KEY=VALUE, separated by commas; a regular expression extends to the end of
   the text. */
static const char *read_filter(const char *text, struct kernel_filters *f, struct arena *arena)
{
    for (const char *p = text; *p;) {
        size_t i = 0;
        while (i < sizeof keys / sizeof keys[0] && strncmp(p, keys[i].word, strlen(keys[i].word)) != 0)
            i++;
        if (i == sizeof keys / sizeof keys[0] && p == text && !strchr(p, '=') && f->n < MAX_FILTERS) {
            f->at[f->n++] = (struct kernel_filter){FILTER_CALLED, text}; /* as ncu takes it */
            return NULL;
        }
        if (i == sizeof keys / sizeof keys[0])
            return arena_printf(
                arena,
                "`%s` is not a filter of kernels; filters are kne=NAME (all of it), kns=PART and regex=EXPRESSION",
                text);
        if (f->n == MAX_FILTERS)
            return arena_printf(arena, "there are more than %d filters of kernels", MAX_FILTERS);
        const char *value = p + strlen(keys[i].word);
        size_t n = keys[i].key == FILTER_REGEX ? strlen(value) : strcspn(value, ",");
        f->at[f->n++] = (struct kernel_filter){keys[i].key, arena_strndup(arena, value, n)};
        const char *wrong = keys[i].key == FILTER_REGEX ? wrong_regex(value, arena) : NULL;
        if (wrong || n == 0)
            return wrong ? wrong : arena_printf(arena, "`%s`: nothing follows `%s`", text, keys[i].word);
        p = value + n + (value[n] == ',');
    }
    return NULL;
}

static const char *read_filters(const struct opt_list *list, struct kernel_filters *f, struct arena *arena)
{
    const char *wrong = NULL;
    for (unsigned i = 0; !wrong && i < list->n; i++)
        wrong = read_filter(list->at[i], f, arena);
    return wrong;
}

const char *launch_filter_settings(const struct options *o, struct launch_filter *f, struct arena *arena)
{
    const char *wrong = read_filters(&o->kernel_name, &f->only, arena);
    wrong = wrong ? wrong : read_filters(&o->kernel_regex, &f->only, arena);
    wrong = wrong ? wrong : read_filters(&o->kernel_name_exclude, &f->except, arena);
    wrong = wrong ? wrong : read_filters(&o->kernel_regex_exclude, &f->except, arena);
    f->skip = o->launch_skip.value;
    f->count = o->launch_count.value;
    return wrong;
}

/* ---- words ---- */

/* Reads one of a few words; `*value` keeps its default if the option is not given. */
static const char *read_word(const char *name, const char *given, const char *const *words, int *value,
                             struct arena *arena)
{
    if (!given)
        return NULL;
    int place = place_of(str_of(given), words);
    if (place >= 0) {
        *value = place;
        return NULL;
    }
    struct text list = {.arena = arena};
    for (int i = 0; words[i]; i++)
        text_printf(&list, "%s%s", i == 0 ? "" : words[i + 1] ? ", " : " or ", words[i]);
    return arena_printf(arena, "`--%s %s`: it is %s", name, given, list.p);
}

const char *target_processes_setting(const struct options *o, bool *application_only, struct arena *arena)
{
    static const char *const which[] = {"all", "application-only", NULL};
    int only = 0;
    const char *wrong = read_word("target-processes", o->target_processes, which, &only, arena);
    *application_only = only;
    return wrong;
}

static const char *read_words(const struct options *o, struct check_settings *c, struct arena *arena)
{
    static const char *const formats[] = {"text", "json", "sarif", "junit", "sanitizer", NULL},
                             *const leaks[] = {"no", "full", NULL}, *const errors[] = {"no",       "unseen",   "all",
                                                                                       "explicit", "extended", NULL},
                             *const ends[] = {"no", "kernel", "context", NULL}, *const listens[] = {"no", "yes", NULL};
    int format = o->json ? CHECK_JSON : CHECK_TEXT, leak_check = 0, api_errors = API_ERRORS_UNSEEN, on_error = 0,
        nvtx = 1;
    const char *wrong = read_word("format", o->check_format ? o->check_format : o->format, formats, &format, arena);
    wrong = wrong ? wrong : read_word("leak-check", o->leak_check, leaks, &leak_check, arena);
    wrong = wrong ? wrong : read_word("report-api-errors", o->report_api_errors, errors, &api_errors, arena);
    wrong = wrong ? wrong : read_word("destroy-on-device-error", o->destroy_on_device_error, ends, &on_error, arena);
    wrong = wrong ? wrong : read_word("nvtx", o->nvtx, listens, &nvtx, arena);
    wrong = wrong ? wrong : target_processes_setting(o, &c->application_only, arena);
    c->format = (enum check_format)format;
    c->nvtx = nvtx;
    c->process.leak_check = leak_check;
    c->process.api_errors = (enum check_api_errors)(api_errors < API_ERRORS_ALL ? api_errors : API_ERRORS_ALL);
    c->process.on_error = (enum hd_on_error)on_error;
    return wrong;
}

/* ---- files ---- */

/* Expands %p (this process), %q{NAME} (an environment variable) and %%
 * as compute-sanitizer does. */
static const char *read_file_name(const char *name, const char *text, const char **file, struct arena *arena)
{
    struct text out = {.arena = arena};
    for (const char *p = text; p && *p; p++) {
        const char *end = strncmp(p, "%q{", 3) == 0 ? strchr(p, '}') : NULL;
        if (*p != '%') {
            text_put(&out, p, 1);
        } else if (p[1] == '%') {
            text_puts(&out, "%");
            p++;
        } else if (p[1] == 'p') {
            text_printf(&out, "%d", (int)getpid());
            p++;
        } else if (end) {
            const char *value = getenv(arena_strndup(arena, p + 3, (size_t)(end - p - 3)));
            text_puts(&out, value ? value : "");
            p = end;
        } else {
            return arena_printf(arena, "`--%s %s`: %% is followed by p, q{NAME} or %%", name, text);
        }
    }
    *file = out.p;
    return text && !out.n ? arena_printf(arena, "`--%s %s` names no file", name, text) : NULL;
}

/* ---- all ---- */

static const char *wrong_policy(const char *policy, struct arena *arena)
{
    hd_machine_options options = {.policy = policy, .workers = 1};
    hd_machine *machine;
    const char *error = NULL;
    if (!policy)
        return NULL;
    if (strcmp(policy, "fair") != 0 && strcmp(policy, "serial") != 0 && strncmp(policy, "random", 6) != 0 &&
        !schedule_replayed_file(policy))
        return arena_printf(arena, "`--policy %s`: a policy is fair, serial, random:SEED, random or replay:FILE",
                            policy);
    hd_result r = hd_machine_create(&options, &machine, &error);
    if (!r)
        hd_machine_destroy(machine);
    return r == HD_ERROR_INVALID_VALUE && error ? arena_printf(arena, "`--policy %s`: %s", policy, error) : NULL;
}

static const char *read_numbers(const struct options *o, struct check_settings *c, struct arena *arena)
{
    c->runs = o->runs ? (unsigned)o->runs : 1;
    c->seed = o->seed.given ? o->seed.value : 1;
    c->print_limit = o->show_limit.given ? o->show_limit.value : DEFAULT_PRINT_LIMIT;
    c->error_exitcode = o->error_exitcode.given ? (int)o->error_exitcode.value : c->format != CHECK_SANITIZER;
    if (o->runs > MOST_RUNS)
        return arena_printf(arena, "`--runs`: at most %d are possible", (int)MOST_RUNS);
    return o->error_exitcode.value > 255 ? "`--error-exitcode`: a status is 0 to 255" : NULL;
}

/* Reads a schedule from `heddle explore PROGRAM`, by which one launch is replayed. */
static const char *read_policy(const char *policy, struct check_options *o, struct arena *arena)
{
    struct schedule_launch of;
    const char *wrong = wrong_policy(policy, arena);
    o->policy = policy;
    const char *file = wrong || !policy ? NULL : schedule_replayed_file(policy);
    if (!file)
        return wrong;
    if (!schedule_read_launch(file, &of) || !of.kernel)
        return arena_printf(arena,
                            "`--policy %s`: the schedule does not name a launch of the program; `heddle explore ./app "
                            "--kernel NAME --schedules FOLDER` writes schedules that do",
                            policy);
    o->policy = arena_printf(arena, "replay-launch:%s", process_path(file, arena));
    o->replayed = of.kernel;
    o->replayed_number = of.number;
    return NULL;
}

const char *check_settings(const struct options *o, struct check_settings *c, struct arena *arena)
{
    *c = (struct check_settings){.process.unused_memory = o->track_unused_memory};
    const char *wrong = check_tools(o, &c->process.tools, arena);
    wrong = wrong ? wrong : launch_filter_settings(o, &c->process.launches, arena);
    wrong = wrong ? wrong : read_words(o, c, arena);
    wrong = wrong ? wrong : read_numbers(o, c, arena);
    if (c->format == CHECK_SANITIZER && !c->process.tools) /* compute-sanitizer's default */
        c->process.tools = HD_TOOL_MEMCHECK;
    wrong = wrong ? wrong : read_file_name("log-file", o->log_file, &c->log_file, arena);
    c->save.n = o->save.n;
    for (size_t i = 0; i < o->save.n; i++)
        wrong = wrong ? wrong : read_file_name("save", o->save.at[i], &c->save.at[i], arena);
    wrong = wrong ? wrong : read_policy(o->check_policy, &c->process, arena);
    c->process.events = o->record_events ? process_path(o->record_events, arena) : NULL;
    c->process.shadow_bytes = o->shadow_memory;
    return wrong;
}

int option_words(const char *word, const char *const names[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(word, names[i], length) == 0 && (word[length] == 0 || word[length] == '='))
            return word[length] ? 1 : 2;
    }
    return 0;
}
