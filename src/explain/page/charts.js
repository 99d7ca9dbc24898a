/* Charts, as SVG: each has a name for who does not see it, labelled axes with units, and its numbers as text beside its marks. */

/* As wide as a card is (page.css), so that text keeps its size. */
function chartWidth() {
    const page = document.documentElement.clientWidth, content = Math.min(1320, page) - (page > 640 ? 40 : 20);
    const columns = Math.max(1, Math.floor((content + 14) / (520 + 14)));
    return Math.max(240, Math.min(640, (content - 14 * (columns - 1)) / columns - (page > 640 ? 30 : 22)));
}

function figure(name, width, height, ...children) {
    return s("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name, style: {"max-width": width + "px"}},
        s("title", null, name), children);
}

function text(x, y, words, attrs) {
    return s("text", {x, y, ...attrs}, words);
}

/* rows: {label, value, shown, color, strong, tip}; one bar each. */
function barChart(name, rows, unit) {
    const width = chartWidth(), left = Math.min(190, width * 0.42), right = 86, row = 21, height = rows.length * row + 34;
    const most = Math.max(...rows.map(r => r.value), 1e-300), scale = (width - left - right) / most;
    const ticks = linearTicks(most, 4);
    return figure(name, width, height,
        ticks.map(t => [s("line", {class: "grid", x1: left + t * scale, x2: left + t * scale, y1: 0, y2: height - 28}),
            text(left + t * scale, height - 14, tickText(unit.show(t)), {"text-anchor": "middle"})]),
        rows.map((r, i) => [
            text(left - 7, i * row + 15, fitted(r.label, left), {"text-anchor": "end", class: r.strong ? "strong" : null}),
            s("rect", {x: left, y: i * row + 4, width: Math.max(1, r.value * scale), height: row - 7, rx: 2, fill: r.color || "var(--c0)"},
                s("title", null, `${r.label}: ${r.shown}${r.tip ? "\n" + r.tip : ""}`)),
            text(left + r.value * scale + 5, i * row + 15, r.shown, {class: r.strong ? "strong" : null})]),
        text(left + (width - left - right) / 2, height, unit.title, {"text-anchor": "middle"}));
}

/* 10.0 us: 10 us */
function tickText(shown) {
    return shown.replace(/\.0+(?=\D|$)/, "").replace(/(\.\d*?)0+(?=\D|$)/, "$1");
}

function fitted(label, width) {
    const most = Math.floor(width / 6.3);
    return label.length <= most ? label : label.slice(0, most - 1) + "\u2026";
}

function linearTicks(most, about) {
    const rough = most / about, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(m => m * power).find(x => x >= rough) || power;
    const ticks = [];
    for (let t = 0; t <= most * 1.0001; t += step)
        ticks.push(t);
    return ticks;
}

/* Warps on a multiprocessor over the size of a block: steps, the launch's own size marked. */
function occupancyChart(plot, own, most) {
    const width = chartWidth(), height = 210, l = 44, b = 40, t = 12, r = 12;
    const x = n => l + (width - l - r) * n / 1024, y = w => height - b - (height - b - t) * w / most;
    const points = plot.map(p => `${x(p.threads)},${y(p.warps)}`).join(" ");
    const here = plot.find(p => p.threads >= own);
    return figure("Warps that a multiprocessor holds, by the number of threads of a block", width, height,
        [0, .25, .5, .75, 1].map(f => [s("line", {class: "grid", x1: l, x2: width - r, y1: y(f * most), y2: y(f * most)}),
            text(l - 6, y(f * most) + 4, String(f * most), {"text-anchor": "end"})]),
        [32, 256, 512, 768, 1024].map(n => text(x(n), height - b + 16, String(n), {"text-anchor": "middle"})),
        s("polyline", {points, fill: "none", stroke: "var(--c0)", "stroke-width": 2}),
        plot.map(p => s("circle", {cx: x(p.threads), cy: y(p.warps), r: 3, fill: "var(--c0)"},
            s("title", null, `${p.threads} threads: ${p.blocks} blocks, ${p.warps} warps (${percent(p.warps / most)})`))),
        here ? [s("line", {x1: x(own), x2: x(own), y1: y(here.warps), y2: height - b, stroke: "var(--c1)", "stroke-width": 2, "stroke-dasharray": "4 3"}),
            s("circle", {cx: x(own), cy: y(here.warps), r: 6, fill: "none", stroke: "var(--c1)", "stroke-width": 3}),
            text(x(own) + (own > 600 ? -7 : 7), height - b - 9, `this launch: ${own} threads`, {"text-anchor": own > 600 ? "end" : "start", class: "strong"})] : null,
        s("path", {class: "axis", d: `M${l} ${t}V${height - b}H${width - r}`}),
        text((l + width) / 2, height - 6, "threads of a block", {"text-anchor": "middle"}),
        s("text", {transform: `translate(11 ${(height - b) / 2}) rotate(-90)`, "text-anchor": "middle"}, "warps"));
}

