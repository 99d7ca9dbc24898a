/* -maxrregcount: PTX says it by .maxnreg (PTX ISA 11.4.1), which clang 19 has no option for. As
 * with nvcc, a kernel with launch bounds of its own keeps to those. See cc.h. */
#include "cc/cc.h"

struct str cc_limit_registers(struct str ptx, unsigned most, struct arena *arena)
{
    hd_ptx *module = NULL;
    hd_source source = {"", ptx.p, ptx.n};
    const hd_ptx_code code = {.max_registers = most};
    size_t bytes = 0;
    const char *text = hd_ptx_read(&source, &module, NULL) ? NULL : hd_ptx_rewrite(module, &code, &bytes);
    if (text)
        ptx = (struct str){arena_strndup(arena, text, bytes), bytes};
    hd_ptx_free(module);
    return ptx;
}
