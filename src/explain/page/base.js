"use strict";
/* What all views use: elements, numbers in words, tables that sort. No view knows another; main.js knows them all. */

/* The JSON, which cli/explanation_page.c has packed, and says how. */
const data = (([texts, shapes, all]) => {
    const mostSmall = 3, seen = [];
    function value(x) {
        if (typeof x === "string")
            return texts[parseInt(x, 36)];
        if (!Array.isArray(x))
            return x;
        if (x[0] === -1)
            return seen[x[1]];
        const parts = x.slice(1).map(value);
        const whole = x[0] ? Object.fromEntries(shapes[x[0] - 1].map((name, i) => [name, parts[i]])) : parts;
        if (x.length > mostSmall)
            seen.push(whole);
        return whole;
    }
    return value(all);
})(JSON.parse(document.getElementById("data").textContent));
data.launches = (data.launches || []).map(l => typeof l === "number" ? l : {...l}); // equal ones, too, are two

/* ---- elements ---- */

function add(parent, children) {
    for (const c of children.flat(Infinity))
        if (c !== null && c !== undefined && c !== false)
            parent.append(c);
    return parent;
}

function attributes(e, attrs) {
    for (const [k, v] of Object.entries(attrs || {})) {
        if (v === null || v === undefined || v === false)
            continue;
        if (k.startsWith("on"))
            e.addEventListener(k.slice(2), v);
        else if (k === "style")
            for (const [p, x] of Object.entries(v))
                e.style.setProperty(p, x);
        else
            e.setAttribute(k, v === true ? "" : v);
    }
    return e;
}

function h(tag, attrs, ...children) {
    return add(attributes(document.createElement(tag), attrs), children);
}

function s(tag, attrs, ...children) {
    return add(attributes(document.createElementNS("http://www.w3.org/2000/svg", tag), attrs), children);
}

/* ---- numbers in words ---- */

function digits(x) {
    const a = Math.abs(x);
    if (!isFinite(x))
        return "\u2013";
    return a === 0 ? "0" : a >= 100 ? x.toFixed(0) : a >= 10 ? x.toFixed(1) : a >= 1 ? x.toFixed(2) : x.toPrecision(2);
}

function count(x) {
    if (!isFinite(x))
        return "\u2013";
    if (Number.isInteger(x) && Math.abs(x) < 10000)
        return String(x);
    const steps = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
    for (const [unit, letter] of steps)
        if (Math.abs(x) >= unit)
            return digits(x / unit) + "\u2009" + letter;
    return digits(x);
}

function nanoseconds(ns) {
    if (!isFinite(ns))
        return "\u2013";
    const steps = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]];
    for (const [unit, name] of steps)
        if (ns >= unit || unit === 1)
            return digits(ns / unit) + "\u2009" + name;
}

function bytes(n) {
    const steps = [[1 << 30, "GiB"], [1 << 20, "MiB"], [1 << 10, "KiB"]];
    for (const [unit, name] of steps)
        if (n >= unit)
            return digits(n / unit) + "\u2009" + name;
    return n + "\u2009B";
}

function percent(x) {
    return isFinite(x) ? (100 * x >= 99.95 ? "100" : (100 * x).toFixed(100 * x < 10 ? 1 : 0)) + "\u2009%" : "\u2013";
}

function dims(d) {
    let n = 3;
    while (n > 1 && d[n - 1] === 1)
        n--;
    return d.slice(0, n).join("\u2009\u00d7\u2009");
}

function ratio(a, b) {
    return b ? a / b : NaN;
}

function sum(list, of) {
    return list.reduce((n, x) => n + (of(x) || 0), 0);
}

/* "void kernel<16>(float*, int)": without its parameters. */
function shortName(name) {
    let depth = 0, end = name.length;
    for (let i = 0; i < name.length; i++) {
        if (name[i] === "<")
            depth++;
        else if (name[i] === ">")
            depth--;
        else if (name[i] === "(" && depth === 0 && i > 0 && !name.startsWith("(anonymous", i)) {
            end = i;
            break;
        }
    }
    return name.slice(0, end).replace(/^void /, "");
}

/* ---- tables ---- */

const ROWS_AT_FIRST = 60, ROWS_TO_READ = 10;

/* Of many rows the first ones are shown until the rest is asked for.
 * columns: {title, value (of a row: sorts), show (of a row: text or element; default: count(value)), hint (default: the glossary's), left,
 *     name (of a table that is searched), tip (of a row), filter (the reader may choose one of its values)} */
