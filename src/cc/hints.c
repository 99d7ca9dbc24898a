/* What helps after an error of clang's: see hints.def. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "cc/cc.h"

enum where { HEADER, NAME, MESSAGE, LIBRARY };

static const struct hint {
    enum where where;
    const char *what, *text;
} hints[] = {
#define HINT(where, what, text) {where, what, text},
#include "cc/hints.def"
#undef HINT
};

/* Functions that CUDA has and Heddle has not. */
static const char *const missing[] = {
#define IF_done(name)
#define IF_partial(name)
#define IF_no(name)                               name,
#define API(name, symbol, version, stream, state) IF_##state(#name)
#define RUNTIME(name, first, last, stream, state) IF_##state(#name)
#include "cuda/api.def"
#include "cuda/runtime.def"
};

/* What stands between the first pair of quotes. */
static struct str quoted(struct str text)
{
    const char *start = memchr(text.p, '\'', text.n);
    size_t left = start ? text.n - (size_t)(start + 1 - text.p) : 0;
    const char *end = start ? memchr(start + 1, '\'', left) : NULL;
    return end ? (struct str){start + 1, (size_t)(end - start - 1)} : (struct str){text.p, 0};
}

/* cusparseCreate, CUSPARSE_FORMAT_CSR */
static bool is_of_library(struct str name, const char *library)
{
    return name.n > strlen(library) && strncasecmp(name.p, library, strlen(library)) == 0;
}

static bool is_unknown_name(struct str text)
{
    return str_has(text, "undeclared") || str_has(text, "unknown type name") || str_has(text, "no template named") ||
           str_has(text, "no type named") || str_has(text, "no member named") ||
           str_has(text, "does not name a template");
}

const char *cc_hint(struct str text, struct arena *arena)
{
    struct str name = quoted(text);
    bool header = str_has(text, "' file not found"), unknown = is_unknown_name(text);
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        const struct hint *h = &hints[i];
        bool fits = h->where == MESSAGE  ? str_has(text, h->what)
                    : h->where == HEADER ? header && str_starts(name, h->what)
                                         : h->where == NAME && unknown && str_starts(name, h->what);
        if (fits)
            return h->text;
    }
    for (size_t i = 0; unknown && i < sizeof hints / sizeof hints[0]; i++)
        if (hints[i].where == LIBRARY && is_of_library(name, hints[i].what))
            return arena_printf(arena, "docs/LIBRARIES.md lists what Heddle has of this library; its header is %s",
                                hints[i].text);
    for (size_t i = 0; unknown && i < sizeof missing / sizeof missing[0]; i++)
        if (str_is(name, missing[i]))
            return arena_printf(arena, "Heddle does not have %s; docs/API.md lists its functions", missing[i]);
    return NULL;
}
