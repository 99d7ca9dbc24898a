/* The device of these figures: its limits, and its rates and latencies, each with its source. */

const limitTitles = {multiprocessors: ["multiprocessors", count], threads: ["threads of a multiprocessor", count], blocks: ["blocks of a multiprocessor", count],
    registers: ["registers of a multiprocessor", count], shared_bytes: ["shared memory of a multiprocessor", bytes], block_threads: ["threads of a block", count],
    block_shared_bytes: ["shared memory of a block", bytes], l2_bytes: ["L2", bytes], clock_khz: ["clock", k => `${digits(k / 1e6)}\u2009GHz`]};

function deviceView() {
    const rates = data.rates || [];
    return [
        h("h2", null, data.device),
        facts(Object.entries(data.limits || {}).filter(([k, v]) => limitTitles[k] && v > 0).map(([k, v]) => [limitTitles[k][0], limitTitles[k][1](v)])),
        h("section", {class: "card wide"}, heading("Rates and latencies"), rates.length ? table([
            {title: "of what", value: r => r.meaning, show: r => r.meaning, left: true, name: true},
            {title: "rate or latency", value: r => r.value, show: r => `${digits(r.value)} ${r.unit}`},
            {title: "known from", value: r => r.from, show: r => r.from, left: true},
        ], rates.slice(), 0, "Rates of the device") : null,
            note(rates.length ? "Estimated times and rooflines follow from these. A fit is the number that minimises the errors of the estimated times of recorded kernels."
                              : "No rates of this device are known, only its limits.")),
    ];
}
