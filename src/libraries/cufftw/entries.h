/* The entry points for one precision: included for each, with FFTW(name), REAL and TYPE. */

#define NAME_OF_(x)            #x
#define NAME_OF(x)             NAME_OF_(x)
#define WISH(name, kind, sign) {NAME_OF(FFTW(name)), kind, TYPE, sign, in, out}

/* A planner for a kind of transform: IN and OUT are its arrays' types, followed by SIGN if there is
 * a choice. */
#define BASIC(suffix, kind, In, Out, given, ...)                                                                       \
    LIBRARY_API FFTW(plan) FFTW(plan_##suffix##_1d)(int n, In *in, Out *out, __VA_ARGS__ unsigned flags)               \
    {                                                                                                                  \
        struct wish w = WISH(plan_##suffix##_1d, kind, given);                                                         \
        (void)flags;                                                                                                   \
        return (FFTW(plan))plan_basic(&w, 1, &n);                                                                      \
    }                                                                                                                  \
    LIBRARY_API FFTW(plan) FFTW(plan_##suffix##_2d)(int n0, int n1, In *in, Out *out, __VA_ARGS__ unsigned flags)      \
    {                                                                                                                  \
        struct wish w = WISH(plan_##suffix##_2d, kind, given);                                                         \
        (void)flags;                                                                                                   \
        return (FFTW(plan))plan_basic(&w, 2, (int[]){n0, n1});                                                         \
    }                                                                                                                  \
    LIBRARY_API FFTW(plan)                                                                                             \
        FFTW(plan_##suffix##_3d)(int n0, int n1, int n2, In *in, Out *out, __VA_ARGS__ unsigned flags)                 \
    {                                                                                                                  \
        struct wish w = WISH(plan_##suffix##_3d, kind, given);                                                         \
        (void)flags;                                                                                                   \
        return (FFTW(plan))plan_basic(&w, 3, (int[]){n0, n1, n2});                                                     \
    }                                                                                                                  \
    LIBRARY_API FFTW(plan) FFTW(plan_##suffix)(int rank, const int *n, In *in, Out *out, __VA_ARGS__ unsigned flags)   \
    {                                                                                                                  \
        struct wish w = WISH(plan_##suffix, kind, given);                                                              \
        (void)flags;                                                                                                   \
        return (FFTW(plan))plan_basic(&w, rank, n);                                                                    \
    }                                                                                                                  \
    LIBRARY_API FFTW(plan) FFTW(plan_many_##suffix)(int rank, const int *n, int howmany, In *in, const int *inembed,   \
                                                    int istride, int idist, Out *out, const int *onembed, int ostride, \
                                                    int odist, __VA_ARGS__ unsigned flags)                             \
    {                                                                                                                  \
        struct wish w = WISH(plan_many_##suffix, kind, given);                                                         \
        (void)flags;                                                                                                   \
        return (FFTW(plan))plan_many(&w, rank, n, howmany, (struct wish_side){inembed, istride, idist},                \
                                     (struct wish_side){onembed, ostride, odist});                                     \
    }                                                                                                                  \
    GURU(guru, suffix, kind, fftw_iodim, In, Out, given, __VA_ARGS__)                                                  \
    GURU(guru64, suffix, kind, fftw_iodim64, In, Out, given, __VA_ARGS__)                                              \
    LIBRARY_API void FFTW(execute_##suffix)(const FFTW(plan) plan, In *in, Out *out)                                   \
    {                                                                                                                  \
        plan_execute((struct plan *)plan, NAME_OF(FFTW(execute_##suffix)), in, out);                                   \
    }
#define GURU(guru, suffix, kind, Dim, In, Out, given, ...)                                                             \
    LIBRARY_API FFTW(plan)                                                                                             \
        FFTW(plan_##guru##_##suffix)(int rank, const Dim *dims, int howmany_rank, const Dim *howmany_dims, In *in,     \
                                     Out *out, __VA_ARGS__ unsigned flags)                                             \
    {                                                                                                                  \
        struct wish w = WISH(plan_##guru##_##suffix, kind, given);                                                     \
        (void)flags;                                                                                                   \
        return (FFTW(plan))plan_##guru(&w, rank, dims, howmany_rank, howmany_dims);                                    \
    }

#define SIGN int sign,
BASIC(dft, TRANSFORM_COMPLEX, FFTW(complex), FFTW(complex), sign, SIGN)
BASIC(dft_r2c, TRANSFORM_FROM_REAL, REAL, FFTW(complex), FFTW_FORWARD, )
BASIC(dft_c2r, TRANSFORM_TO_REAL, FFTW(complex), REAL, FFTW_BACKWARD, )

LIBRARY_API void FFTW(execute)(const FFTW(plan) plan)
{
    const struct plan *p = (struct plan *)plan;
    plan_execute(p, NAME_OF(FFTW(execute)), p ? p->in : NULL, p ? p->out : NULL);
}

LIBRARY_API void FFTW(destroy_plan)(FFTW(plan) plan)
{
    free(plan);
}

/* Nothing is kept beside plans, which are made immediately. */
LIBRARY_API void FFTW(cleanup)(void) {}

LIBRARY_API void FFTW(set_timelimit)(double seconds)
{
    (void)seconds;
}

LIBRARY_API double FFTW(cost)(const FFTW(plan) plan)
{
    (void)plan;
    LIBRARY_REFUSE(NAME_OF(FFTW(cost)));
    return 0;
}

LIBRARY_API void FFTW(flops)(const FFTW(plan) plan, double *add, double *mul, double *fma)
{
    (void)plan;
    LIBRARY_REFUSE(NAME_OF(FFTW(flops)));
    *add = *mul = *fma = 0;
}

LIBRARY_API void FFTW(print_plan)(const FFTW(plan) plan)
{
    if (plan)
        plan_print((struct plan *)plan);
}

LIBRARY_API void *FFTW(malloc)(size_t n)
{
    void *p;
    return posix_memalign(&p, 64, n) == 0 ? p : NULL;
}

LIBRARY_API void FFTW(free)(void *p)
{
    free(p);
}

#undef NAME_OF_
#undef NAME_OF
#undef WISH
#undef BASIC
#undef GURU
#undef SIGN
