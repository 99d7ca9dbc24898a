/* libcudnn's CTC loss, as PyTorch calls it, beside a sum over all ways to write a label. */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdbool.h>

#include "../../cuda/tap.h"

int cudnnCreate(void **), cudnnDestroy(void *), cudnnCreateTensorDescriptor(void **);
int cudnnSetTensorNdDescriptor(void *, int, int, const int *, const int *), cudnnDestroyTensorDescriptor(void *);
int cudnnCreateCTCLossDescriptor(void **), cudnnDestroyCTCLossDescriptor(void *);
int cudnnSetCTCLossDescriptorEx(void *, int, int, int), cudnnSetCTCLossDescriptor_v9(void *, int, int, int, int);
int cudnnGetCTCLossWorkspaceSize(void *, void *, void *, const int *, const int *, const int *, int, void *, size_t *);
int cudnnGetCTCLossWorkspaceSize_v8(void *, int, void *, void *, void *, size_t *);
int cudnnCTCLoss(void *, void *, const void *, const int *, const int *, const int *, void *, void *, void *, int,
                 void *, void *, size_t);
int cudnnCTCLoss_v8(void *, int, void *, void *, const void *, const int *, const int *, const int *, void *, void *,
                    void *, size_t, void *);

#define DONE(call) CHECK((call) == 0)

enum { PROBABILITIES, SOFTMAX };
enum { ZERO, KEEP };
enum { STEPS = 5, SEQUENCES = 4, ALPHABET = 3, ELEMENTS = STEPS * SEQUENCES * ALPHABET, BAD_PARAM = 2000 };

static const int labels[] = {1, 1, 2, 2, 2, 2}, label_lengths[SEQUENCES] = {3, 1, 0, 2},
                 steps[SEQUENCES] = {5, 4, 5, 2};
static void *handle, *tensor, *ctc;
static float *x, *gradients, *costs;
static int *numbers; /* labels, their lengths, steps */

static double probability(const double logits[ELEMENTS], int mode, int step, int sequence, int letter)
{
    const double *row = logits + (step * SEQUENCES + sequence) * ALPHABET;
    double sum = 0;
    for (int a = 0; a < ALPHABET; a++)
        sum += mode == SOFTMAX ? exp(row[a]) : row[a];
    return (mode == SOFTMAX ? exp(row[letter]) : row[letter]) / sum;
}

/* Whether a way, the digits of a number, says the label once repetitions and blanks are gone. */
static bool says(int way, int n, const int *label, int letters)
{
    int at = 0, last = 0;
    for (int t = 0; t < n; t++, way /= ALPHABET) {
        int letter = way % ALPHABET;
        if (letter && letter != last && (at == letters || label[at++] != letter))
            return false;
        last = letter;
    }
    return at == letters;
}

static double loss(const double logits[ELEMENTS], int mode, int sequence)
{
    const int *label = labels;
    int ways = 1;
    double sum = 0;
    for (int i = 0; i < sequence; i++)
        label += label_lengths[i];
    for (int t = 0; t < steps[sequence]; t++)
        ways *= ALPHABET;
    for (int w = 0; w < ways; w++) {
        double product = says(w, steps[sequence], label, label_lengths[sequence]);
        for (int t = 0, rest = w; t < steps[sequence]; t++, rest /= ALPHABET)
            product *= probability(logits, mode, t, sequence, rest % ALPHABET);
        sum += product;
    }
    return -log(sum);
}

static void call(bool on_device)
{
    size_t bytes = 1;
    const int *l = on_device ? numbers : labels, *n = on_device ? numbers + 6 : label_lengths,
              *t = on_device ? numbers + 6 + SEQUENCES : steps;
    for (int i = 0; i < ELEMENTS; i++)
        gradients[i] = 7;
    if (on_device) {
        DONE(cudnnGetCTCLossWorkspaceSize_v8(handle, 0, ctc, tensor, tensor, &bytes));
        DONE(cudnnCTCLoss_v8(handle, 0, ctc, tensor, x, l, n, t, costs, tensor, gradients, bytes, NULL));
    } else {
        DONE(cudnnGetCTCLossWorkspaceSize(handle, tensor, tensor, l, n, t, 0, ctc, &bytes));
        DONE(cudnnCTCLoss(handle, tensor, x, l, n, t, costs, tensor, gradients, 0, ctc, NULL, bytes));
    }
    CHECK(bytes == 0);
    DONE(cudaDeviceSynchronize());
}

