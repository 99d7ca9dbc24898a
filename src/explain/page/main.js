/* Which view is shown: the part of the address behind "#". */

let later = [], redraws = [];

/* Once the view is on the page. */
function afterwards(f) {
    later.push(f);
}

const views = {
    compare: {title: "Before and after", show: p => compareView(p[0]), hidden: () => !data.comparison},
    overview: {title: "Kernels", show: () => overviewView(), hidden: () => !!data.comparison},
    kernel: {title: "Kernel", show: p => kernelView(kernelAt(p[0]), Number(p[1] || 0)), hidden: () => !!data.comparison},
    source: {title: "Source", show: p => sourceView(kernelAt(p[0]), p[1] && decodeURIComponent(p[1]), Number(p[2] || 0)), hidden: () => !!data.comparison},
    warps: {title: "Warps", show: p => warpsView(kernelAt(p[0]), Number(p[1] || 0)), hidden: () => !data.launches.some(l => l.timeline)},
    program: {title: "Program", show: () => programView(), hidden: () => !(data.host || []).length},
    glossary: {title: "Glossary", show: p => glossaryView(p[0])},
    device: {title: "Device", show: () => deviceView(), hidden: () => !data.limits},
};

function kernelAt(n) {
    return kernels[Number(n || 0)] || kernels[0];
}

function parts() {
    const p = location.hash.slice(1).split("/");
    return data.comparison ? (["compare", "glossary"].includes(p[0]) ? p : ["compare"]) : views[p[0]] ? p : ["overview"];
}

function show(focus) {
    const [name, ...rest] = parts(), main = document.getElementById("main");
    later = [];
    redraws = [];
    const content = kernels.length || (name === "overview" && (data.calls || []).length) || ["program", "device", "compare", "glossary"].includes(name) ? views[name].show(rest) : [note("No kernel was launched.")];
    main.replaceChildren();
    add(main, content);
    later.forEach(f => f());
    const at = name === "kernel" || name === "source" || name === "warps" ? "/" + (rest[0] || 0) : "";
    document.getElementById("views").replaceChildren(...Object.entries(views).filter(([, v]) => !v.hidden || !v.hidden())
        .map(([key, v]) => h("a", {href: `#${key}${["kernel", "source", "warps"].includes(key) ? at : ""}`, "aria-current": key === name ? "page" : null}, v.title)));
    document.title = `${views[name].title} \u2013 heddle explain ${data.program || ""}`;
    if (focus) {
        main.focus({preventScroll: true});
        if (!(name === "source" && rest[2]))
            window.scrollTo(0, 0);
    }
}

document.getElementById("program").textContent = data.program || "";
const device = `${/^[AEFHILMNORSX8]/.test(data.device) ? "an" : "a"} ${data.device}`;
document.getElementById("subtitle").textContent = data.comparison ? `the effect of a change, estimated for ${device}`
    : `${data.launches.length} launch${data.launches.length === 1 ? "" : "es"}, estimated for ${device}`
    + (data.whole === false ? "; some counts could not be saved" : "");
window.addEventListener("hashchange", () => show(true));
let width = window.innerWidth, resized;
window.addEventListener("resize", () => {
    clearTimeout(resized);
    resized = setTimeout(() => {
        if (window.innerWidth !== width) {
            width = window.innerWidth;
            show(false);
        }
    }, 120);
});
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraws.forEach(f => f()));
show(false);
