/* Patterns of sparse matrices on the host ("cuSOLVER", 2.5): orders, permutations, symmetry. */
#include "libraries/cusolver/sparse.h"

#include <stdlib.h>
#include <string.h>

struct pattern {
    int n, base;
    const int *rows, *ends, *columns;
};

static int find(const struct pattern *p, int i, int j)
{
    for (int k = p->rows[i] - p->base; k < p->ends[i] - p->base; k++)
        if (p->columns[k] - p->base == j)
            return k;
    return -1;
}

LIBRARY_API cusolverStatus_t cusolverSpXcsrissymHost(cusolverSpHandle_t handle, int m, int nnz,
                                                     const cusparseMatDescr_t descriptor, const int *rows,
                                                     const int *ends, const int *columns, int *is_symmetric)
{
    static const char name[] = "cusolverSpXcsrissymHost";
    SPARSE(s, handle);
    NEED(m >= 0 && nnz >= 0 && descriptor && rows && ends && columns && is_symmetric);
    const struct pattern p = {m, sparse_base(descriptor), rows, ends, columns};
    *is_symmetric = 1;
    for (int i = 0; i < m && *is_symmetric; i++)
        for (int k = rows[i] - p.base; k < ends[i] - p.base && *is_symmetric; k++)
            *is_symmetric = find(&p, columns[k] - p.base, i) >= 0;
    return CUSOLVER_STATUS_SUCCESS;
}

/* Returns the bandwidth-reducing order for every requested method: all are permutations that reduce
 * fill. */
static cusolverStatus_t order(cusolverSpHandle_t handle, const char *name, int n, int nnz,
                              cusparseMatDescr_t descriptor, const int *rows, const int *columns, int *p)
{
    SPARSE(s, handle);
    NEED(n >= 0 && nnz >= 0 && descriptor && rows && columns && p);
    const struct csr a = {PRECISION_S, n, sparse_base(descriptor), rows, columns, NULL};
    NEED(n == 0 || csr_is_valid(&a));
    int *found = csr_reverse_cuthill_mckee(&a);
    if (!found)
        return CUSOLVER_STATUS_ALLOC_FAILED;
    memcpy(p, found, (size_t)n * sizeof *p);
    free(found);
    return CUSOLVER_STATUS_SUCCESS;
}

#define ORDER(name)                                                                                                    \
    LIBRARY_API cusolverStatus_t name(cusolverSpHandle_t handle, int n, int nnz, const cusparseMatDescr_t descriptor,  \
                                      const int *rows, const int *columns, int *p)                                     \
    {                                                                                                                  \
        return order(handle, #name, n, nnz, descriptor, rows, columns, p);                                             \
    }
ORDER(cusolverSpXcsrsymrcmHost)
ORDER(cusolverSpXcsrsymmdqHost)
ORDER(cusolverSpXcsrsymamdHost)

LIBRARY_API cusolverStatus_t cusolverSpXcsrmetisndHost(cusolverSpHandle_t handle, int n, int nnz,
                                                       const cusparseMatDescr_t descriptor, const int *rows,
                                                       const int *columns, const int64_t *options, int *p)
{
    (void)options;
    return order(handle, "cusolverSpXcsrmetisndHost", n, nnz, descriptor, rows, columns, p);
}

LIBRARY_API cusolverStatus_t cusolverSpXcsrperm_bufferSizeHost(cusolverSpHandle_t handle, int m, int n, int nnz,
                                                               const cusparseMatDescr_t descriptor, const int *rows,
                                                               const int *columns, const int *p, const int *q,
                                                               size_t *bytes)
{
    static const char name[] = "cusolverSpXcsrperm_bufferSizeHost";
    SPARSE(s, handle);
    NEED(m >= 0 && n >= 0 && nnz >= 0 && descriptor && rows && columns && p && q && bytes);
    *bytes = 16;
    return CUSOLVER_STATUS_SUCCESS;
}

struct entry {
    int column, from;
};

static int by_column(const void *a, const void *b)
{
    return ((const struct entry *)a)->column - ((const struct entry *)b)->column;
}

/* B = A(p, q): row i of B is row p[i] of A, column j is column q[j]; `map` tracks the values. */
static bool permute(struct pattern *to, int nnz, int columns_n, int *rows, int *columns, const int *p, const int *q,
                    int *map)
{
    int *place = malloc(((size_t)columns_n + 1) * sizeof *place),
        *old_rows = malloc(((size_t)to->n + 1) * sizeof *old_rows);
    int *old_map = malloc(((size_t)nnz + 1) * sizeof *old_map), at = 0;
    struct entry *entries = malloc(((size_t)nnz + 1) * sizeof *entries), *old = malloc(((size_t)nnz + 1) * sizeof *old);
    bool ready = place && old_rows && old_map && entries && old;
    if (ready) {
        memcpy(old_rows, rows, ((size_t)to->n + 1) * sizeof *rows);
        memcpy(old_map, map, (size_t)nnz * sizeof *map);
        for (int j = 0; j < columns_n; j++)
            place[q[j]] = j;
        for (int k = 0; k < nnz; k++)
            old[k] = (struct entry){place[columns[k] - to->base], k};
        for (int i = 0; i < to->n; i++) {
            int first = old_rows[p[i]] - to->base, n = old_rows[p[i] + 1] - old_rows[p[i]];
            memcpy(entries + at, old + first, (size_t)n * sizeof *entries);
            qsort(entries + at, (size_t)n, sizeof *entries, by_column);
            rows[i] = at + to->base;
            at += n;
        }
        rows[to->n] = at + to->base;
        for (int k = 0; k < nnz; k++) {
            columns[k] = entries[k].column + to->base;
            map[k] = old_map[entries[k].from];
        }
    }
    free(place);
    free(old_rows);
    free(old_map);
    free(entries);
    free(old);
    return ready;
}

static bool is_permutation(const int *p, int n)
{
    bool *seen = calloc((size_t)n + 1, sizeof *seen), good = seen != NULL;
    for (int i = 0; good && i < n; i++) {
        good = p[i] >= 0 && p[i] < n && !seen[p[i]];
        if (good)
            seen[p[i]] = true;
    }
    free(seen);
    return good;
}

LIBRARY_API cusolverStatus_t cusolverSpXcsrpermHost(cusolverSpHandle_t handle, int m, int n, int nnz,
                                                    const cusparseMatDescr_t descriptor, int *rows, int *columns,
                                                    const int *p, const int *q, int *map, void *buffer)
{
    static const char name[] = "cusolverSpXcsrpermHost";
    (void)buffer;
    SPARSE(s, handle);
    NEED(m >= 0 && n >= 0 && nnz >= 0 && descriptor && rows && columns && p && q && map);
    NEED(is_permutation(p, m));
    NEED(is_permutation(q, n));
    struct pattern to = {.n = m, .base = sparse_base(descriptor)};
    NEED(rows[m] - rows[0] == nnz);
    return permute(&to, nnz, n, rows, columns, p, q, map) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}
