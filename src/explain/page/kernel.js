/* One kernel: what it is, what bounds it, and what is to be done. */

const limitNames = {registers: "registers", shared_mem: "shared memory", warps: "threads", blocks: "blocks of a multiprocessor"};
const kindNames = {
    global_ld: "global loads", global_st: "global stores", global_red: "global reductions", global_atom: "global atomics",
    shared_ld: "shared loads", shared_st: "shared stores", shared_atom: "shared atomics", local_ld: "local loads", local_st: "local stores",
    const_ld: "constant loads", copy_ca: "cp.async.ca", copy_cg: "cp.async.cg", copy_st: "cp.async", bulk_ld: "bulk loads", bulk_st: "bulk stores",
    bulk_red: "bulk reductions", wgmma_ld: "wgmma",
};

/* What bounds and classes are called: [in short, in full]. */
function boundName(bound) {
    return bound ? data.names.bounds[bound] : "\u2013";
}

function className(key) {
    return data.names.classes[key];
}

/* Of its lines, and of the launch. */
function adviceOf(k, launch) {
    return (k.detail.advice || []).concat(launch.advice || []);
}

function adviceText(k, a) {
    return a.file ? [h("a", {href: `#source/${k.index}/${encodeURIComponent(a.file)}/${a.line}`}, `${a.file.split("/").pop()}`), " ", a.text] : a.text;
}

function adviceList(k, launch) {
    const list = adviceOf(k, launch);
    if (!list.length)
        return h("p", {class: "advice none"}, "There is no advice: the figures of this launch show nothing to change.");
    return h("ul", {class: "advice"}, list.map(a => h("li", null, adviceText(k, a))));
}

function boundsCard(l) {
    if (!l.bounds_ns)
        return card("Estimated time", note("Not all rates of this device are known: there are only limits and ceilings."));
    const rows = Object.entries(l.bounds_ns).map(([k, v]) => ({label: boundName(k), value: v, shown: `${nanoseconds(v)}, ${percent(v / l.time_ns)}`, strong: k === l.bound,
        color: k === l.bound ? "var(--c1)" : k === l.next_bound ? "var(--c0)" : "var(--c7)"}));
    const launch = (data.rates || []).find(r => r.name === "launch");
    if (launch)
        rows.push({label: "the launch itself", value: launch.value, shown: nanoseconds(launch.value), color: "var(--c7)"});
    rows.sort((a, b) => b.value - a.value);
    const shown = rows.filter(r => r.value > 0.005 * l.time_ns || r.strong);
    return card(`Estimated time: ${nanoseconds(l.time_ns)}`,
        h("p", null, "Decided by ", h("strong", null, boundName(l.bound)), "; next: ", boundName(l.next_bound), "."),
        barChart("The time that each resource alone would take", shown, {title: "if nothing else bounded it", show: nanoseconds}),
        h("p", {class: "note"}, "The percentage is the ", explained("share of peak"), "."),
        note("From an event before the launch to one after it, with a warm L2. Bounds overlap, and each launch takes at least 3 \u00b5s."));
}

function occupancyCard(l) {
    const o = l.occupancy, most = data.limits ? data.limits.threads / 32 : 64;
    const limits = Object.entries(o.limits).map(([k, v]) => ({name: limitNames[k] || k, blocks: v, decides: o.limiters.includes(k)}));
    return card(o.warps ? `Occupancy: ${o.warps} of ${most} warps (${percent(o.percent / 100)})` : "Occupancy: such a block does not fit",
        o.plot ? occupancyChart(o.plot, l.block[0] * l.block[1] * l.block[2], most) : null,
        table([{title: "limit", value: x => x.name, show: x => x.decides ? h("strong", null, x.name + " \u2014 decides") : x.name, left: true},
            {title: "blocks a multiprocessor", value: x => x.blocks}], limits, 1, "Limits of occupancy"),
        note(`${l.registers || "?"} registers a thread${l.registers_estimated ? " (an estimate: there is no machine code for this device)" : ""}, `
            + `${bytes(l.static_shared_bytes + l.dynamic_shared_bytes)} of shared memory a block.`
            + (o.clusters !== undefined ? ` The device holds ${count(o.clusters)} clusters of ${l.cluster[0] * l.cluster[1] * l.cluster[2]} blocks, `
                + `on ${o.multiprocessors} of its ${data.limits.multiprocessors} multiprocessors: each lies within one GPC.` : "")));
}

