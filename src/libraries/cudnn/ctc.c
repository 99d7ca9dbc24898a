/* Connectionist temporal classification ("cudnn_adv": cudnnCTCLoss*): for each sequence the
 * negative logarithm of the probability of its label, summed over all ways to write it, with blanks
 * (0) and repetitions, along the time steps; and the gradient by what goes into the softmax. Sums
 * are made in the logarithms of doubles. If a sequence has too few steps for its label, its cost is
 * 0, as on an H200. There an empty label costs 0, too; here it costs what the blanks do.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libraries/cudnn/cudnn.h"

enum { MAX_LABEL = 256 };         /* letters, cuDNN's limit */
enum { NORMALIZE_NONE, SOFTMAX }; /* cudnnLossNormalizationMode_t */
/* cudnnCTCGradMode_t: gradients of a sequence with too few steps for its label are zero, or not
 * written. */
enum { ZERO_UNFIT, KEEP_UNFIT };

struct ctc {
    int type, normalization, unfit, max_label;
};

/* ---- descriptors ---- */

LIBRARY_API cudnnStatus_t cudnnCreateCTCLossDescriptor(struct ctc **handle);
cudnnStatus_t cudnnCreateCTCLossDescriptor(struct ctc **handle)
{
    IN_CALL;
    return cudnn_new(KIND_CTC, sizeof(struct ctc), (void **)handle);
}

LIBRARY_API cudnnStatus_t cudnnDestroyCTCLossDescriptor(void *handle);
cudnnStatus_t cudnnDestroyCTCLossDescriptor(void *handle)
{
    IN_CALL;
    return cudnn_drop(KIND_CTC, handle);
}

static cudnnStatus_t set(void *handle, int type, int normalization, int unfit, int max_label)
{
    IN_CALL;
    struct ctc *c = handle_find(&library_handles, handle, KIND_CTC);
    if (!c || type != CUDNN_DATA_FLOAT || (unsigned)normalization > SOFTMAX || (unsigned)unfit > KEEP_UNFIT ||
        max_label < 0 || max_label > MAX_LABEL)
        return CUDNN_STATUS_BAD_PARAM;
    *c = (struct ctc){type, normalization, unfit, max_label};
    return CUDNN_STATUS_SUCCESS;
}

LIBRARY_API cudnnStatus_t cudnnSetCTCLossDescriptorEx(void *handle, int type, int normalization, int nan);
cudnnStatus_t cudnnSetCTCLossDescriptorEx(void *handle, int type, int normalization, int nan)
{
    return set(handle, type, normalization, nan, MAX_LABEL);
}

LIBRARY_API cudnnStatus_t cudnnSetCTCLossDescriptor_v9(void *handle, int type, int normalization, int unfit, int max);
cudnnStatus_t cudnnSetCTCLossDescriptor_v9(void *handle, int type, int normalization, int unfit, int max)
{
    return set(handle, type, normalization, unfit, max);
}

/* ---- one sequence ---- */

/* A call. Its numbers are in the program's memory, and are copied behind it, or in the device's. */
struct loss {
    struct ctc ctc;
    struct tensor x, dx; /* of steps, sequences, letters */
    const float *at;
    float *costs, *gradients;                          /* no gradients: NULL */
    const int *labels, *label_lengths, *input_lengths; /* in the device's memory, or NULL */
    int numbers[];                                     /* label lengths, input lengths, labels */
};

struct sequence {
    const struct loss *l;
    int64_t number;
    const int *label;
    int letters, steps, alphabet; /* `letters` of the label */
    double *logs;                 /* of probabilities: steps * alphabet */
    double *before, *after;       /* of all beginnings, of all ends: steps * states */
};

static int states(const struct sequence *s)
{
    return 2 * s->letters + 1;
}

/* The letter of a state: every second one is a blank. */
static int letter_of(const struct sequence *s, int state)
{
    return state % 2 ? s->label[state / 2] : 0;
}

static double log_of(const struct sequence *s, int step, int state)
{
    return s->logs[(int64_t)step * s->alphabet + letter_of(s, state)];
}

static double log_sum(double a, double b)
{
    double most = fmax(a, b);
    return most == -INFINITY ? most : most + log1p(exp(fmin(a, b) - most));
}

/* A way goes on in its state, into the next one, or over a blank
 * between two letters that differ. */
static bool may_skip(const struct sequence *s, int to)
{
    return to >= 2 && to % 2 && letter_of(s, to) != letter_of(s, to - 2);
}

static float *element(const struct tensor *t, const float *at, int64_t step, int64_t sequence, int64_t letter)
{
    return (float *)at + step * t->stride[0] + sequence * t->stride[1] + letter * t->stride[2];
}

