/* See codes.h. */
#include "report/codes.h"

#include <fnmatch.h>
#include <string.h>

#include "base/str.h"

#define TOOL_memcheck  "memcheck"
#define TOOL_racecheck "racecheck"
#define TOOL_initcheck "initcheck"
#define TOOL_synccheck "synccheck"
#define TOOL_none      NULL

static const struct report_code codes[] = {
#define CODE(tool, code, title, meaning, example, fix) {TOOL_##tool, code, title, meaning, example, fix},
#include "report/codes.def"
};
enum { N_CODES = sizeof codes / sizeof codes[0] };

const struct report_code *report_code_find(const char *code)
{
    for (size_t i = 0; i < N_CODES; i++)
        if (strcmp(code, codes[i].code) == 0)
            return &codes[i];
    return NULL;
}

/* Of one that begins with the word, or has it inside, people have typed a part. */
const struct report_code *report_code_nearest(const char *word)
{
    const struct report_code *best = &codes[0];
    unsigned least = ~0u;
    size_t n = strlen(word);
    for (size_t i = 0; i < N_CODES; i++) {
        unsigned most = (unsigned)(n + strlen(codes[i].code));
        bool is_part = n >= 3 && strstr(codes[i].code, word);
        unsigned d = is_part ? 0 : str_distance(str_of(word), str_of(codes[i].code), most);
        if (d < least) {
            least = d;
            best = &codes[i];
        }
    }
    return best;
}

bool report_code_fits(const char *pattern)
{
    for (size_t i = 0; i < N_CODES; i++)
        if (fnmatch(pattern, codes[i].code, 0) == 0)
            return true;
    return false;
}
