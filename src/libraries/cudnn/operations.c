/* Reads the graphs of operations.h from descriptors, and refuses what is not supported. */
#include "libraries/cudnn/operations.h"

#include <math.h>
#include <string.h>

static unsigned pointwise_operands(int mode)
{
    switch (mode) {
#define POINTWISE(number, n, value)                                                                                    \
    case number: return n;
#include "libraries/cudnn/pointwise.def"
#undef POINTWISE
    case POINTWISE_GEN_INDEX: return 1;
    default: return 0;
    }
}

static bool known_type(const struct value *v)
{
    switch (v->t.type) {
    case CUDNN_DATA_FLOAT:
    case CUDNN_DATA_HALF:
    case CUDNN_DATA_BFLOAT16: return true;
    case TYPE_OF_INT32: return !v->is_by_value;
    case TYPE_OF_INT64: return !v->is_by_value && !v->is_virtual;
    case TYPE_OF_BOOLEAN: return v->is_virtual;
    default: return false;
    }
}

static bool same_sizes(const struct tensor *a, const struct tensor *b)
{
    for (unsigned i = 0; i < a->n && a->n == b->n; i++)
        if (a->dim[i] != b->dim[i])
            return false;
    return a->n == b->n && a->type == b->type;
}

/* The number of the tensor's value, which is added where it is new; or why it cannot be one. */
static const char *value_of(struct operations *o, const struct descriptor *d, uint8_t *number)
{
    struct value v = {.id = attribute_int(d, ATTR_TENSOR_UNIQUE_ID, 0),
                      .is_virtual = attribute_int(d, ATTR_TENSOR_IS_VIRTUAL, 0) != 0,
                      .is_by_value = attribute_int(d, ATTR_TENSOR_IS_BY_VALUE, 0) != 0};
    if (!descriptor_tensor(d, &v.t) || !known_type(&v) || (v.is_by_value && count_of(&v.t, v.t.n) != 1))
        return "a tensor of this type or size";
    for (unsigned i = 0; i < o->value_count; i++)
        if (o->values[i].id == v.id)
            return *number = (uint8_t)i, same_sizes(&v.t, &o->values[i].t) ? NULL : "two tensors with one unique ID";
    if (o->value_count == MAX_VALUES)
        return "that many tensors";
    if (attribute_of(d, ATTR_TENSOR_RAGGED_OFFSET))
        return "a ragged tensor";
    *number = (uint8_t)o->value_count;
    o->values[o->value_count++] = v;
    return NULL;
}

/* Does each axis of `few` divide that of `many`, from axis `from` up to axis `to`? */
static bool divides(const struct tensor *few, const struct tensor *many, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        if (many->dim[i] % few->dim[i])
            return false;
    return true;
}

/* Is it an integer in memory? Only masks read those. */
static bool is_seed(const struct value *v)
{
    return !v->is_virtual && (v->t.type == TYPE_OF_INT32 || v->t.type == TYPE_OF_INT64);
}

size_t value_bytes(const struct value *v)
{
    return v->t.type == TYPE_OF_INT64 ? 8 : v->t.type == TYPE_OF_INT32 ? 4 : tensor_bytes(&v->t);
}

static bool fits(const struct operations *o, const struct operation *p)
{
    const struct tensor *y = &o->values[p->out].t, *x = operand(o, p, 0);
    unsigned n = y->n, last = n - 1;
    bool is_mask = p->type == BACKEND_OPERATION_RNG;
    if (is_seed(&o->values[p->out]))
        return false;
    for (unsigned i = 0; i < p->operands; i++)
        if ((!is_mask && operand(o, p, i)->n != n) || is_seed(&o->values[p->in[i]]) != is_mask)
            return false;
    if (p->type == BACKEND_OPERATION_MATMUL) {
        const struct tensor *b = operand(o, p, 1);
        return n >= 2 && x->dim[last - 1] == y->dim[last - 1] && b->dim[last] == y->dim[last] &&
               x->dim[last] == b->dim[last - 1] && divides(x, y, 0, last - 1) && divides(b, y, 0, last - 1);
    }
    if (p->type == BACKEND_OPERATION_REDUCTION)
        return divides(y, x, 0, n);
    if (p->type == BACKEND_OPERATION_RESHAPE) { /* the result sees the operand's memory */
        struct tensor seen = *y;
        seen.type = x->type;
        return tensor_bytes(&seen) <= tensor_bytes(x);
    }
    for (unsigned i = 0; p->type == BACKEND_OPERATION_POINTWISE && i < p->operands; i++)
        if (!divides(operand(o, p, i), y, 0, n) ||
            (operand(o, p, i)->dim[last] != 1 && operand(o, p, i)->dim[last] != y->dim[last]))
            return false;
    return p->type != BACKEND_OPERATION_POINTWISE || (p->axis >= 0 && p->axis < (int)n);
}