function globalCard(l) {
    const throughL1 = ["global_ld", "copy_ca"];
    const rows = [...globalKinds, "local_ld", "local_st"].filter(k => access(l, k).requests).map(k => ({k, a: access(l, k)}));
    if (!rows.length && !l.spills)
        return null;
    return card("Global and local memory: coalescing", table([
        {title: "access", value: r => kindNames[r.k], show: r => kindNames[r.k], left: true},
        {title: "requests", value: r => r.a.requests, hint: "warp instructions with at least one active lane"},
        {title: "sectors", value: r => r.a.sectors, hint: "32 bytes each"},
        {title: "sectors a request", value: r => r.a.sectors / r.a.requests, show: r => digits(r.a.sectors / r.a.requests)},
        {title: "ideal", value: r => r.a.ideal_sectors / r.a.requests, show: r => r.a.ideal_sectors ? digits(r.a.ideal_sectors / r.a.requests) : "\u2013", hint: "sectors of a request if the bytes of the lanes were contiguous"},
        {title: "wasted", value: r => 32 * Math.max(0, r.a.sectors - (r.a.ideal_sectors || r.a.sectors)), show: r => bytes(32 * Math.max(0, r.a.sectors - (r.a.ideal_sectors || r.a.sectors)))},
        {title: "found in L1", value: r => throughL1.includes(r.k) ? 1 - ratio(r.a.l1_miss_sectors || 0, r.a.sectors) : NaN, show: r => throughL1.includes(r.k) ? percent(1 - ratio(r.a.l1_miss_sectors || 0, r.a.sectors)) : "\u2013", hint: "an estimate"},
    ], rows, 2, "Accesses to global and local memory"),
        l.spills ? note(`Beside these, spilled registers, estimated: ${count(l.spills.loads)} loads and ${count(l.spills.stores)} stores of local memory, 4 sectors each.`) : null,
        l.footprint ? note(`Touched: ${bytes(32 * (l.footprint.touched_sectors || 0))} in ${count(l.footprint.touched_lines || 0)} lines of 128 bytes.`) : null);
}

function sharedCard(l) {
    const rows = sharedKinds.filter(k => access(l, k).requests).map(k => ({k, a: access(l, k)}));
    if (!rows.length)
        return null;
    return card("Shared memory: bank conflicts", table([
        {title: "access", value: r => kindNames[r.k], show: r => kindNames[r.k], left: true},
        {title: "requests", value: r => r.a.requests},
        {title: "wavefronts", value: r => r.a.wavefronts || 0, hint: "passes of the 32 banks"},
        {title: "a request", value: r => ratio(r.a.wavefronts, r.a.requests), show: r => digits(ratio(r.a.wavefronts || 0, r.a.requests))},
        {title: "without conflict", value: r => ratio(r.a.ideal_wavefronts, r.a.requests), show: r => digits(ratio(r.a.ideal_wavefronts || 0, r.a.requests))},
        {title: "conflicts", value: r => (r.a.wavefronts || 0) - (r.a.ideal_wavefronts || 0)},
    ], rows, 2, "Accesses to shared memory"));
}

/* A sector of global memory. */
function placeInMemory(p) {
    return p.of_bytes ? `byte ${count(p.offset)} of ${p.of || "an allocation of " + bytes(p.of_bytes)}` : "a sector";
}