/* The last sequence has too few steps for its two equal letters. */
static void costs_are_those_of_all_ways_and_gradients_their_differences(void)
{
    for (int way = 0; way < 8; way++) {
        const int mode = way & 1, unfit = way >> 1 & 1;
        double logits[ELEMENTS];
        int wrong = 0;
        for (int i = 0; i < ELEMENTS; i++) /* probabilities have the sum 1 */
            x[i] = mode == SOFTMAX ? (float)sin(i)
                                   : (float)(0.2 + 0.2 * (i % 3 == i / 3 % 3) + 0.2 * (i % 3 == i / 9 % 3));
        for (int i = 0; i < ELEMENTS; i++)
            logits[i] = mode == SOFTMAX ? (double)x[i] : log((double)x[i]);
        DONE(way & 4 ? cudnnSetCTCLossDescriptor_v9(ctc, 0, mode, unfit, 255)
                     : cudnnSetCTCLossDescriptorEx(ctc, 0, mode, unfit));
        call(way & 4);
        for (int n = 0; n < SEQUENCES - 1; n++)
            wrong += !(fabs((double)costs[n] - loss(logits, SOFTMAX, n)) < 1e-5);
        CHECK(!wrong && costs[SEQUENCES - 1] == 0);
        for (int i = 0; i < ELEMENTS; i++) {
            const double kept = logits[i], by = 1e-4;
            const int n = i / ALPHABET % SEQUENCES;
            logits[i] = kept + by;
            double difference = loss(logits, SOFTMAX, n);
            logits[i] = kept - by;
            difference -= loss(logits, SOFTMAX, n);
            logits[i] = kept;
            double expected = n == SEQUENCES - 1 ? unfit == KEEP ? 7 : 0 : difference / (2 * by);
            wrong += !(fabs((double)gradients[i] - expected) < 1e-4);
        }
        CHECK(!wrong);
    }
}

static void what_cannot_be_is_an_error(void)
{
    const int long_steps[SEQUENCES] = {5, 6, 5, 2};
    CHECK(cudnnSetCTCLossDescriptorEx(ctc, 1, SOFTMAX, KEEP) == BAD_PARAM);
    CHECK(cudnnSetCTCLossDescriptor_v9(ctc, 0, SOFTMAX, KEEP, 257) == BAD_PARAM);
    CHECK(cudnnCTCLoss(handle, tensor, x, labels, label_lengths, long_steps, costs, tensor, gradients, 0, ctc, NULL,
                       0) == BAD_PARAM);
    CHECK(cudnnCTCLoss(handle, tensor, NULL, labels, label_lengths, steps, costs, tensor, gradients, 0, ctc, NULL, 0) ==
          BAD_PARAM);
    numbers[0] = ALPHABET;
    DONE(cudnnCTCLoss_v8(handle, 0, ctc, tensor, x, numbers, numbers + 6, numbers + 6 + SEQUENCES, costs, tensor,
                         gradients, 0, NULL));
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
}

int main(void)
{
    DONE(cudnnCreate(&handle));
    DONE(cudnnCreateTensorDescriptor(&tensor));
    DONE(cudnnSetTensorNdDescriptor(tensor, 0, 3, (int[]){STEPS, SEQUENCES, ALPHABET},
                                    (int[]){SEQUENCES * ALPHABET, ALPHABET, 1}));
    DONE(cudnnCreateCTCLossDescriptor(&ctc));
    DONE(cudaMallocManaged((void **)&x, ELEMENTS * sizeof *x, cudaMemAttachGlobal));
    DONE(cudaMallocManaged((void **)&gradients, ELEMENTS * sizeof *gradients, cudaMemAttachGlobal));
    DONE(cudaMallocManaged((void **)&costs, SEQUENCES * sizeof *costs, cudaMemAttachGlobal));
    DONE(cudaMallocManaged((void **)&numbers, 64 * sizeof *numbers, cudaMemAttachGlobal));
    memcpy(numbers, labels, sizeof labels);
    memcpy(numbers + 6, label_lengths, sizeof label_lengths);
    memcpy(numbers + 6 + SEQUENCES, steps, sizeof steps);
    RUN(costs_are_those_of_all_ways_and_gradients_their_differences);
    RUN(what_cannot_be_is_an_error);
    return summary();
}