static void fill_logs(const struct sequence *s)
{
    const struct loss *l = s->l;
    for (int t = 0; t < s->steps; t++) {
        double *row = s->logs + (int64_t)t * s->alphabet, most = -INFINITY, sum = 0;
        for (int a = 0; a < s->alphabet; a++) {
            row[a] = (double)*element(&l->x, l->at, t, s->number, a);
            row[a] = l->ctc.normalization == SOFTMAX ? row[a] : log(row[a]);
            most = fmax(most, row[a]);
        }
        for (int a = 0; a < s->alphabet; a++)
            sum += exp(row[a] - most);
        for (int a = 0; l->ctc.normalization == SOFTMAX && a < s->alphabet; a++)
            row[a] -= most + log(sum);
    }
}

static void fill_before(const struct sequence *s)
{
    const int n = states(s);
    for (int t = 0; t < s->steps; t++)
        for (int i = 0; i < n; i++) {
            const double *last = s->before + (int64_t)(t - 1) * n;
            double sum = t == 0 && i < 2 ? 0 : -INFINITY;
            for (int k = i; t > 0 && k >= 0 && k >= i - (may_skip(s, i) ? 2 : 1); k--)
                sum = log_sum(sum, last[k]);
            s->before[(int64_t)t * n + i] = sum + log_of(s, t, i);
        }
}

static void fill_after(const struct sequence *s)
{
    const int n = states(s);
    for (int t = s->steps - 1; t >= 0; t--)
        for (int i = 0; i < n; i++) {
            const double *next = s->after + (int64_t)(t + 1) * n;
            double sum = t == s->steps - 1 && i >= n - 2 ? 0 : -INFINITY;
            for (int k = i; t < s->steps - 1 && k < n && (k < i + 2 || (k == i + 2 && may_skip(s, k))); k++)
                sum = log_sum(sum, next[k] + log_of(s, t + 1, k));
            s->after[(int64_t)t * n + i] = sum;
        }
}

static double total(const struct sequence *s)
{
    const double *last = s->before + (int64_t)(s->steps - 1) * states(s);
    return log_sum(last[states(s) - 1], s->letters ? last[states(s) - 2] : -INFINITY);
}

static void zero_gradients(const struct sequence *s, int64_t first_step)
{
    for (int64_t t = first_step; t < s->l->dx.dim[0]; t++)
        for (int a = 0; a < s->alphabet; a++)
            *element(&s->l->dx, s->l->gradients, t, s->number, a) = 0;
}

/* By what goes into the softmax: a probability less the part of all ways that take the letter at
 * the step. */
static void write_gradients(const struct sequence *s, double whole)
{
    const struct loss *l = s->l;
    zero_gradients(s, s->steps);
    for (int t = 0; t < s->steps; t++) {
        const double *before = s->before + (int64_t)t * states(s), *after = s->after + (int64_t)t * states(s);
        double *row = s->logs + (int64_t)t * s->alphabet;
        for (int a = 0; a < s->alphabet; a++)
            row[a] = exp(row[a]);
        for (int i = 0; i < states(s); i++)
            row[letter_of(s, i)] -= exp(before[i] + after[i] - whole);
        for (int a = 0; a < s->alphabet; a++)
            *element(&l->dx, l->gradients, t, s->number, a) = (float)row[a];
    }
}

/* Whether the steps suffice: two equal letters have a blank between them. */
static bool fits(const struct sequence *s)
{
    int least = s->letters;
    for (int i = 1; i < s->letters; i++)
        least += s->label[i] == s->label[i - 1];
    return least <= s->steps;
}

static bool compute(struct sequence *s)
{
    if (!fits(s)) {
        s->l->costs[s->number] = 0;
        if (s->l->gradients && s->l->ctc.unfit == ZERO_UNFIT)
            zero_gradients(s, 0);
        return true;
    }
    const int64_t ways = (int64_t)s->steps * states(s), logs = (int64_t)s->steps * s->alphabet;
    s->logs = malloc((size_t)(logs + 2 * ways + 1) * sizeof *s->logs);
    if (!s->logs)
        return false;
    s->before = s->logs + logs;
    s->after = s->before + ways;
    fill_logs(s);
    fill_before(s);
    double whole = s->steps ? total(s) : 0;
    s->l->costs[s->number] = (float)-whole;
    if (s->l->gradients) {
        fill_after(s);
        write_gradients(s, whole);
    }
    free(s->logs);
    return true;
}

/* ---- a call ---- */

struct sequences {
    const struct loss *l;
    const int *labels, *label_lengths, *input_lengths;
    _Atomic int failure; /* hd_result */
};

