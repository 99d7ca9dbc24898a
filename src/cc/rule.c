/* Rules for make: -M, -MD and what belongs to them. The host's compilation writes them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cc/job.h"
#include "files/file.h"

static bool is_alone(const struct cc_options *o)
{
    return o->given[CC_DEPENDENCIES] || o->given[CC_DEPENDENCIES_OWN];
}

static bool is_wanted(const struct cc_options *o)
{
    return is_alone(o) || o->given[CC_DEPENDENCIES_TOO] || o->given[CC_DEPENDENCIES_OWN_TOO];
}

static const char *file_of_rule(struct job *j, const char *input, const char *output)
{
    if (j->o.given[CC_DEPENDENCY_FILE])
        return j->o.value[CC_DEPENDENCY_FILE];
    const char *beside = j->o.given[CC_OUTPUT] ? output : job_named_after(j, input, "");
    return arena_printf(j->arena, "%.*s.d", (int)(strlen(beside) - strlen(file_extension(beside))), beside);
}

void cc_add_rule(struct job *j, cc_words *c, const char *input, const char *output)
{
    const struct cc_options *o = &j->o;
    if (!is_wanted(o))
        return;
    ADD(c, o->given[CC_DEPENDENCIES]       ? "-M"
           : o->given[CC_DEPENDENCIES_OWN] ? "-MM"
           : o->given[CC_DEPENDENCIES_TOO] ? "-MD"
                                           : "-MMD");
    if (o->given[CC_DEPENDENCY_FILE] || !is_alone(o)) {
        ADD(c, "-MF");
        ADD(c, file_of_rule(j, input, output));
    }
    job_add_values(j, c, CC_DEPENDENCY_TARGET, "-MT", false);
    if (!o->list[CC_DEPENDENCY_TARGET].n && !is_alone(o)) {
        ADD(c, "-MT");
        ADD(c, o->given[CC_OUTPUT] ? output : job_named_after(j, input, ".o"));
    }
    if (o->given[CC_DEPENDENCY_PHONY])
        ADD(c, "-MP");
}

/* A name as clang writes it into a rule. */
static const char *name_in_rule(struct arena *arena, const char *name)
{
    struct text text = {.arena = arena};
    while (name[0] == '.' && name[1] == '/')
        for (name += 2; *name == '/'; name++)
            ;
    for (; *name; name++) {
        text_puts(&text, *name == ' ' || *name == '#' ? "\\" : *name == '$' ? "$" : "");
        text_put(&text, name, 1);
    }
    return text.p ? text.p : "";
}

/* Where `word` stands between `before` and one of the characters `behind`, or NULL. */
static char *find_word(char *text, char before, const char *word, const char *behind)
{
    size_t n = strlen(word);
    for (char *at = text; (at = strstr(at, word)); at++)
        if (at > text && at[-1] == before && strchr(behind, at[n]))
            return at;
    return NULL;
}

static void cut(char *from, size_t n)
{
    memmove(from, from + n, strlen(from + n) + 1);
}

static bool can_mend(const char *path)
{
    return strcmp(path, "-") != 0 && !file_is_special(path);
}

bool cc_can_mend_rule(struct job *j, const char *input, const char *output)
{
    return !is_wanted(&j->o) || can_mend(file_of_rule(j, input, output));
}

bool cc_mend_rule(struct job *j, const char *input, const char *output)
{
    static const char stand_in[] = " /dev/null";
    struct file_bytes rule = {0};
    const char *path = is_wanted(&j->o) ? file_of_rule(j, input, output) : NULL;
    if (!path || !can_mend(path) || file_read(j->arena, path, 0, &rule))
        return true; /* the compiler has said why */
    char *at = strstr(rule.bytes, stand_in);
    bool ok = true;
    if (at && at > rule.bytes && at[-1] == ':') {
        const char *name = name_in_rule(j->arena, input);
        char *rest = at + strlen(stand_in), *again = find_word(rest, ' ', name, " \n"),
             *phony = find_word(rest, '\n', name, ":");
        if (phony) /* clang has taken the source for a header */
            cut(phony, strlen(name) + strlen(":\n"));
        if (again)
            cut(again - 1, strlen(name) + 1);
        const char *text = arena_printf(j->arena, "%.*s %s%s", (int)(at - rule.bytes), rule.bytes, name, rest);
        ok = job_write(j, path, text, strlen(text));
    }
    free(rule.bytes);
    return ok;
}
