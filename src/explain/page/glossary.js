/* What each figure of this page is, and what Nsight Compute calls it: [what it is, its names there]. The words are those of headings,
 * facts and columns. */
const glossary = {
    /* a launch */
    "kernel": ["A function that runs on the device, with the arguments of its template.", "Function Name"],
    "launch": ["One call of a kernel with <<<grid, block>>>; launches of a kernel are numbered.", "ID"],
    "launches": ["How often the kernel was launched; launches with the same figures are one row.", ""],
    "alike": ["The number of launches with the same figures, and the number of the first of them.", ""],
    "grid": ["The number of blocks, in each direction.", "launch__grid_size"],
    "block": ["The number of threads of a block, in each direction.", "launch__block_size"],
    "cluster": ["The number of blocks that run at the same time and can access each other's shared memory, in each direction.", "launch__cluster_size"],
    "registers": ["Registers of 32 bits that a thread has. An estimate, where there is no machine code for this device.", "launch__registers_per_thread"],
    "spilled": ["Values that a thread keeps in local memory because it has too few registers.", "smsp__inst_executed_op_local_*"],
    "shared memory": ["Memory of a block, static and dynamic.", "launch__shared_mem_per_block_static, launch__shared_mem_per_block_dynamic"],
    "local memory": ["Memory of a thread: arrays with variable indices, and spilled registers.", ""],
    /* time */
    "time": ["The estimated time from an event before the launch to one after it, with a warm L2; for a kernel, the sum over its launches.", "gpu__time_duration.sum"],
    "time, estimated": ["The estimated time from an event before the launch to one after it, with a warm L2.", "gpu__time_duration.sum"],
    "estimated time": ["The estimate, the resource that decides it, and the time that each resource alone would take.", "gpu__time_duration.sum"],
    "estimated time of all launches": ["The sum of the estimated times.", "gpu__time_duration.sum"],
    "bound": ["The resource that decides the estimated time. The kernel gets faster if it uses less of this resource.", "GPU Speed Of Light"],
    "share": ["The share of the total time: the estimates of all launches and the least times of all library calls.", ""],
    "share of peak": ["The time that a resource needs at its highest rate, as a share of the estimated time. At 100 % it decides the time.", "*.avg.pct_of_peak_sustained_elapsed"],
    "what warps do": ["How the warps of the recorded block spend their cycles: running, waiting for memory, waiting at barriers. Each warp is timed alone; the cost of sharing a multiprocessor is not included.", "smsp__average_warps_issue_stalled_*: selected and not_selected, wait, math_pipe (they run); long_scoreboard (memory); barrier"],
    "roofline": ["Operations a second over operations a byte, below the highest rates of the memories (slanted) and of the arithmetic (level).", "Roofline Chart"],
    /* multiprocessors */
    "occupancy": ["The number of warps of this kernel that a multiprocessor can hold, as a share of the warps that it can hold at most.", "sm__maximum_warps_per_active_cycle_pct"],
    "limit": ["A limit of a multiprocessor. The limit that allows the fewest blocks decides.", "launch__occupancy_limit_*"],
    "blocks a multiprocessor": ["How many blocks this limit alone would allow.", "launch__occupancy_limit_*"],
    /* memory */
    "global and local memory": ["How well the addresses of a warp's lanes share sectors of 32 bytes.", "Memory Workload Analysis"],
    "access": ["The kind of instruction.", ""],
    "requests": ["Warp instructions with at least one active lane that access memory.", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum and its kin"],
    "sectors": ["Pieces of 32 bytes of memory that the requests touch.", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum and its kin"],
    "sectors a request": ["Sectors of a request: 4 is ideal for 4 bytes a lane, 32 is the worst. For a kernel, its worst launch.", "Sectors/Req"],
    "ideal": ["Sectors of a request if the bytes of the lanes were contiguous.", "smsp__sass_l1tex_t_sectors_*_ideal"],
    "wasted": ["Bytes of sectors beyond the ideal ones.", ""],
    "found in l1": ["The share of sectors that hit in the L1 cache. An estimate.", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"],
    "wavefronts": ["Passes through the 32 banks of shared memory.", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum and its kin"],
    "a request": ["Wavefronts for each request.", ""],
    "without conflict": ["Wavefronts of a request without bank conflicts.", "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_ideal"],
    "conflicts": ["Further wavefronts, because lanes access different words in one bank.", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum and its kin"],
    "bank conflicts": ["Further wavefronts of all launches, because lanes access different words in one bank of shared memory.", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"],
    "atomics": ["How many lanes change the same address, one after the other.", "smsp__inst_executed_op_global_red.sum and its kin"],
    "lanes an address": ["Lanes of a warp instruction that change the same address.", ""],
    "hottest sectors": ["The sectors of global memory that most atomic operations change.", ""],
    "operations, one after the other": ["Atomic operations on that sector: the hardware does them one by one.", ""],
    /* threads */
    "divergence": ["Lanes of a warp took different branches, which then run one after the other.", "smsp__sass_branch_targets_threads_divergent.sum"],
    "lanes active": ["Lanes that take part in a warp instruction, of 32, on average.", "smsp__thread_inst_executed_per_inst_executed.ratio"],
    "lanes": ["Active lanes: their sum (for atomics), or their average of 32 (for launches).", "smsp__thread_inst_executed.sum"],
    "branch": ["The place of a branch.", ""],
    "executed": ["How often warps reached it.", "smsp__sass_branch_targets"],
    "lanes parted": ["How often some lanes of a warp took the branch and some did not.", "smsp__sass_branch_targets_threads_divergent.sum"],
    "threads that took it": ["How many threads took the branch.", ""],
    "barriers": ["Barriers of blocks, and which warps wait there.", "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"],
    "barrier": ["The place of a barrier.", ""],
    "warps came": ["How often warps reached it.", ""],
    "waited, mean": ["Instructions that other warps of the block executed while a warp waited, on average.", ""],
    "longest": ["The same for the warp that waited longest.", ""],
    "instruction mix": ["PTX instructions by class; the classes sum to all. 'folded' are those that become a part of another instruction.", "sass__inst_executed_per_opcode"],
    "warp instructions": ["Instructions that warps executed.", "smsp__inst_executed.sum"],
    /* the program */
    "kernels": ["All kernels that were launched, the longest first.", "Summary"],
    "calls of libraries": ["Calls of cuBLAS, cuFFT and others, with the least time that they need.", ""],
    "function": ["A function of a library.", ""],
    "time at least": ["A lower bound: one launch for each call, and its operations or its bytes at the device's rate, whichever takes longer.", ""],
    "least time of all calls": ["The sum of the least times.", ""],
    "calls": ["How often the function was called.", ""],
    "operations": ["Additions and multiplications.", ""],
    "of": ["The type of the numbers.", ""],
    "bytes": ["Bytes that the calls read and write.", ""],
    "device": ["The GPU that the estimates are for.", "Device"],
    "not counted": ["Launches that were not counted.", ""],
    "advice": ["What to change, as the figures show.", "Rules"],
    "what to change": ["What is worth changing, as the figures show, with the lines.", "Rules"],
    "what to change first": ["The first advice of each kernel, the longest kernel first.", "Rules"],
    "its launches": ["The launches of this kernel, each with its figures.", ""],
    "in nsight compute's names": ["The figures by the names that `ncu --metrics` knows.", "Raw"],
    "metric": ["The name in Nsight Compute.", ""],
    "value": ["The value that an H200 would show, or an estimate of it.", ""],
    /* a comparison */
    "what was counted": ["Figures that differ between the two runs.", "Baselines"],
    "figure": ["What was counted.", ""],
    "before": ["In the first run.", ""],
    "after": ["In the second run.", ""],
    "change": ["The difference from the first run to the second.", ""],
    "speed": ["How many times as fast the kernel is in the second run.", ""],
    "difference": ["The estimated time that the change saves, over all launches.", ""],
    "bound before": ["The resource that decided the time in the first run.", ""],
    "bound after": ["The resource that decides the time in the second run.", ""],
    /* the device */
    "rates and latencies": ["Rates and latencies of the device, from which the estimates are computed.", ""],
    "of what": ["The operation that the rate or latency belongs to.", ""],
    "rate or latency": ["The number that the estimates use.", ""],
    "known from": ["Where the number comes from: a measurement, NVIDIA's documents, or a fit.", ""],
};

/* A heading without its figures: "Occupancy: 64 of 64 warps" is "occupancy", "Its 12 launches" is "its launches". */
function termOf(title) {
    return title.split(":")[0].replace(/ \d+/g, "").trim().toLowerCase();
}

function meaningOf(title) {
    const entry = glossary[termOf(title)];
    return entry ? entry[0] : null;
}

/* A heading or the name of a fact, and the way to what it means. */
function explained(title) {
    const key = termOf(title);
    return glossary[key] ? h("a", {class: "term", href: `#glossary/${encodeURIComponent(key)}`, title: glossary[key][0]}, title) : title;
}

function glossaryView(term) {
    const key = term && decodeURIComponent(term), rows = Object.entries(glossary).map(([name, [text, theirs]]) => ({name, text, theirs}));
    if (key)
        afterwards(() => {
            const row = document.getElementById("term");
            if (row)
                row.scrollIntoView({block: "center"});
        });
    return [h("h2", null, "What the figures mean"), h("div", {class: "scroll"}, h("table", {class: "glossary"}, h("thead", null, h("tr", null,
        ["word", "what it is", "in Nsight Compute"].map(t => h("th", {scope: "col", class: "left"}, t)))),
    h("tbody", null, rows.map(r => h("tr", {id: r.name === key ? "term" : null, class: r.name === key ? "target" : null},
        h("th", {scope: "row", class: "left"}, r.name), h("td", {class: "left"}, r.text), h("td", {class: "left"}, h("code", null, r.theirs))))))),
    note("Heddle's docs/EXPLAIN.md says how each is counted or estimated, and how far it is from an H200's.")];
}
