/* Timelines: rows of spans over time, on a canvas. Wheel, + and - zoom; drag and arrows move; Home shows all. */

const kindColors = {kernel: "--c0", copy: "--c2", call: "--c7", wait: "--c4", memset: "--c5", run: "--c0", barrier: "--c4", memory: "--c1", done: "--c7", event: "--c6", range: "--c3", mark: "--c6"};

function colorOf(kind) {
    return getComputedStyle(document.documentElement).getPropertyValue(kindColors[kind] || "--c3").trim();
}

/* rows: {name, spans: [{from, to, kind, name}]} with spans in order; unit: {title, show}. */
function timeline(name, rows, unit) {
    const canvas = h("canvas", {tabindex: "0", role: "img", "aria-label": `${name}. + and - zoom, arrows move, Home shows all.`});
    const tip = h("div", {class: "tip", hidden: true}), row = 22, top = 8, bottom = 34;
    const low = Math.min(...rows.flatMap(r => r.spans.length ? [r.spans[0].from] : [])), high = rows.reduce((m, r) => r.spans.reduce((n, x) => Math.max(n, x.to), m), -Infinity);
    let from = low, to = high > low ? high : low + 1, left = 120, drawn = [];
    const at = x => from + (to - from) * (x - left) / (canvas.clientWidth - left - 8);
    function clamp() {
        const span = Math.min(Math.max(to - from, (high - low) / 1e6), (high - low) || 1);
        from = Math.max(low, Math.min(from, high - span));
        to = from + span;
    }
    function zoom(factor, center) {
        const c = center === undefined ? (from + to) / 2 : center;
        from = c - (c - from) * factor;
        to = c + (to - c) * factor;
        clamp();
        draw();
    }
    function move(share) {
        const d = (to - from) * share;
        from += d, to += d;
        if (from < low)
            to += low - from, from = low;
        if (to > high)
            from -= to - high, to = high;
        clamp();
        draw();
    }
    function axis(g, width, height) {
        const ticks = linearTicks(to - from, Math.max(2, Math.floor((width - left) / 110))), step = ticks.length > 1 ? ticks[1] : to - from;
        g.textAlign = "center";
        for (let v = Math.ceil(from / step) * step; v <= to; v += step) {
            const x = left + (v - from) / (to - from) * (width - left - 8);
            g.fillStyle = colors.grid;
            g.fillRect(x, top, 1, height - top - bottom);
            g.fillStyle = colors.soft;
            g.fillText(tickText(unit.show(v - low)), x, height - bottom + 14);
        }
        g.fillText(unit.title, (left + width) / 2, height - 5);
    }
    let colors = {};
    function draw() {
        const width = canvas.clientWidth || 600, height = top + rows.length * row + bottom, dense = window.devicePixelRatio || 1;
        const style = getComputedStyle(document.documentElement), v = n => style.getPropertyValue(n).trim();
        colors = {grid: v("--grid"), soft: v("--soft"), ink: v("--ink"), panel: v("--panel")};
        left = width < 500 ? 76 : 130;
        canvas.style.height = height + "px";
        canvas.width = width * dense;
        canvas.height = height * dense;
        const g = canvas.getContext("2d"), scale = (width - left - 8) / (to - from);
        g.scale(dense, dense);
        g.font = "11.5px system-ui, sans-serif";
        axis(g, width, height);
        drawn = [];
        rows.forEach((r, i) => {
            const y = top + i * row;
            g.textAlign = "left";
            g.fillStyle = colors.soft;
            g.fillText(fitted(r.name, left), 6, y + 15);
            let last = -1;
            for (const x of r.spans) {
                if (x.to < from || x.from > to)
                    continue;
                const a = Math.max(left, left + (x.from - from) * scale), b = Math.min(width - 8, left + (x.to - from) * scale);
                if (b - a < 0.5 && a < last + 0.5) /* what is smaller than a point, and drawn already */
                    continue;
                last = b;
                g.fillStyle = colorOf(x.kind);
                g.fillRect(a, y + 3, Math.max(1, b - a), row - 6);
                drawn.push([a, Math.max(b, a + 2), y, x]);
                const words = x.name || "";
                if (b - a > 6.5 * Math.min(words.length, 6) && words) {
                    g.fillStyle = colors.panel;
                    g.fillText(fitted(words, b - a - 6), a + 4, y + 15);
                }
            }
        });
    }
    canvas.addEventListener("wheel", e => {
        if (e.ctrlKey || e.shiftKey || Math.abs(e.deltaY) > Math.abs(e.deltaX)) {
            e.preventDefault();
            zoom(e.deltaY > 0 ? 1.25 : 0.8, at(e.offsetX));
        }
    }, {passive: false});
    canvas.addEventListener("keydown", e => {
        const keys = {"+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1.4), ArrowLeft: () => move(-0.15), ArrowRight: () => move(0.15),
            Home: () => { from = low, to = high > low ? high : low + 1; draw(); }};
        if (keys[e.key] && !e.ctrlKey && !e.metaKey) {
            e.preventDefault();
            keys[e.key]();
        }
    });
    canvas.addEventListener("pointerdown", e => {
        let x = e.clientX;
        const drag = m => { move(-(m.clientX - x) / (canvas.clientWidth - left)); x = m.clientX; };
        const stop = () => { window.removeEventListener("pointermove", drag); window.removeEventListener("pointerup", stop); };
        window.addEventListener("pointermove", drag);
        window.addEventListener("pointerup", stop);
    });
    canvas.addEventListener("pointermove", e => {
        const hit = drawn.find(([a, b, y]) => e.offsetX >= a && e.offsetX <= b && e.offsetY >= y && e.offsetY < y + row);
        tip.hidden = !hit;
        if (hit) {
            const x = hit[3];
            tip.textContent = `${x.name || x.kind}: ${unit.show(x.from - low)} to ${unit.show(x.to - low)} (${unit.show(x.to - x.from)})`;
            tip.style.left = Math.max(0, Math.min(e.offsetX + 12, canvas.clientWidth - 240)) + "px";
            tip.style.top = e.offsetY + 16 + "px";
        }
    });
    canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
    afterwards(draw);
    redraws.push(draw);
    const button = (label, does, key) => h("button", {type: "button", onclick: does, title: key}, label);
    return [h("div", {class: "tools"}, button("zoom in", () => zoom(0.5), "+"), button("zoom out", () => zoom(2), "-"),
        button("all", () => { from = low, to = high > low ? high : low + 1; draw(); }, "Home")), h("div", {class: "timeline"}, canvas, tip)];
}

