/* See page.h. */
#include "explain/page.h"

#include <string.h>

/* Escapes JSON inside a script: it must not end the script, and "<" occurs only in strings (HTML
 * standard, 4.12.1.3, "Restrictions for contents of script elements"). */
static void put_escaped(struct text *t, const char *json)
{
    for (const char *p = json; *p;) {
        size_t n = strcspn(p, "<");
        text_put(t, p, n);
        p += n;
        if (*p) {
            text_puts(t, "\\u003c");
            p++;
        }
    }
}

void page_write(struct text *t, const char *json)
{
    text_puts(t, page_head);
    put_escaped(t, json);
    text_puts(t, page_tail);
}
