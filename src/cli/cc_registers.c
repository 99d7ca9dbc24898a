/* -maxrregcount: PTX says it by .maxnreg (PTX ISA, "Performance-Tuning Directives"), which clang 19 has no option for. As with nvcc,
 * a kernel with launch bounds of its own keeps to those. See cc.h. */
#include <string.h>

#include "base/text.h"
#include "cli/cc.h"

struct str cc_limit_registers(struct str ptx, int most, struct arena *arena)
{
    static const char entry[] = ".entry ";
    struct text out = {.arena = arena};
    const char *end = ptx.p + ptx.n, *from = ptx.p, *at;
    while (most && (at = memmem(from, (size_t)(end - from), entry, sizeof entry - 1))) {
        const char *body = memmem(at, (size_t)(end - at), "\n{", 2);
        if (!body)
            break;
        struct str head = {at, (size_t)(body - at)};
        text_put(&out, from, (size_t)(body - from));
        if (!str_has(head, ".maxntid") && !str_has(head, ".minnctapersm") && !str_has(head, ".maxnreg"))
            text_printf(&out, "\n.maxnreg %d", most);
        from = body;
    }
    if (from == ptx.p)
        return ptx;
    text_put(&out, from, (size_t)(end - from));
    return (struct str){out.p, out.n};
}