function atomicsCard(l) {
    const rows = ["global_red", "global_atom", "shared_atom"].filter(k => access(l, k).requests).map(k => ({k, a: access(l, k)}));
    if (!rows.length)
        return null;
    return card("Atomics: contention", table([
        {title: "atomics", value: r => kindNames[r.k], show: r => kindNames[r.k], left: true},
        {title: "warp instructions", value: r => r.a.requests},
        {title: "lanes", value: r => r.a.lanes},
        {title: "lanes an address", value: r => ratio(r.a.lanes, r.a.distinct), show: r => digits(ratio(r.a.lanes, r.a.distinct)), hint: "in one warp instruction"},
    ], rows, 2, "Atomics"),
        l.footprint && l.footprint.hot ? table([
            {title: "hottest sectors", value: p => p.operations, show: p => placeInMemory(p), left: true},
            {title: "operations, one after the other", value: p => p.operations},
        ], l.footprint.hottest || [{operations: l.footprint.hot}], 1, "Sectors of global memory with the most atomic operations") : null);
}

function placeOf(i) {
    return i.line ? `${(i.file || "").split("/").pop()}:${i.line}` : `PTX ${i.ptx_line || ""}`;
}

function divergenceCard(k, l) {
    const rows = (k.detail.instructions || []).filter(i => i.branches && i.divergent);
    const lanes = simt(l);
    return card(`Divergence: ${digits(lanes)} of 32 lanes active (${percent(lanes / 32)})`,
        rows.length ? table([
            {title: "branch", value: placeOf, show: i => sourceLink(k, i), left: true},
            {title: "executed", value: i => i.branches, hint: "by warps"},
            {title: "lanes parted", value: i => i.divergent, show: i => `${count(i.divergent)} (${percent(i.divergent / i.branches)})`},
            {title: "threads that took it", value: i => i.taken || 0},
        ], rows, 2, "Divergent branches") : note(`${count(l.branches || 0)} branches were executed; none diverged.`));
}

/* Who waits: of all blocks, by the warp's place in its block. */
function waitsOfWarps(l) {
    const waits = l.barriers.wait_of_warp || [];
    return waits.some(n => n > 0) ? barChart("Waits at barriers by warp of the block", waits.map((n, i) => ({label: `warp ${i}`, value: n / l.blocks, shown: digits(n / l.blocks)})),
        {title: "waited at barriers, a block", show: count}) : null;
}

function barriersCard(k, l) {
    if (!l.barriers || !l.barriers.opened)
        return null;
    const rows = (k.detail.instructions || []).filter(i => i.barrier_warps);
    return card(`Barriers: opened ${count(l.barriers.opened)} times`,
        rows.length ? table([
            {title: "barrier", value: placeOf, show: i => sourceLink(k, i), left: true},
            {title: "warps came", value: i => i.barrier_warps},
            {title: "waited, mean", value: i => i.barrier_wait / i.barrier_warps, show: i => digits(i.barrier_wait / i.barrier_warps), hint: "instructions that other warps of the block executed meanwhile"},
            {title: "longest", value: i => i.barrier_longest || 0},
        ], rows, 2, "Barriers") : null, waitsOfWarps(l),
        note("Waits are counted in instructions that other warps of the block execute meanwhile."));
}

/* By the clocks of the warps of the block that is recorded. */
const doings = {run: ["run, or wait for own results", "var(--c0)"], memory: ["wait for memory", "var(--c1)"], barrier: ["wait at barriers", "var(--c2)"]};

function doingsCard(k, l) {
    if (!l.timeline)
        return null;
    const spans = l.timeline.warps.flat(), all = sum(spans, x => x.to - x.from);
    const rows = Object.entries(doings).map(([what, [label, color]]) => ({label, color, value: sum(spans.filter(x => x.what === what), x => x.to - x.from)}));
    rows.forEach(r => r.shown = percent(r.value / all));
    return all > 0 ? card("What warps do", barChart("How the warps of a block spend their time", rows, {title: "cycles of warps", show: count}),
        note(`Stall reasons by the model, of ${l.timeline.warps.length} warps of block (${l.timeline.block.join(", ")})${l.timeline.cut ? ", as far as they are recorded" : ""}: `
            + "the cost of sharing a multiprocessor is not included.")) : null;
}

