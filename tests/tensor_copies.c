/* tensor-copies [--engine E] [--policy P] [--every N]: runs the copies of tests/tensor_maps as kernels, and compares what they leave with what
 * an H200 left. One line for each that differs, then "copies N: A agree, D differ". Run where HEDDLE_SOURCE says the source is.
 */
#include "oracle.h"

#include <inttypes.h>

#include "tensor_maps/forms.h"

static void write_copy(char *to, size_t size, const struct form *f)
{
    static const char *const coords[] = {"{%c0}", "{%c0, %c1}", "{%c0, %c1, %c2}", "{%c0, %c1, %c2, %c3}",
                                         "{%c0, %c1, %c2, %c3, %c4}"};
    static const char *const offsets[] = {"", "", "", ", {%o0}", ", {%o0, %o1}", ", {%o0, %o1, %o2}"};
    const char *at = coords[f->rank - 1];
    if (f->mode == STORE || f->mode == REDUCE)
        snprintf(to, size,
                 "cp.%sasync.bulk.tensor.%dd.global.shared::cta%s%s.bulk_group [%%map, %s], [%%at];\n"
                 "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n",
                 f->mode == REDUCE ? "reduce." : "", f->rank, f->mode == REDUCE ? "." : "",
                 f->mode == REDUCE ? OPS[f->op] : "", at);
    else
        snprintf(to, size,
                 "cp.async.bulk.tensor.%dd.shared::cluster.global%s.mbarrier::complete_tx::bytes [%%at], [%%map, %s], "
                 "[%%bar]%s;\n",
                 f->rank, f->mode == IM2COL ? ".im2col" : ".tile", at, f->mode == IM2COL ? offsets[f->rank] : "");
}

static void write_kernel(char *to, size_t size, const struct form *f)
{
    char copy[512];
    write_copy(copy, sizeof copy, f);
    bool loads = f->mode == LOAD || f->mode == IM2COL;
    snprintf(
        to, size,
        ".version 8.6\n.target sm_90\n.address_size 64\n"
        ".visible .entry copy(.param .align 64 .b8 map[128], .param .u64 image, .param .align 4 .b8 where[40])\n{\n"
        ".reg .b64 %%map, %%image, %%p; .reg .b32 %%at, %%bar, %%i, %%v, %%s, %%b, %%c<5>, %%o32; .reg .b16 %%o<3>; "
        ".reg .pred %%q;\n"
        ".shared .align 1024 .b8 room[40960]; .shared .align 8 .b64 bar;\n"
        "mov.b64 %%map, map; cvta.param.u64 %%map, %%map; ld.param.u64 %%image, [image];\n"
        "ld.param.b32 %%c0, [where]; ld.param.b32 %%c1, [where+4]; ld.param.b32 %%c2, [where+8];\n"
        "ld.param.b32 %%c3, [where+12]; ld.param.b32 %%c4, [where+16];\n"
        "ld.param.b32 %%o32, [where+20]; cvt.u16.u32 %%o0, %%o32; ld.param.b32 %%o32, [where+24]; cvt.u16.u32 %%o1, "
        "%%o32;\n"
        "ld.param.b32 %%o32, [where+28]; cvt.u16.u32 %%o2, %%o32;\n"
        "ld.param.b32 %%at, [where+32]; mov.u32 %%b, room; add.u32 %%at, %%at, %%b; mov.u32 %%bar, bar;\n"
        "mov.u32 %%i, 0;\nfill: cvt.u64.u32 %%p, %%i; add.u64 %%p, %%p, %%image; ld.global.u32 %%v, [%%p];\n"
        "add.u32 %%s, %%i, %%b; st.shared.u32 [%%s], %%v; add.u32 %%i, %%i, 4; setp.lt.u32 %%q, %%i, 32768; @%%q bra "
        "fill;\n"
        "fence.proxy.async;\n%s%s%s"
        "mov.u32 %%i, 0;\nback: cvt.u64.u32 %%p, %%i; add.u64 %%p, %%p, %%image; add.u32 %%s, %%i, %%b;\n"
        "ld.shared.u32 %%v, [%%s]; st.global.u32 [%%p], %%v; add.u32 %%i, %%i, 4; setp.lt.u32 %%q, %%i, 32768; @%%q "
        "bra back;\n"
        "ret;\n}\n",
        loads ? "ld.param.b32 %v, [where+36]; mbarrier.init.shared.b64 [%bar], 1; mbarrier.arrive.expect_tx.shared.b64 "
                "_, [%bar], %v;\n"
              : "",
        copy, loads ? "wait: mbarrier.try_wait.parity.shared.b64 %q, [%bar], 0; @!%q bra wait;\n" : "");
}