function table(columns, rows, sorted, caption) {
    const body = h("tbody");
    const heads = columns.map((c, i) => h("th", {scope: "col", title: c.hint || meaningOf(c.title), class: c.left ? "left" : null},
        h("button", {type: "button", onclick: () => sort(i)}, c.title)));
    let by = -1, down = false, shown = ROWS_AT_FIRST, wanted = "";
    const more = h("button", {type: "button", onclick: () => { shown = rows.length; fill(); }}, `all ${rows.length} rows`);
    const found = h("span", {"aria-live": "polite"});
    const search = rows.length > ROWS_TO_READ && columns.some(c => c.name) ? h("label", null, "search ",
        h("input", {type: "search", placeholder: "a part of a name", oninput: e => { wanted = e.target.value.toLowerCase(); fill(); }})) : null;
    /* Of columns that have few different values, those rows that have one of them. */
    const filters = rows.length > ROWS_TO_READ ? columns.filter(c => c.filter).map(c => {
        const values = [...new Set(rows.map(c.value))].sort();
        return {c, chosen: h("select", {onchange: () => fill()}, h("option", {value: ""}, "all"), values.map(v => h("option", {value: v}, v)))};
    }) : [];
    const text = row => columns.filter(c => c.left).map(c => `${c.tip ? c.tip(row) : ""} ${c.value(row)}`).join(" ").toLowerCase();
    function sort(i) {
        down = by === i ? !down : !columns[i].left;
        by = i;
        heads.forEach((th, k) => k === i ? th.setAttribute("aria-sort", down ? "descending" : "ascending")
                                         : th.removeAttribute("aria-sort"));
        const key = columns[i].value;
        rows.sort((a, b) => {
            const x = key(a), y = key(b);
            if (typeof x === "string")
                return (down ? -1 : 1) * x.localeCompare(y);
            return isNaN(x) ? 1 : isNaN(y) ? -1 : (down ? y - x : x - y);
        });
        fill();
    }
    function cell(c, row) {
        const shown = c.show ? c.show(row) : count(c.value(row));
        return h("td", {class: (c.left ? "left" : "") + (c.name ? " name" : ""), title: c.tip ? c.tip(row) : null}, shown);
    }
    function fill() {
        const fits = rows.filter(row => (!wanted || wanted.split(/\s+/).every(part => text(row).includes(part)))
            && filters.every(f => !f.chosen.value || f.c.value(row) === f.chosen.value));
        body.replaceChildren(...fits.slice(0, shown).map(row => h("tr", null, columns.map(c => cell(c, row)))));
        more.hidden = fits.length <= shown;
        found.textContent = fits.length < rows.length || wanted ? `${fits.length} of ${rows.length}` : "";
    }
    sort(sorted);
    const tools = search ? h("div", {class: "tools"}, search, filters.map(f => h("label", null, f.c.title + " ", f.chosen)), found) : null;
    return h("div", {class: "scroll"}, tools, h("table", null, caption ? h("caption", {class: "skip"}, caption) : null,
        h("thead", null, h("tr", null, heads)), body), h("p", {class: "tools"}, more));
}

function facts(pairs) {
    return h("dl", {class: "facts"}, pairs.filter(Boolean).map(([name, value]) => h("div", null, h("dt", null, explained(name)), h("dd", null, value))));
}

function card(title, ...children) {
    return h("section", {class: "card"}, heading(title), children);
}

/* Of a card. */
function heading(title) {
    return h("h3", null, explained(title));
}

function note(text) {
    return h("p", {class: "note"}, text);
}

/* ---- what was counted ---- */

function access(of, kind) {
    return of.access && of.access[kind] || {};
}

/* Kinds of accesses by warps; those of bulk copies have as many sectors as they like. */
const warpKinds = ["global_ld", "global_st", "global_red", "global_atom", "copy_ca", "copy_cg"];
const globalKinds = [...warpKinds, "bulk_ld", "bulk_st", "bulk_red"];
const sharedKinds = ["shared_ld", "shared_st", "shared_atom", "copy_st", "wgmma_ld"];

function simt(of) {
    return ratio(of.thread_instructions, of.warp_instructions);
}

function conflictsOf(of) {
    return sum(sharedKinds, k => (access(of, k).wavefronts || 0) - (access(of, k).ideal_wavefronts || 0));
}

function sectorsOf(of, kinds = globalKinds) {
    return sum(kinds, k => access(of, k).sectors);
}

function idealSectorsOf(of) {
    const atomics = ["global_red", "global_atom"];
    return sum(globalKinds, k => atomics.includes(k) ? access(of, k).sectors : access(of, k).ideal_sectors);
}

function keyOf(x) {
    return [x.process, x.device, x.number].join("/");
}

/* Kernels, the longest first, each with its launches. Those that are alike are one of them: the number of the first, and how many. */
const kernels = (() => {
    const all = new Map();
    for (const k of data.kernels || [])
        all.set(keyOf(k), {kernel: k.kernel, detail: k, count: 0, launches: []});
    for (const entry of data.launches) {
        const l = typeof entry === "number" ? data.launches[entry] : entry, key = keyOf(l);
        if (!all.has(key))
            all.set(key, {kernel: l.kernel, detail: {lines: [], instructions: []}, count: 0, launches: []});
        const k = all.get(key);
        k.count++;
        if (l === entry) {
            k.launches.push(l);
            l.first = k.count;
            l.times = 0;
        }
        l.times++;
    }
    const list = [...all.values()].filter(k => k.count);
    const instructions = k => sum(k.launches, l => l.times * l.warp_instructions);
    for (const k of list)
        k.time = sum(k.launches, l => l.times * l.time_ns);
    list.sort((a, b) => b.time - a.time || instructions(b) - instructions(a));
    list.forEach((k, i) => k.index = i);
    return list;
})();
const kernelTime = sum(kernels, k => k.time), callTime = sum(data.calls || [], c => c.least_ns);