static void sequence(void *data, size_t i)
{
    struct sequences *all = data;
    const struct loss *l = all->l;
    int64_t first = 0;
    for (size_t k = 0; k < i; k++)
        first += all->label_lengths[k];
    struct sequence s = {.l = l,
                         .number = (int64_t)i,
                         .label = all->labels + first,
                         .letters = all->label_lengths[i],
                         .steps = all->input_lengths[i],
                         .alphabet = (int)l->x.dim[2]};
    bool good = s.steps >= 0 && s.steps <= l->x.dim[0] && s.letters <= l->ctc.max_label;
    for (int k = 0; good && k < s.letters; k++)
        good = s.label[k] >= 0 && s.label[k] < s.alphabet;
    if (!good)
        all->failure = HD_ERROR_ILLEGAL_ADDRESS;
    else if (!compute(&s))
        all->failure = HD_ERROR_OUT_OF_MEMORY;
}

/* The number of letters in all labels; negative: a length is. */
static int64_t letter_count(const int *lengths, int64_t n)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        if (lengths[i] < 0)
            return -1;
        sum += lengths[i];
    }
    return sum;
}

static hd_result run_ctc(void *args)
{
    struct loss *l = args;
    const int64_t n = l->x.dim[1];
    struct sequences all = {l, l->numbers + 2 * n, l->numbers, l->numbers + n, HD_SUCCESS};
    l->at = library_view(l->at);
    l->costs = library_view(l->costs);
    l->gradients = l->gradients ? library_view(l->gradients) : NULL;
    if (l->labels) {
        all.label_lengths = library_view(l->label_lengths);
        all.input_lengths = library_view(l->input_lengths);
        const int64_t letters = letter_count(all.label_lengths, n);
        if (letters < 0 || !library_reach((void **)&all.labels, l->labels,
                                          (struct library_shape){sizeof(int), (uint64_t)letters, 1, (uint64_t)letters}))
            return HD_ERROR_ILLEGAL_ADDRESS;
    }
    library_parallel((size_t)n, sequence, &all);
    return (hd_result)all.failure;
}

static hd_used *labels_used(const void *args, size_t *count)
{
    const struct loss *l = args;
    const int64_t letters = l->labels ? letter_count(library_view(l->label_lengths), l->x.dim[1]) : 0;
    hd_used *used = NULL;
    *count = 0;
    if (letters > 0)
        library_add_use(&used, count, library_reads(l->labels, (size_t)letters * sizeof *l->labels));
    return used;
}

/* What of a call the two functions have in common. */
struct given {
    const char *name;
    void *ctc;
    cudnnTensorDescriptor_t x, dx;
    const void *at;
    const int *labels, *label_lengths, *input_lengths;
    bool on_device; /* the three are */
    void *costs, *gradients;
};