/* A plain ReLU, without clips at other values. */
static bool is_plain_relu(const struct descriptor *kind)
{
    return attribute_number(kind, ATTR_POINTWISE_LOWER_CLIP, 0) == 0 &&
           attribute_number(kind, ATTR_POINTWISE_UPPER_CLIP, INFINITY) >= 1e30 &&
           attribute_number(kind, ATTR_POINTWISE_SLOPE, 0) == 0;
}

static void pack_floats(struct tensor *t)
{
    int64_t stride = 1;
    t->type = CUDNN_DATA_FLOAT;
    for (unsigned i = t->n; i-- > 0; stride *= t->dim[i])
        t->stride[i] = stride;
}

static const char *read_convolution(struct operations *o, const struct descriptor *d, struct operation *p)
{
    int64_t ids[3];
    if (o->convolution_count == MAX_CONVOLUTIONS)
        return "that many convolutions";
    struct convolution *c = &o->convolutions[p->mode = (int)o->convolution_count++];
    if (!descriptor_convolution(d, c, ids))
        return "a convolution that is not complete";
    pack_floats(&c->x);
    pack_floats(&c->w);
    pack_floats(&c->y);
    return c->beta != 0 ? "a convolution that is added to a result" : convolution_wrong(c);
}

static const char *read_operation(struct operations *o, const struct descriptor *d)
{
    struct operation p = {.type = d ? d->type : -1, .alpha = {1, 1}};
    int names[MAX_OPERANDS] = {0}, out;
    switch (p.type) {
    case BACKEND_CONVOLUTION_FORWARD: {
        const char *wrong = read_convolution(o, d, &p);
        if (wrong)
            return wrong;
        p.operands = 2;
        names[0] = ATTR_OPERATION_FORWARD_X;
        names[1] = ATTR_OPERATION_FORWARD_W;
        out = ATTR_OPERATION_FORWARD_Y;
        break;
    }
    case BACKEND_OPERATION_MATMUL:
        p.operands = 2;
        names[0] = ATTR_MATMUL_A;
        names[1] = ATTR_MATMUL_B;
        out = ATTR_MATMUL_C;
        if (attribute_of(d, ATTR_MATMUL_M_OVERRIDE) || attribute_of(d, ATTR_MATMUL_M_OVERRIDE + 1) ||
            attribute_of(d, ATTR_MATMUL_M_OVERRIDE + 2))
            return "a product of sizes in memory";
        break;
    case BACKEND_OPERATION_POINTWISE: {
        const struct descriptor *kind = attribute_descriptor(d, ATTR_POINTWISE_DESCRIPTOR);
        p.mode = (int)attribute_int(kind, ATTR_POINTWISE_MODE, -1);
        p.axis = (int)attribute_int(kind, ATTR_POINTWISE_AXIS, 0);
        p.operands = pointwise_operands(p.mode);
        if (p.operands == 0 || (p.mode == POINTWISE_RELU && !is_plain_relu(kind)))
            return "this mode of a pointwise operation";
        p.alpha[0] = (float)attribute_number(d, ATTR_POINTWISE_ALPHA1, 1);
        p.alpha[1] = (float)attribute_number(d, ATTR_POINTWISE_ALPHA1 + 1, 1);
        names[0] = ATTR_POINTWISE_X;
        names[1] = ATTR_POINTWISE_B;
        names[2] = ATTR_POINTWISE_T;
        out = ATTR_POINTWISE_Y;
        break;
    }
    case BACKEND_OPERATION_REDUCTION:
        p.operands = 1;
        p.mode = (int)attribute_int(attribute_descriptor(d, ATTR_REDUCTION_DESCRIPTOR), ATTR_REDUCTION_MODE, -1);
        if (p.mode < 0 || p.mode >= REDUCE_MODES)
            return "this mode of a reduction";
        names[0] = ATTR_REDUCTION_X;
        out = ATTR_REDUCTION_Y;
        break;
    case BACKEND_OPERATION_RESHAPE:
        p.operands = 1;
        names[0] = ATTR_RESHAPE_X;
        out = ATTR_RESHAPE_Y;
        break;
    case BACKEND_OPERATION_RNG: {
        const struct descriptor *kind = attribute_descriptor(d, ATTR_RNG_DESCRIPTOR);
        if (attribute_int(kind, ATTR_RNG_DISTRIBUTION, -1) != RNG_BERNOULLI || !attribute_descriptor(d, ATTR_RNG_SEED))
            return "random numbers of this distribution or seed";
        p.operands = attribute_of(d, ATTR_RNG_OFFSET) ? 2 : 1;
        p.alpha[0] = (float)attribute_number(kind, ATTR_RNG_PROBABILITY, 0);
        names[0] = ATTR_RNG_SEED;
        names[1] = ATTR_RNG_OFFSET;
        out = ATTR_RNG_Y;
        break;
    }
    default: return "an operation of this kind";
    }
    for (unsigned i = 0; i <= p.operands; i++) {
        const struct descriptor *t = attribute_descriptor(d, i < p.operands ? names[i] : out);
        const char *wrong = t ? value_of(o, t, i < p.operands ? &p.in[i] : &p.out) : "an operation without a tensor";
        if (wrong)
            return wrong;
    }
    if (!fits(o, &p))
        return "an operation whose tensors have these sizes";
    for (unsigned i = 0; i < p.operands; i++)
        o->values[p.in[i]].uses += is_read(&p, i);
    o->values[p.out].is_written = true;
    o->list[o->count++] = p;
    return NULL;
}

