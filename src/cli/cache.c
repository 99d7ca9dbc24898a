/* heddle cache: compiled code and precompiled headers that are kept on disk. */
#include <stdio.h>

#include "base/text.h"
#include "cc/cc.h"
#include "cli/cli.h"

int cmd_cache(struct session *s)
{
    hd_cache_info info;
    if (s->n_words)
        return usage_error(s, "`%s` is unexpected: heddle cache takes only options", s->words[0]);
    if (!hd_cache_get_info(&info)) {
        printf("no compiled code is kept (HEDDLE_CACHE)\n");
        return cc_show_headers(&s->arena, s->o.clear) ? 0
                                                      : cli_failure(s, "not all precompiled headers can be removed");
    }
    if (info.refused[0])
        return cli_failure(s, "compiled code is neither kept nor used: %s", info.refused);
    if (s->o.clear && hd_cache_clear())
        return cli_failure(s, "%s: some of it cannot be removed", info.folder);
    printf("%s: %s compiled kernel%s, %s of %s%s\n", info.folder, count_text(info.kernels, &s->arena),
           info.kernels == 1 ? "" : "s", size_text(info.bytes, &s->arena), size_text(info.limit_bytes, &s->arena),
           s->o.clear ? ": removed" : "");
    return cc_show_headers(&s->arena, s->o.clear) ? 0 : cli_failure(s, "not all precompiled headers can be removed");
}
