/* See lines.h. Plans of lengths are kept in pocketfft's own cache; threads
 * are transform.c's affair. */
#include "libraries/cufft/lines.h"

#define POCKETFFT_NO_MULTITHREADING
#define POCKETFFT_CACHE_SIZE 64
#include <mutex>
#include "pocketfft_hdronly.h"

template <typename T> static void run(const lines &l)
{
    using complex = std::complex<T>;
    const pocketfft::shape_t shape(l.n, l.n + LINES_AXES);
    const pocketfft::stride_t from(l.from_stride, l.from_stride + LINES_AXES),
        to(l.to_stride, l.to_stride + LINES_AXES);
    const size_t axis = l.axis;
    switch (l.kind) {
    case LINES_COMPLEX:
        pocketfft::c2c(shape, from, to, {axis}, !l.backward, static_cast<const complex *>(l.from),
                       static_cast<complex *>(l.to), T(1));
        break;
    case LINES_FROM_REAL:
        pocketfft::r2c(shape, from, to, axis, true, static_cast<const T *>(l.from), static_cast<complex *>(l.to), T(1));
        break;
    case LINES_TO_REAL:
        pocketfft::c2r(shape, from, to, axis, false, static_cast<const complex *>(l.from), static_cast<T *>(l.to),
                       T(1));
        break;
    }
}

bool lines_transform(const struct lines *l)
{
    try {
        l->is_double ? run<double>(*l) : run<float>(*l);
        return true;
    } catch (const std::bad_alloc &) {
        return false;
    }
}
