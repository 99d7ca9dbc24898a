/* See info.h. */
#include "libraries/cusparse/info.h"

struct info *info_find(const void *handle, enum family family)
{
    struct info *info = handle_find(&library_handles, handle, KIND_INFO);
    return info && info->family == family ? info : NULL;
}

bool info_waits(const struct context *s, struct info *info)
{
    bool captured = call_is_captured(s);
    info->captured |= captured;
    return !captured;
}

static hd_result run_analysis(const struct call *c)
{
    struct csr a;
    struct info *info = c->at[0];
    hd_result r = csr_load(&c->a, 0, CUSPARSE_OPERATION_NON_TRANSPOSE, false, &a);
    for (int64_t i = 0; !r && info->pivot < 0 && i < a.rows; i++) {
        bool has_diagonal = false;
        for (int64_t k = a.begin[i]; k < a.begin[i + 1]; k++)
            has_diagonal |= a.column[k] == i;
        if (!has_diagonal)
            info->pivot = info_position(&c->a, i);
    }
    csr_free(&a);
    return r;
}

cusparseStatus_t info_analyse(const struct context *s, const char *name, struct info *info, const struct sparse *a,
                              bool needs_diagonal)
{
    struct call c = {.name = name, .run = run_analysis, .a = *a, .at = {info}, .waits = true};
    info->pivot = -1;
    info->analysed = true;
    if (!needs_diagonal)
        return CUSPARSE_STATUS_SUCCESS;
    call_sparse(&c, &c.a, HD_READS, 0);
    return call_put(s, &c);
}

static cusparseStatus_t zero_pivot(const struct info *info, int *position)
{
    if (info->captured)
        cuCtxSynchronize(); /* graphs may still write it */
    *position = info->pivot;
    return info->pivot < 0 ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ZERO_PIVOT;
}

static cusparseStatus_t info_destroy(void *handle)
{
    IN_CALL;
    const struct info *info = handle_find(&library_handles, handle, KIND_INFO);
    if (!info || !info->captured)
        return record_destroy(handle, KIND_INFO);
    handle_take(&library_handles, handle, KIND_INFO);
    return CUSPARSE_STATUS_SUCCESS;
}

#define INFO(Name, name, kind)                                                                                         \
    LIBRARY_API cusparseStatus_t cusparseCreate##Name##Info(name##Info_t *info)                                        \
    {                                                                                                                  \
        IN_CALL;                                                                                                       \
        NEED(info);                                                                                                    \
        const struct info none = {.family = kind, .pivot = -1};                                                        \
        return record_add(info, KIND_INFO, &none, sizeof none);                                                        \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparseDestroy##Name##Info(name##Info_t info)                                        \
    {                                                                                                                  \
        return info_destroy(info);                                                                                     \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparseX##name##_zeroPivot(cusparseHandle_t handle, name##Info_t info,               \
                                                             int *position)                                            \
    {                                                                                                                  \
        CONTEXT(s, handle);                                                                                            \
        const struct info *record = info_find(info, kind);                                                             \
        NEED(record &&position && record->analysed);                                                                   \
        return zero_pivot(record, position);                                                                           \
    }
INFO(Csrilu02, csrilu02, FAMILY_CSRILU)
INFO(Csric02, csric02, FAMILY_CSRIC)
INFO(Bsrilu02, bsrilu02, FAMILY_BSRILU)
INFO(Bsric02, bsric02, FAMILY_BSRIC)
INFO(Bsrsv2, bsrsv2, FAMILY_BSRSV)
INFO(Bsrsm2, bsrsm2, FAMILY_BSRSM)
