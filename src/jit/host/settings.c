/* See settings.h. */
#include "jit/host/settings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/machine.h"

struct word {
    const char *word;
    bool *wanted;
};

__attribute__((format(printf, 2, 3))) static void note(const struct machine_config *c, const char *format, ...)
{
    char text[256];
    va_list args;
    if (!c->note)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    c->note(c->print_data, text);
}

/* "a, b, c" */
static const char *listed(const char *const *words, size_t n, char text[static 128])
{
    int length = 0;
    for (size_t i = 0; i < n; i++)
        if (words[i])
            length += snprintf(text + length, 128 - (size_t)length, "%s%s", length ? ", " : "", words[i]);
    return text;
}

/* The index of the word that an environment variable contains; `unset` if it is not set, or has
 * another word. */
static int chosen(const struct machine_config *c, const char *variable, const char *const *words, size_t n, int unset)
{
    char text[128];
    const char *set = secure_getenv(variable);
    for (size_t i = 0; set && i < n; i++)
        if (words[i] && strcmp(set, words[i]) == 0)
            return (int)i;
    if (set && *set)
        note(c, "%s=%.40s is ignored; it may be %s", variable, set, listed(words, n, text));
    return unset;
}

/* Finds the words of a comma-separated list. */
static void find_words(const struct machine_config *c, const char *variable, const struct word *words, size_t n)
{
    for (const char *p = secure_getenv(variable), *end; p && *p; p = *end ? end + 1 : end) {
        const char *names[8];
        char text[128];
        bool known = false;
        end = strchrnul(p, ',');
        size_t length = (size_t)(end - p);
        for (size_t i = 0; i < n; i++) {
            bool is = strlen(names[i] = words[i].word) == length && memcmp(p, words[i].word, length) == 0;
            known |= is;
            if (is)
                *words[i].wanted = true;
        }
        if (!known && length)
            note(c, "`%.*s` in %s is ignored; it may be %s", length < 40 ? (int)length : 40, p, variable,
                 listed(names, n, text));
    }
}

void settings_read(struct settings *s, const struct machine_config *c)
{
    static const char *const engines[] = {
        [HD_ENGINE_AUTO] = "auto", [HD_ENGINE_INTERP] = "interp", [HD_ENGINE_JIT] = "jit"};
    static const char *const tiers[] = {[TIER_FIRST] = "1", [TIER_SECOND] = "2"};
    const struct word dumps[] = {
        {"ir", &s->dump_ir}, {"llvm", &s->dump_llvm}, {"asm", &s->dump_asm}, {"time", &s->dump_time}};
    const struct word logs[] = {
#define LOG_TOPIC(name, word) {word, &s->log[LOG_##name]},
#include "base/log_topics.def"
#undef LOG_TOPIC
    };
    const char *target = secure_getenv("HEDDLE_TARGET");
    *s = (struct settings){.target = target && *target ? target : NULL};
    find_words(c, "HEDDLE_DUMP", dumps, sizeof dumps / sizeof dumps[0]);
    find_words(c, "HEDDLE_LOG", logs, sizeof logs / sizeof logs[0]);
    s->tier = (enum jit_tier)chosen(c, "HEDDLE_TIER", tiers, sizeof tiers / sizeof tiers[0], 0);
    if (!c->engine)
        s->wish = (hd_engine)chosen(c, "HEDDLE_ENGINE", engines, sizeof engines / sizeof engines[0], HD_ENGINE_AUTO);
}

bool settings_dump(const struct settings *s)
{
    return s->dump_ir || s->dump_llvm || s->dump_asm || s->dump_time;
}
