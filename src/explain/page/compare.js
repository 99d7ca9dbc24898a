/* Two runs, before and after a change: what it has done, by kernel (cli/explain_compare.c). */

const sideNames = ["before", "after"], sideColors = ["var(--c7)", "var(--c0)"];

function speed(before, after) {
    if (!(before > 0) || !(after > 0))
        return "\u2013";
    const times = before / after;
    return Math.abs(times - 1) < 0.005 ? "the same" : times > 1 ? `${digits(times)}\u00d7 as fast` : `${digits(1 / times)}\u00d7 as slow`;
}

function change(before, after) {
    return before > 0 ? `${after > before ? "+" : "\u2212"}${percent(Math.abs(after / before - 1))}` : "new";
}

/* rows: {label, values: [before, after], shown: [before, after]}; two bars each. */
function pairChart(name, rows, unit) {
    const width = chartWidth(), left = Math.min(190, width * 0.42), right = 86, row = 34, height = rows.length * row + 34;
    const most = Math.max(...rows.flatMap(r => r.values), 1e-300), scale = (width - left - right) / most;
    return figure(name, width, height,
        linearTicks(most, 4).map(t => [s("line", {class: "grid", x1: left + t * scale, x2: left + t * scale, y1: 0, y2: height - 28}),
            text(left + t * scale, height - 14, tickText(unit.show(t)), {"text-anchor": "middle"})]),
        rows.map((r, i) => [text(left - 7, i * row + 20, fitted(r.label, left), {"text-anchor": "end"}),
            r.values.map((v, side) => [
                s("rect", {x: left, y: i * row + 4 + 13 * side, width: Math.max(1, v * scale), height: 11, rx: 2, fill: sideColors[side]},
                    s("title", null, `${r.label}, ${sideNames[side]}: ${r.shown[side]}`)),
                text(left + v * scale + 5, i * row + 14 + 13 * side, r.shown[side])])]),
        text(left + (width - left - right) / 2, height, unit.title, {"text-anchor": "middle"}));
}

function pairLegend() {
    return legend(sideNames.map((name, i) => ({name, color: sideColors[i]})));
}

function changedBounds(k) {
    const [a, b] = k.sides, least = 0.02 * Math.max(a.time_ns, b.time_ns);
    const rows = Object.keys(a.bounds_ns).map(key => ({label: boundName(key), values: [a.bounds_ns[key], b.bounds_ns[key]]}))
        .filter(r => Math.max(...r.values) > least).sort((x, y) => Math.max(...y.values) - Math.max(...x.values));
    rows.unshift({label: "all in all", values: [a.time_ns, b.time_ns]});
    rows.forEach(r => r.shown = r.values.map(nanoseconds));
    return card(`Estimated time: ${nanoseconds(a.time_ns)} before, ${nanoseconds(b.time_ns)} after: ${speed(a.time_ns, b.time_ns)}`,
        h("p", null, "Decided by ", h("strong", null, boundName(a.bound)), a.bound === b.bound ? ", as before." : [" before, by ", h("strong", null, boundName(b.bound)), " after."]),
        pairChart("The kernel's times before and after, and the time that each resource alone would take", rows, {title: "of all launches", show: nanoseconds}), pairLegend());
}

function changedFigures(k) {
    const [a, b] = k.sides;
    const rows = data.comparison.figures.map((name, i) => ({name, values: [a.figures[i], b.figures[i]], show: count}));
    rows.push({name: "launches", values: [a.launches, b.launches], show: count}, {name: "registers a thread", values: [a.registers, b.registers], show: count},
        {name: "occupancy", values: [a.occupancy, b.occupancy], show: x => percent(x / 100)});
    const changed = rows.filter(r => r.values[0] !== r.values[1]), same = rows.filter(r => r.values[0] === r.values[1] && r.values[0] > 0);
    return card("What was counted", changed.length ? table([
        {title: "figure", value: r => r.name, show: r => r.name, left: true},
        {title: "before", value: r => r.values[0], show: r => r.show(r.values[0])},
        {title: "after", value: r => r.values[1], show: r => r.show(r.values[1])},
        {title: "change", value: r => ratio(r.values[1], r.values[0]), show: r => change(...r.values)},
    ], changed, 3, "Figures that have changed") : note("No figure has changed."),
        same.length ? note(`The same: ${same.map(r => r.name).join(", ")}.`) : null);
}

/* By what it is about: lines move when a source is changed. */
function changedAdvice(k) {
    const [a, b] = k.sides.map(x => x.advice || []), without = (list, other) => list.filter(x => !other.some(y => y.code === x.code));
    const part = (title, list) => list.length ? [h("h4", null, title), h("ul", {class: "advice"}, list.map(x => h("li", null, x.file ? `${x.file.split("/").pop()} ` : "", x.text)))] : null;
    const parts = [part("No longer said", without(a, b)), part("New", without(b, a)), part("Still said", b.filter(x => a.some(y => y.code === x.code)))].filter(Boolean);
    return h("section", {class: "card wide"}, heading("What to change"), parts.length ? parts : note("There is no advice, before or after: the figures show nothing to change."));
}

function comparedKernel(k) {
    return [h("h2", null, h("code", null, k.kernel)), changedAdvice(k), h("div", {class: "cards"}, changedBounds(k), changedFigures(k))];
}

function compareView(at) {
    const c = data.comparison, all = c.kernels.map((k, i) => ({...k, i})), both = all.filter(k => k.sides[0].launches && k.sides[1].launches);
    const total = [0, 1].map(side => sum(all, k => k.sides[side].time_ns)), gain = k => Math.abs(k.sides[0].time_ns - k.sides[1].time_ns);
    both.sort((a, b) => gain(b) - gain(a));
    const chosen = at === undefined ? both.slice(0, 3) : all.filter(k => k.i === Number(at));
    const side = (k, i) => k.sides[i].launches ? nanoseconds(k.sides[i].time_ns) : "\u2013";
    return [
        facts([["before", c.sides[0].file], ["after", c.sides[1].file], c.sides[0].device !== c.sides[1].device ? ["devices", c.sides.map(x => x.device).join(", ")] : null,
            ["estimated time of all launches", `${nanoseconds(total[0])} before, ${nanoseconds(total[1])} after`], ["all in all", speed(...total)]]),
        h("section", {class: "card wide"}, heading("Kernels"), table([
            {title: "kernel", value: k => shortName(k.kernel), show: k => h("a", {href: `#compare/${k.i}`}, shortName(k.kernel)), left: true, name: true, tip: k => k.kernel},
            {title: "before", value: k => k.sides[0].time_ns, show: k => side(k, 0), hint: "estimated, of all its launches"},
            {title: "after", value: k => k.sides[1].time_ns, show: k => side(k, 1), hint: "estimated, of all its launches"},
            {title: "speed", value: k => ratio(k.sides[0].time_ns, k.sides[1].time_ns), show: k => !k.sides[0].launches ? "only after" : !k.sides[1].launches ? "only before" : speed(k.sides[0].time_ns, k.sides[1].time_ns)},
            {title: "difference", value: gain, show: k => nanoseconds(gain(k))},
            {title: "bound before", value: k => boundName(k.sides[0].bound), show: k => boundName(k.sides[0].bound), left: true},
            {title: "bound after", value: k => boundName(k.sides[1].bound), show: k => boundName(k.sides[1].bound), left: true},
        ], all.slice(), 4, "Kernels before and after")),
        chosen.map(comparedKernel),
    ];
}
