/* The source with what each line has cost, as heat beside the text; the PTX of a line unfolds beneath it. */

/* What can be heat: of a line or an instruction. */
const heats = {
    instructions: {name: "warp instructions", of: x => x.warp_instructions},
    sectors: {name: "sectors beyond ideal", of: x => Math.max(0, sectorsOf(x) - idealSectorsOf(x))},
    traffic: {name: "sectors", of: sectorsOf},
    conflicts: {name: "bank conflicts", of: conflictsOf},
    divergence: {name: "lanes idle", of: x => 32 * x.warp_instructions - x.thread_instructions},
    barriers: {name: "waits at barriers", of: x => x.barrier_wait || 0},
};
let heat = "instructions";

function sourceText(file) {
    const found = (data.sources || []).find(f => f.file === file);
    return found && found.text !== null ? found.text.split("\n") : null;
}

function sourceLink(k, i) {
    return i.line ? h("a", {href: `#source/${k.index}/${encodeURIComponent(i.file)}/${i.line}`}, placeOf(i)) : placeOf(i);
}

function figures(x) {
    const requests = sum(globalKinds, k => access(x, k).requests);
    const conflicts = conflictsOf(x);
    return [
        x.warp_instructions ? count(x.warp_instructions) : "",
        x.warp_instructions ? digits(simt(x)) : "",
        requests ? `${digits(sectorsOf(x) / requests)} / ${digits(idealSectorsOf(x) / requests)}` : "",
        conflicts ? count(conflicts) : "",
        x.branches && x.divergent ? percent(x.divergent / x.branches) : x.barrier_wait ? count(x.barrier_wait / x.barrier_warps) : "",
    ];
}

function figureCells(x) {
    return figures(x).map((t, i) => h("span", {class: i === 0 ? "heat" : null}, t));
}

/* PTX of a line: its instructions, in the order of the text. */
function ptxRows(instructions) {
    return instructions.map(i => h("div", {class: "row ptx"}, h("span", null, i.ptx_line || ""), figureCells(i), h("span", {class: "code"}, (i.text || i.opcode).trim())));
}

function codeRow(line, words, of, instructions, most) {
    const level = of && most ? Math.min(0.55, 0.55 * Math.sqrt(heats[heat].of(of) / most)) : 0;
    const id = `L${line}`;
    let rows = null;
    const number = instructions.length
        ? h("button", {type: "button", class: "fold", "aria-expanded": "false", "aria-label": `line ${line}: its PTX`, onclick: e => {
            const open = e.currentTarget.getAttribute("aria-expanded") === "true";
            e.currentTarget.setAttribute("aria-expanded", String(!open));
            if (open) {
                rows.forEach(r => r.remove());
            } else {
                rows = ptxRows(instructions);
                e.currentTarget.parentNode.after(...rows);
            }
        }}, String(line))
        : h("span", null, String(line));
    return h("div", {class: "row", id, style: level ? {"--h": level.toFixed(3)} : null}, number,
        of ? figureCells(of) : Array.from({length: 5}, () => h("span")), h("span", {class: "code"}, words || " "));
}

function listing(k, file) {
    const lines = new Map((k.detail.lines || []).filter(l => l.file === file).map(l => [l.line, l]));
    const of = new Map();
    for (const i of k.detail.instructions || [])
        if (i.file === file && i.line)
            of.has(i.line) ? of.get(i.line).push(i) : of.set(i.line, [i]);
    const texts = sourceText(file), most = Math.max(0, ...[...lines.values()].map(heats[heat].of));
    const known = [...lines.keys()];
    const first = texts ? 1 : Math.min(...known), last = texts ? texts.length : Math.max(...known), rows = [];
    for (let n = first; n <= last; n++)
        if (texts || lines.has(n))
            rows.push(codeRow(n, texts ? texts[n - 1] : "(the file could not be read)", lines.get(n), of.get(n) || [], most));
    return rows;
}

/* Where there is no line of CUDA: PTX alone. */
function ptxListing(k) {
    const list = (k.detail.instructions || []).filter(i => !i.line);
    const most = Math.max(0, ...list.map(heats[heat].of));
    return list.map(i => codeRow(i.ptx_line || 0, i.text || i.opcode, i, [], most));
}

function hottest(k) {
    const lines = (k.detail.lines || []).filter(l => heats[heat].of(l) > 0).sort((a, b) => heats[heat].of(b) - heats[heat].of(a)).slice(0, 5);
    return lines.length ? h("p", {class: "tools"}, "most: ", lines.map(l => h("a", {href: `#source/${k.index}/${encodeURIComponent(l.file)}/${l.line}`}, `${l.file.split("/").pop()}:${l.line}`))) : null;
}

function sourceView(k, wanted, line) {
    const files = [...new Set((k.detail.lines || []).map(l => l.file))];
    const main = files.map(f => [f, sum((k.detail.lines || []).filter(l => l.file === f), l => l.warp_instructions)]).sort((a, b) => b[1] - a[1])[0];
    const withLines = files.filter(f => (k.detail.instructions || []).some(i => i.file === f && i.line));
    const file = withLines.includes(wanted) ? wanted : main && withLines.includes(main[0]) ? main[0] : withLines[0];
    const box = h("div", {class: "source"}), head = ["line", "warp instr.", "lanes", "sectors a req. / ideal", "bank conflicts", "parted; waits", "source"];
    const heads = ["", "warp instructions", "lanes active", "sectors a request", "bank conflicts", "lanes parted", ""];
    function draw() {
        const first = heats[heat].name;
        box.replaceChildren(h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "annotated source"},
            h("div", {class: "row head"}, head.map((t, i) => h("span", {class: i === 6 ? "code" : null, title: meaningOf(heads[i])}, t))), file ? listing(k, file) : ptxListing(k)),
            note(`Heat: ${first}. A line's number unfolds its PTX.`));
    }
    draw();
    const view = [
        h("h2", null, h("code", null, shortName(k.kernel)), ": source"),
        h("div", {class: "tools"}, kernelPicker("source", k), h("a", {href: `#kernel/${k.index}`}, "its page"),
            files.length > 1 ? h("label", null, "file ", h("select", {onchange: e => { location.hash = `#source/${k.index}/${encodeURIComponent(e.target.value)}`; }},
                files.map(f => h("option", {value: f, selected: f === file, title: f}, f.split("/").slice(-2).join("/"))))) : null,
            h("label", null, "heat ", h("select", {id: "heat", onchange: e => { heat = e.target.value; draw(); top.replaceChildren(hottest(k) || ""); }},
                Object.entries(heats).map(([key, x]) => h("option", {value: key, selected: key === heat}, x.name))))),
    ];
    const top = h("div", null, hottest(k));
    view.push(top, box);
    afterwards(() => {
        const target = line && document.getElementById("L" + line);
        if (target) {
            target.classList.add("target");
            const pane = target.closest(".scroll");
            pane.scrollTop = target.offsetTop - pane.offsetTop - pane.clientHeight / 3;
        }
    });
    return view;
}