function kindLegend(rows) {
    const kinds = [...new Set(rows.flatMap(r => r.spans.map(x => x.kind)))];
    return legend(kinds.map(k => ({name: k, color: `var(${kindColors[k] || "--c3"})`})));
}

/* Streams, copies, kernels and calls of the whole program. */
function programView() {
    const rows = hostRows(), leftOut = sum([...new Map((data.host || []).map(t => [t.process, t.left_out || 0])).values()], n => n);
    if (!rows.length)
        return [note("There was nothing to draw: no launch, copy or call was recorded.")];
    return [h("h2", null, "The program over time"), timeline("Streams, copies, kernels and host calls", rows, {title: "time since the first event", show: nanoseconds}), kindLegend(rows),
        note("What overlaps and what waits on the device. Launches take their estimated times, and the host is assumed to do nothing between its calls."),
        data.host.some(t => t.cut) ? note(`The program went on: these are the first of its calls${leftOut ? `; ${leftOut} more launches, copies and ranges are left out here` : ""}.`) : null];
}

function hostRows() {
    return (data.host || []).map(r => ({name: r.name, spans: (r.spans || []).slice().sort((a, b) => a.from - b.from)}));
}

/* Warps of one block. */
function warpsView(k, at) {
    const l = k.launches[at] || k.launches.find(x => x.timeline) || k.launches[0];
    if (!l.timeline)
        return [h("h2", null, h("code", null, shortName(k.kernel)), ": warps"), h("div", {class: "tools"}, kernelPicker("warps", k)), note("No block of this launch was recorded.")];
    const rows = l.timeline.warps.map((spans, i) => ({name: `warp ${i}`, spans: spans.map(x => ({...x, kind: x.what || x.kind, name: x.name || x.what}))}));
    return [h("h2", null, h("code", null, shortName(k.kernel)), `: warps of block (${l.timeline.block.join(", ")})`), h("div", {class: "tools"}, kernelPicker("warps", k), h("a", {href: `#kernel/${k.index}`}, "its page")),
        timeline("Warps of one block", rows, {title: "cycles, estimated", show: count}), kindLegend(rows),
        note("When each warp runs, and what it waits for: its dependent instructions, one after the other.")];
}