/* Does an operation of the list, from `from` on, write what p reads? */
static bool must_wait(const struct operations *o, unsigned from, const struct operation *p)
{
    for (unsigned i = 0; i < p->operands; i++)
        for (unsigned k = from; k < o->count && is_read(p, i); k++)
            if (o->list[k].out == p->in[i])
                return true;
    return false;
}

/* Graphs have their operations in any order: puts each behind those whose results it reads. */
static const char *sort(struct operations *o)
{
    for (unsigned i = 0; i < o->count; i++) {
        unsigned k = i;
        while (k < o->count && must_wait(o, i, &o->list[k]))
            k++;
        if (k == o->count)
            return "an operation that depends on its own result";
        const struct operation p = o->list[k];
        memmove(&o->list[i + 1], &o->list[i], (k - i) * sizeof p);
        o->list[i] = p;
    }
    for (unsigned i = 0; i < o->value_count; i++)
        if (o->values[i].is_virtual && o->values[i].uses && !o->values[i].is_written)
            return "a virtual tensor that no operation computes";
    return NULL;
}

const char *operations_read(const struct descriptor *graph, struct operations *o)
{
    const struct attribute *ops = attribute_of(graph, ATTR_GRAPH_OPS);
    memset(o, 0, sizeof *o);
    if (!ops || ops->type != TYPE_DESCRIPTOR || ops->n < 1 || ops->n > MAX_OPERATIONS)
        return "this number of operations";
    for (int64_t i = 0; i < ops->n; i++) {
        const char *wrong = read_operation(o, ((struct descriptor **)ops->values)[i]);
        if (wrong)
            return wrong;
    }
    return sort(o);
}

static double operation_flops(const struct operations *o, const struct operation *p)
{
    const struct tensor *x = operand(o, p, 0), *y = &o->values[p->out].t;
    const double results = (double)count_of(y, y->n);
    switch (p->type) {
    case BACKEND_CONVOLUTION_FORWARD: return convolution_flops(&o->convolutions[p->mode]);
    case BACKEND_OPERATION_MATMUL: return 2 * results * (double)x->dim[x->n - 1];
    case BACKEND_OPERATION_REDUCTION: return (double)count_of(x, x->n);
    case BACKEND_OPERATION_POINTWISE: return results;
    default: return 0; /* moves elements, or draws bits */
    }
}

double operations_flops(const struct operations *o)
{
    double flops = 0;
    for (unsigned i = 0; i < o->count; i++)
        flops += operation_flops(o, &o->list[i]);
    return flops;
}