/* All figures, for who knows them from there. */
function metricsCard(l) {
    const rows = Object.entries(l.metrics || {}).map(([name, value]) => ({name, value}));
    return rows.length ? lowered(card("In Nsight Compute's names", table([
        {title: "metric", value: r => r.name, show: r => h("code", null, r.name), left: true, name: true},
        {title: "value", value: r => r.value, show: r => Number.isInteger(r.value) ? String(r.value) : digits(r.value)},
    ], rows, 0, "Metrics of Nsight Compute"))) : null;
}

function mixCard(l) {
    const rows = Object.entries(l.classes || {}).filter(([, n]) => n > 0).map(([key, value]) => ({label: className(key)[0], tip: className(key)[1], value}));
    rows.sort((a, b) => b.value - a.value);
    const all = sum(rows, r => r.value), rest = rows.splice(13);
    if (rest.length) /* what is shown sums to the total */
        rows.push({label: "others", tip: rest.map(r => r.label).join(", "), value: sum(rest, r => r.value)});
    rows.forEach(r => r.shown = `${count(r.value)} (${percent(r.value / all)})`);
    return card(`Instruction mix: ${count(l.warp_instructions)} warp instructions`, barChart("Warp instructions of PTX by class", rows, {title: "warp instructions", show: count}));
}

function rooflineCard(l) {
    const r = l.roofline;
    if (!r)
        return null;
    const roofs = [{name: "DRAM", bandwidth: r.peak_dram, color: "var(--c0)"}, {name: "L2", bandwidth: r.peak_l2, color: "var(--c2)"},
        {name: "shared memory", bandwidth: r.peak_shared, color: "var(--c3)"}].filter(f => f.bandwidth > 0);
    const tensor = r.flops_tensor || 0, flops = r.flops + r.flops64 + tensor, time = l.time_ns;
    const peaks = [{name: "f32", rate: r.peak_flops}].concat(r.flops64 ? [{name: "f64", rate: r.peak_flops64}] : [],
        tensor ? [{name: `tensor cores, ${Object.keys(l.tensor).join(", ")}`, rate: r.peak_tensor}] : []).filter(p => p.rate > 0);
    const points = [["DRAM", r.dram_bytes, "var(--c0)"], ["L2", r.l2_bytes, "var(--c2)"], ["shared memory", r.shared_bytes, "var(--c3)"]]
        .filter(p => p[1] > 0 && flops > 0 && time > 0).map(p => ({name: p[0], intensity: flops / p[1], rate: flops / time, color: p[2]}));
    if (!peaks.length)
        return null;
    return card("Roofline", rooflineChart(roofs, peaks, points), legend(roofs.map(f => ({name: `${f.name}, ${count(f.bandwidth * 1e9)}B/s`, color: f.color}))),
        r.flops > 0 && r.loaded_bytes > 0 && r.peak_dram * r.flops / r.loaded_bytes < 1.001 * r.peak_flops ? h("p", null, `${count(r.flops)} operations of f32, ${digits(r.loaded_bytes / r.flops)} bytes loaded from global memory for each: `
            + `without caches, DRAM would limit them to ${count(1e9 * r.peak_dram * r.flops / r.loaded_bytes)}FLOP/s of ${count(1e9 * r.peak_flops)}FLOP/s.`) : null,
        tensor ? h("p", null, `${count(tensor)} tensor-core operations (${Object.keys(l.tensor).join(", ")})`
            + (time > 0 ? `: ${count(1e9 * tensor / time)}FLOP/s` : "")
            + (time > 0 && r.peak_tensor > 0 ? `, ${percent(tensor / time / r.peak_tensor)} of ${count(1e9 * r.peak_tensor)}FLOP/s. wgmma can reach that, mma and wmma cannot.` : ".")) : null,
        note(points.length ? `${count(flops)} operations. A point near its roof is bound by that memory.` : flops ? "There is no estimated time, and so no point." : "This launch has no operations of f32, f64 or tensor cores: there is no point."));
}