static hd_tensor_map map_of(const struct form *f, void *address)
{
    hd_tensor_map m = {.type = (unsigned)f->type, .rank = (unsigned)f->rank, .address = address};
    m.swizzle = (unsigned)f->swizzle;
    m.fill_nan = f->fill;
    m.im2col = f->mode == IM2COL;
    for (int d = 0; d < f->rank; d++) {
        m.dims[d] = f->dims[d];
        m.steps[d] = f->steps[d];
        m.box[d] = f->box[d];
        if (d + 1 < f->rank)
            m.strides_bytes[d] = f->strides[d];
    }
    for (int d = 0; d < 3; d++) {
        m.lower[d] = f->lower[d];
        m.upper[d] = f->upper[d];
    }
    m.channels = f->channels;
    m.pixels = f->pixels;
    return m;
}

struct room {
    hd_machine *machine;
    void *global, *image;
};

/* False where it does not end as on an H200, with the reason. */
static bool copy_agrees(struct room *r, const struct form *f, int launch, uint64_t hash, char *why, size_t size)
{
    _Alignas(64) uint8_t map[128];
    char text[8192];
    hd_module *module;
    hd_kernel *kernel;
    hd_report *report = NULL;
    hd_tensor_map m = map_of(f, (uint8_t *)r->global + GUARD + f->base);
    const char *error = NULL;
    if (hd_tensor_map_encode(&m, map, &error)) {
        snprintf(why, size, "encoding: %s", error);
        return false;
    }
    fill_global(f, r->global);
    for (uint32_t i = 0; i < SHARED / 4; i++)
        ((uint32_t *)r->image)[i] = shared_word(f, i);
    int32_t where[10];
    for (int i = 0; i < 5; i++)
        where[i] = f->coords[i];
    for (int i = 0; i < 3; i++)
        where[5 + i] = f->offsets[i];
    where[8] = f->at;
    where[9] = (int32_t)bytes_of(f);
    write_kernel(text, sizeof text, f);
    hd_source s = {"copy.ptx", text, strlen(text)};
    hd_result result = hd_module_load(r->machine, &s, 1, &module, &report);
    if (!oracle_ran(result, report, why, size))
        return false;
    report = NULL;
    result = hd_module_get_kernel(module, "copy", &kernel, &report);
    const void *args[] = {map, &r->image, where};
    hd_launch_config c = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .args = args};
    if (!result)
        result = hd_launch(kernel, &c, NULL, &report);
    bool ran = oracle_ran(result, report, why, size);
    hd_module_unload(module);
    if (ran != (launch == 0))
        return false;
    bool stores = f->mode == STORE || f->mode == REDUCE;
    uint64_t got = hash_of(stores ? r->global : r->image, stores ? GLOBAL + 2 * GUARD : SHARED);
    snprintf(why, size, "other bytes than on an H200");
    return !ran || got == hash;
}

int main(int argc, char **argv)
{
    char *with_folder[16], path[4096], text[512];
    int n = 0, number, encode, launch, done, seen = 0;
    uint64_t hash;
    unsigned agree = 0, differ = 0;
    const char *source = getenv("HEDDLE_SOURCE");
    for (; n < argc && n < 15; n++)
        with_folder[n] = argv[n];
    snprintf(path, sizeof path, "%s/tests/tensor_maps", source ? source : ".");
    with_folder[n++] = path;
    struct oracle_options o = oracle_parse(n, with_folder, ".", "h200.tsv");
    struct room r = {.machine = o.machine};
    snprintf(path, sizeof path, "%s/tests/tensor_maps/h200.tsv", source ? source : ".");
    FILE *file = fopen(path, "r");
    if (!file || !fgets(text, sizeof text, file) || hd_alloc(o.machine, GLOBAL + 2 * GUARD, &r.global) ||
        hd_alloc(o.machine, SHARED, &r.image))
        return ORACLE_USAGE;
    while (fscanf(file, "%d %d %d %d %" SCNx64, &number, &encode, &launch, &done, &hash) == 5) {
        struct form f = form_of(number);
        if (encode || seen++ % o.every)
            continue;
        bool good = copy_agrees(&r, &f, launch, hash, text, sizeof text);
        agree += good;
        differ += !good;
        if (!good)
            printf("form %d (mode %d, type %d, rank %d, launch %d): %s\n", number, f.mode, f.type, f.rank, launch,
                   text);
    }
    fclose(file);
    hd_machine_destroy(o.machine);
    printf("copies %u: %u agree, %u differ\n", agree + differ, agree, differ);
    return differ != 0;
}