static cudnnStatus_t check(const struct given *g, const struct ctc *c, const struct tensor *x, const struct tensor *dx)
{
    if (!c || !x || !dx || !g->at || !g->labels || !g->label_lengths || !g->input_lengths || !g->costs || x->n != 3 ||
        dx->n != 3 || memcmp(x->dim, dx->dim, sizeof x->dim) != 0)
        return CUDNN_STATUS_BAD_PARAM;
    if (x->type != CUDNN_DATA_FLOAT || dx->type != CUDNN_DATA_FLOAT)
        return CUDNN_STATUS_NOT_SUPPORTED;
    for (int64_t i = 0; !g->on_device && i < x->dim[1]; i++)
        if (g->label_lengths[i] < 0 || g->label_lengths[i] > c->max_label || g->input_lengths[i] < 0 ||
            g->input_lengths[i] > x->dim[0])
            return CUDNN_STATUS_BAD_PARAM;
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t put(struct cudnn_handle *s, const struct given *g)
{
    const struct ctc *c = handle_find(&library_handles, g->ctc, KIND_CTC);
    const struct tensor *x = tensor_of(g->x), *dx = g->gradients ? tensor_of(g->dx) : x;
    cudnnStatus_t status = check(g, c, x, dx);
    if (status)
        return status;
    const int64_t n = x->dim[1], letters = g->on_device ? 0 : letter_count(g->label_lengths, n);
    const size_t lengths = (size_t)n * sizeof(int);
    const size_t bytes = sizeof(struct loss) + (g->on_device ? 0 : 2 * lengths + (size_t)letters * sizeof(int));
    struct loss *l = calloc(1, bytes);
    if (!l)
        return CUDNN_STATUS_ALLOC_FAILED;
    *l = (struct loss){.ctc = *c, .x = *x, .dx = *dx, .at = g->at, .costs = g->costs, .gradients = g->gradients};
    hd_used used[5] = {library_reads(g->at, tensor_bytes(x)), library_writes(g->costs, (size_t)n * sizeof(float))};
    size_t count = 2;
    if (g->gradients)
        used[count++] = library_writes(g->gradients, tensor_bytes(dx));
    if (g->on_device) {
        l->labels = g->labels;
        used[count++] = library_reads(l->label_lengths = g->label_lengths, lengths);
        used[count++] = library_reads(l->input_lengths = g->input_lengths, lengths);
    } else {
        memcpy(l->numbers, g->label_lengths, lengths);
        memcpy(l->numbers + n, g->input_lengths, lengths);
        memcpy(l->numbers + 2 * n, g->labels, (size_t)letters * sizeof(int));
    }
    const struct library_task t = {.name = g->name,
                                   .run = run_ctc,
                                   .args = l,
                                   .arg_bytes = bytes,
                                   .used = used,
                                   .used_count = count,
                                   .find_used = labels_used,
                                   .unit = HD_UNIT_FP32};
    status = cudnn_status(heddle_library_put(s->stream, &t, false));
    free(l);
    return status;
}

LIBRARY_API cudnnStatus_t cudnnCTCLoss(cudnnHandle_t handle, cudnnTensorDescriptor_t x, const void *at,
                                       const int *labels, const int *label_lengths, const int *input_lengths,
                                       void *costs, cudnnTensorDescriptor_t dx, void *gradients, int algorithm,
                                       void *ctc, void *workspace, size_t workspace_bytes);
cudnnStatus_t cudnnCTCLoss(cudnnHandle_t handle, cudnnTensorDescriptor_t x, const void *at, const int *labels,
                           const int *label_lengths, const int *input_lengths, void *costs, cudnnTensorDescriptor_t dx,
                           void *gradients, int algorithm, void *ctc, void *workspace, size_t workspace_bytes)
{
    CONTEXT(s, handle);
    (void)algorithm, (void)workspace, (void)workspace_bytes;
    return put(s, &(struct given){"cudnnCTCLoss", ctc, x, dx, at, labels, label_lengths, input_lengths, false, costs,
                                  gradients});
}

LIBRARY_API cudnnStatus_t cudnnCTCLoss_v8(cudnnHandle_t handle, int algorithm, void *ctc, cudnnTensorDescriptor_t x,
                                          const void *at, const int *labels, const int *label_lengths,
                                          const int *input_lengths, void *costs, cudnnTensorDescriptor_t dx,
                                          void *gradients, size_t workspace_bytes, void *workspace);
cudnnStatus_t cudnnCTCLoss_v8(cudnnHandle_t handle, int algorithm, void *ctc, cudnnTensorDescriptor_t x, const void *at,
                              const int *labels, const int *label_lengths, const int *input_lengths, void *costs,
                              cudnnTensorDescriptor_t dx, void *gradients, size_t workspace_bytes, void *workspace)
{
    CONTEXT(s, handle);
    (void)algorithm, (void)workspace, (void)workspace_bytes;
    return put(s, &(struct given){"cudnnCTCLoss_v8", ctc, x, dx, at, labels, label_lengths, input_lengths, true, costs,
                                  gradients});
}

/* The work is done in memory of Heddle's own. */
LIBRARY_API cudnnStatus_t cudnnGetCTCLossWorkspaceSize(cudnnHandle_t handle, cudnnTensorDescriptor_t x,
                                                       cudnnTensorDescriptor_t dx, const int *labels,
                                                       const int *label_lengths, const int *input_lengths,
                                                       int algorithm, void *ctc, size_t *bytes);
cudnnStatus_t cudnnGetCTCLossWorkspaceSize(cudnnHandle_t handle, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t dx,
                                           const int *labels, const int *label_lengths, const int *input_lengths,
                                           int algorithm, void *ctc, size_t *bytes)
{
    (void)handle, (void)x, (void)dx, (void)labels, (void)label_lengths, (void)input_lengths, (void)algorithm, (void)ctc;
    return cudnn_no_bytes(bytes);
}

LIBRARY_API cudnnStatus_t cudnnGetCTCLossWorkspaceSize_v8(cudnnHandle_t handle, int algorithm, void *ctc,
                                                          cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t dx,
                                                          size_t *bytes);
cudnnStatus_t cudnnGetCTCLossWorkspaceSize_v8(cudnnHandle_t handle, int algorithm, void *ctc, cudnnTensorDescriptor_t x,
                                              cudnnTensorDescriptor_t dx, size_t *bytes)
{
    (void)handle, (void)algorithm, (void)ctc, (void)x, (void)dx;
    return cudnn_no_bytes(bytes);
}
