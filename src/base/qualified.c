/* See qualified.h. */
#include "base/qualified.h"

#include <string.h>

/* Where the last component begins: behind the last "::" that is in no brackets. */
static size_t last_at(struct str name)
{
    unsigned depth = 0;
    for (size_t i = name.n; i-- > 1;) {
        depth += name.p[i] == '>' || name.p[i] == ')';
        depth -= depth && (name.p[i] == '<' || name.p[i] == '(');
        if (!depth && name.p[i] == ':' && name.p[i - 1] == ':')
            return i + 1;
    }
    return 0;
}

bool name_ends_with(struct str name, struct str asked)
{
    size_t before = name.n - asked.n;
    if (!asked.n || asked.n > name.n || memcmp(name.p + before, asked.p, asked.n) != 0)
        return false;
    return !before || name.p[before - 1] == ' ' ||
           (before >= 2 && name.p[before - 1] == ':' && name.p[before - 2] == ':');
}

struct str name_last(struct str name)
{
    size_t at = last_at(name);
    return (struct str){name.p + at, name.n - at};
}

struct str name_before(struct str name)
{
    size_t at = last_at(name);
    return (struct str){name.p, at ? at - 2 : 0};
}

const char *name_compact(const char *name, struct arena *arena)
{
    if (!strchr(name, ' '))
        return name;
    char *text = arena_strdup(arena, name), *to = text;
    for (const char *p = name; *p; p++)
        if (*p != ' ' || !(p[1] == '>' || p[1] == ' ' || (to > text && (to[-1] == ',' || to[-1] == '<'))))
            *to++ = *p;
    *to = 0;
    return text;
}

const char *name_without_templates(const char *name, struct arena *arena)
{
    static const char word[] = "operator";
    const size_t n = sizeof word - 1;
    char *text = arena_strdup(arena, name), *to = text;
    unsigned depth = 0;
    for (const char *p = name; *p; p++) {
        bool is_operator = strncmp(p, word, n) == 0 && strchr("<>-=", p[n]) && p[n];
        if (!depth && is_operator)
            for (size_t length = n + strspn(p + n, "<>-="); length > 1; length--)
                *to++ = *p++;
        else if (*p == '<')
            depth++;
        if (!depth)
            *to++ = *p;
        depth -= depth && *p == '>';
    }
    *to = 0;
    return text;
}