function sampling(k) {
    const n = k.detail.sampled;
    return n ? note(`${count(n)} launches, marked \u2248, were not counted; each takes the figures of the last counted launch with the same sizes. Counted ones differ by `
        + `${percent(k.detail.sampling_error)} at most.`) : null;
}

/* A long table scrolls within its card. */
function lowered(c) {
    c.querySelector("div.scroll").style.maxHeight = "28em";
    c.querySelector("div.scroll").style.overflowY = "auto";
    return c;
}

function launchesCard(k, current) {
    if (k.count < 2)
        return null;
    const rows = k.launches.map((l, i) => ({l, i}));
    const c = h("section", {class: "card wide"}, heading(`Its ${k.count} launches`), table([
        {title: "launch", value: r => r.i, show: r => h("a", {href: `#kernel/${k.index}/${r.i}`, "aria-current": r.l === current ? "true" : null}, `${r.l.sampled ? "\u2248" : ""}#${r.l.first}`), left: true},
        k.count > k.launches.length ? {title: "alike", value: r => r.l.times, hint: "the number of launches with the same figures, and the number of the first"} : null,
        {title: "grid", value: r => r.l.grid[0] * r.l.grid[1] * r.l.grid[2], show: r => dims(r.l.grid)},
        {title: "block", value: r => r.l.block[0] * r.l.block[1] * r.l.block[2], show: r => dims(r.l.block)},
        {title: "time", value: r => r.l.time_ns, show: r => nanoseconds(r.l.time_ns)},
        {title: "bound", value: r => boundName(r.l.bound), show: r => boundName(r.l.bound), left: true},
        {title: "warp instructions", value: r => r.l.warp_instructions},
        {title: "sectors", value: r => sectorsOf(r.l)},
        {title: "lanes", value: r => simt(r.l), show: r => digits(simt(r.l))},
    ].filter(Boolean), rows, 0, "Launches"), sampling(k));
    return lowered(c);
}

function kernelView(k, at) {
    const which = k.launches[at] ? at : 0, l = k.launches[which];
    return [
        h("h2", null, h("code", null, k.kernel)),
        h("div", {class: "tools"}, kernelPicker("kernel", k), h("a", {href: `#source/${k.index}`}, "its source, annotated"),
            l.timeline ? h("a", {href: `#warps/${k.index}/${which}`}, "its warps over time") : null),
        facts([["launch", `${l.first} of ${k.count}${l.times > 1 ? `, ${l.times} of them alike` : ""}${l.sampled ? ", not counted: as one like it" : ""}`], l.launched_by ? ["launched by", l.launched_by] : null, ["grid", dims(l.grid)], ["block", dims(l.block)],
            l.cluster ? ["cluster", dims(l.cluster)] : null,
            ["time, estimated", nanoseconds(l.time_ns)], ["bound", boundName(l.bound)], ["registers", (l.registers || "?") + (l.registers_estimated ? " (estimate)" : "")],
            l.spills ? ["spilled", bytes(l.spills.bytes) + " a thread (estimate)"] : null,
            ["shared memory", bytes(l.static_shared_bytes + l.dynamic_shared_bytes)], ["local memory", bytes(l.local_bytes || 0) + " a thread"],
            ["occupancy", percent(l.occupancy.percent / 100)]]),
        h("section", {class: "card wide"}, heading("What to change"), adviceList(k, l)),
        h("div", {class: "cards"}, boundsCard(l), doingsCard(k, l), occupancyCard(l), globalCard(l), sharedCard(l), atomicsCard(l), divergenceCard(k, l), barriersCard(k, l),
            mixCard(l), rooflineCard(l), metricsCard(l), launchesCard(k, l)),
    ];
}

function kernelPicker(view, k) {
    if (kernels.length < 2)
        return null;
    return h("label", null, "kernel ", h("select", {onchange: e => { location.hash = `#${view}/${e.target.value}`; }},
        kernels.map(x => h("option", {value: x.index, selected: x === k}, shortName(x.kernel)))));
}