/* ---- roofline: work per byte against work per second, both logarithmic ---- */

function decades(low, high) {
    const list = [];
    for (let e = Math.ceil(Math.log10(low) - 1e-9); e <= Math.log10(high) + 1e-9; e++)
        list.push(10 ** e);
    return list;
}

const superscript = n => String(n).replace(/./g, c => "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"["-0123456789".indexOf(c)]);

/* roofs: {name, bandwidth (bytes/ns), color}; peaks: {name, rate (operations/ns)}; points: {name, intensity, rate, color} */
function rooflineChart(roofs, peaks, points) {
    const width = chartWidth(), height = 300, l = 54, b = 42, t = 14, r = 14;
    const top = Math.max(...peaks.map(p => p.rate));
    const xs = [...points.map(p => p.intensity), ...roofs.map(f => top / f.bandwidth)];
    const x0 = Math.min(0.05, ...xs.map(v => v / 2)), x1 = Math.max(100, ...xs.map(v => v * 2));
    const y1 = top * 2, y0 = Math.min(...points.map(p => p.rate / 4), top / 1000);
    const x = v => l + (width - l - r) * Math.log(v / x0) / Math.log(x1 / x0);
    const y = v => height - b - (height - b - t) * Math.log(v / y0) / Math.log(y1 / y0);
    const clip = "roof" + Math.random().toString(36).slice(2);
    return figure("Roofline: operations a second over operations a byte", width, height,
        s("defs", null, s("clipPath", {id: clip}, s("rect", {x: l, y: t, width: width - l - r, height: height - b - t}))),
        decades(x0, x1).map(v => [s("line", {class: "grid", x1: x(v), x2: x(v), y1: t, y2: height - b}),
            text(x(v), height - b + 15, "10" + superscript(Math.round(Math.log10(v))), {"text-anchor": "middle"})]),
        decades(y0, y1).map(v => [s("line", {class: "grid", x1: l, x2: width - r, y1: y(v), y2: y(v)}),
            text(l - 5, y(v) + 4, tickText(count(v * 1e9)).replace("\u2009", ""), {"text-anchor": "end"})]),
        s("g", {"clip-path": `url(#${clip})`},
            peaks.map(p => s("line", {x1: x(Math.min(...roofs.map(() => p.rate / Math.max(...roofs.map(f => f.bandwidth))))), x2: width - r, y1: y(p.rate), y2: y(p.rate), stroke: "var(--soft)", "stroke-width": 2})),
            roofs.map(f => s("line", {x1: x(x0), y1: y(x0 * f.bandwidth), x2: x(top / f.bandwidth), y2: y(top), stroke: f.color, "stroke-width": 2}))),
        peaks.map(p => text(width - r - 2, y(p.rate) - 5, `${p.name}: ${count(p.rate * 1e9)}FLOP/s`, {"text-anchor": "end"})),
        points.map(p => s("circle", {cx: x(p.intensity), cy: y(p.rate), r: 6, fill: p.color, stroke: "var(--panel)", "stroke-width": 1.5},
            s("title", null, `${p.name}: ${digits(p.intensity)} operations a byte, ${count(p.rate * 1e9)}FLOP/s`))),
        s("path", {class: "axis", d: `M${l} ${t}V${height - b}H${width - r}`}),
        text((l + width) / 2, height - 6, "operations a byte", {"text-anchor": "middle"}),
        s("text", {transform: `translate(11 ${(height - b) / 2}) rotate(-90)`, "text-anchor": "middle"}, "operations a second"));
}

function legend(entries) {
    return h("div", {class: "legend"}, entries.map(e => h("span", null, h("i", {style: {background: e.color}}), e.name)));
}
