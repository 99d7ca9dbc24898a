/* Versions and targets that a use needs; see verify.h. */
#include "ptx/verify.h"

static const char *target_text(struct arena *a, uint16_t sm, char suffix)
{
    return suffix ? arena_printf(a, "sm_%u%c", sm, suffix) : arena_printf(a, "sm_%u", sm);
}

static const char *version_text(struct arena *a, unsigned ptx)
{
    return arena_printf(a, ".version %u.%u", ptx / 10, ptx % 10);
}

void verify_need(struct verifier *v, struct place at, const char *what, struct isa_need need)
{
    const struct ptx_module *m = v->m;
    struct arena *a = v->diags->arena;
    if (!m->target.sm || isa_need_met(need, m->version, m->target))
        return;
    bool small = !isa_need_met((struct isa_need){0, need.sm, need.arch}, 0, m->target);
    bool old = m->version < need.ptx;
    const char *target = target_text(a, need.sm, need.arch ? 'a' : 0);
    unsigned since = isa_target_since(str_of(target)), ptx = small && since > need.ptx ? since : need.ptx;
    const char *and = old && small ? " and " : "";
    const char *write_and = m->version < ptx && small ? " and " : "";
    diag_error(v->diags, at, "ptx-version",
               arena_printf(a, "write %s%s%s%s at the top of the file", m->version < ptx ? version_text(a, ptx) : "",
                            write_and, small ? ".target " : "", small ? target : ""),
               "%s needs %s%s%s; this module says %s%s%s", what, old ? version_text(a, need.ptx) : "", and,
               small ? target : "", old ? version_text(a, m->version) : "", and,
               small ? target_text(a, m->target.sm, m->target.suffix) : "");
}
