/* See debug_hint.h. */
#include "cli/debug_hint.h"

#include <string.h>

#include "base/shell.h"
#include "base/text.h"
#include "cli/command_bits.h"

static const struct {
    const char *name;
    enum opt_kind kind;
    unsigned commands;
} flags[] = {
#define FLAG(kind, field, name, letter, value, commands, help) {name, OPT_##kind, commands},
#include "cli/flags.def"
#undef FLAG
};

/* Returns how many of the typed words belong to the option of `heddle check` at `at`; 1 for any
 * other word. *is: `heddle debug --check` has this option, too. */
static int words_of_option(char *const *at, bool *is)
{
    const char *word = at[0], *next = at[1] ? at[1] : "";
    bool takes_value = false, may_say = strcmp(next, "yes") == 0 || strcmp(next, "no") == 0;
    *is = strncmp(word, "--", 2) != 0;
    if (*is)
        return 1;
    size_t length = strcspn(word + 2, "=");
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (strncmp(word + 2, flags[i].name, length) == 0 && !flags[i].name[length]) {
            takes_value |= flags[i].commands & (CHECK | PROGRAM) && flags[i].kind != OPT_SWITCH &&
                           (flags[i].kind != OPT_YES_NO || may_say);
            *is |= flags[i].commands & (DEBUG | DEBUG_PROGRAM) && strcmp(flags[i].name, "policy") != 0;
        }
    return takes_value && !word[2 + length] ? 2 : 1;
}

const char *command_that_stops(struct session *s, const char *policy, bool of_program)
{
    struct text t = {.arena = &s->arena};
    bool behind = false; /* behind the program's name */
    text_printf(&t, "heddle debug --check --policy %s", shell_word(t.arena, policy));
    for (int i = 1, n; i < s->argc; i += n) {
        bool of_debug = true;
        behind |= of_program && s->argv[i] == s->words[0];
        n = behind ? 1 : words_of_option(&s->argv[i], &of_debug);
        for (int k = i; k < i + n && k < s->argc && of_debug; k++)
            text_printf(&t, " %s", shell_word(t.arena, s->argv[k]));
    }
    return t.p;
}