/* ---- all kernels ---- */

/* Of the time of all launches and calls. */
function shareColumn(time, hint) {
    const share = row => time(row) / (kernelTime + callTime);
    return {title: "share", value: share, show: row => [h("span", {class: "bar", style: {width: 60 * share(row) + "px"}}), " " + percent(share(row))], left: true, hint};
}

function callsCard() {
    return h("section", {class: "card wide"}, heading("Calls of libraries"), table([
        {title: "function", value: c => c.call, show: c => c.call, left: true, name: true},
        {title: "time at least", value: c => c.least_ns, show: c => c.least_ns ? nanoseconds(c.least_ns) : "\u2013",
            hint: "a lower bound: one launch for each call, and its operations or its bytes at the device's rate, whichever takes longer"},
        shareColumn(c => c.least_ns, "of all launches' estimates and all calls' least times"),
        {title: "calls", value: c => c.calls},
        {title: "bound", value: c => boundName(c.bound), show: c => boundName(c.bound), left: true, hint: "beside its launches"},
        {title: "operations", value: c => c.flops},
        {title: "of", value: c => c.unit, show: c => c.unit, left: true},
        {title: "bytes", value: c => c.bytes, show: c => bytes(c.bytes), hint: "that it reads and writes"},
    ], [...data.calls], 1, "Calls of libraries"));
}

function overviewView() {
    const sectorsOfRequest = l => ratio(sectorsOf(l, warpKinds), sum(warpKinds, x => access(l, x).requests));
    const rows = kernels.map(k => {
        const asked = k.launches.map(sectorsOfRequest).filter(isFinite);
        return {...k, first: k.launches[0], sectors: asked.reduce((a, b) => Math.max(a, b), -Infinity), advice: adviceOf(k, k.launches[0])};
    });
    const calls = sum(data.calls || [], c => c.calls);
    return [
        facts([["kernels", String(kernels.length)], ["launches", String(data.launches.length)], ["estimated time of all launches", kernelTime ? nanoseconds(kernelTime) : "not known"],
            calls ? ["calls of libraries", String(calls)] : null, callTime ? ["least time of all calls", nanoseconds(callTime)] : null, ["device", data.device], data.uncounted ? ["not counted", String(data.uncounted)] : null]),
        rows.length ? h("section", {class: "card wide"}, heading("Kernels"), table([
            {title: "kernel", value: k => shortName(k.kernel), show: k => h("a", {href: `#kernel/${k.index}`}, shortName(k.kernel)), left: true, name: true, tip: k => k.kernel},
            {title: "time", value: k => k.time, show: k => k.time ? nanoseconds(k.time) : "\u2013", hint: "estimated, of all its launches"},
            shareColumn(k => k.time),
            {title: "launches", value: k => k.count},
            {title: "bound", value: k => boundName(k.first.bound), show: k => boundName(k.first.bound), left: true, hint: "of its first launch", filter: true},
            {title: "occupancy", value: k => k.first.occupancy.percent, show: k => percent(k.first.occupancy.percent / 100)},
            {title: "sectors a request", value: k => k.sectors, show: k => digits(k.sectors), hint: "global memory; 4 is ideal for 4 bytes a lane"},
            {title: "bank conflicts", value: k => sum(k.launches, l => l.times * conflictsOf(l))},
            {title: "lanes active", value: k => simt(k.first), show: k => digits(simt(k.first)), hint: "of 32"},
            {title: "advice", value: k => k.advice.length},
        ], rows, 1, "Kernels")) : null,
        calls ? callsCard() : null,
        rows.some(k => k.advice.length) ? h("section", {class: "card wide"}, heading("What to change first"),
            h("ul", {class: "advice"}, rows.flatMap(k => k.advice.slice(0, 2).map(a => ({k, a}))).slice(0, 8)
                .map(({k, a}) => h("li", null, h("a", {href: `#kernel/${k.index}`}, shortName(k.kernel)), ": ", adviceText(k, a))))) : null,
    ];
}
