"use strict";
/* Which edge or event is looked at: what is said of it, and what it touches. */
const svg = document.querySelector("svg"), said = document.getElementById("said"), hint = said.innerHTML;
const things = [...svg.querySelectorAll(".edge, .event")];
let kept = null;

function touches(thing, other) {
    const ends = e => [e.dataset.from, e.dataset.to];
    if (thing.classList.contains("edge"))
        return other === thing || ends(thing).includes(other.id);
    return other === thing || (other.classList.contains("edge") && ends(other).includes(thing.id));
}

function look(thing) {
    svg.classList.toggle("looking", !!thing);
    things.forEach(t => t.classList.toggle("hot", !!thing && touches(thing, t)));
    said.classList.toggle("kept", !!kept);
    if (!thing) {
        said.innerHTML = hint;
        return;
    }
    const p = document.createElement("p"), b = document.createElement("b");
    b.textContent = thing.dataset.name + ": ";
    p.append(b, thing.querySelector("title").textContent);
    said.replaceChildren(p);
}

function keep(thing) {
    kept = kept === thing ? null : thing;
    look(kept || thing);
}

for (const t of things) {
    t.addEventListener("pointerenter", () => kept || look(t));
    t.addEventListener("pointerleave", () => kept || look(null));
    t.addEventListener("focus", () => kept || look(t));
    t.addEventListener("blur", () => kept || look(null));
    t.addEventListener("click", () => keep(t));
}
svg.addEventListener("keydown", e => {
    const shown = things.filter(t => getComputedStyle(t).display !== "none"), at = shown.indexOf(document.activeElement);
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[e.key];
    if (at < 0)
        return;
    if (step) {
        shown[(at + step + shown.length) % shown.length].focus();
        e.preventDefault();
    } else if (e.key === "Enter" || e.key === " ") {
        keep(shown[at]);
        e.preventDefault();
    }
});
document.addEventListener("keydown", e => {
    if (e.key === "Escape") {
        kept = null;
        look(null);
    }
});
for (const box of document.querySelectorAll(".kinds input")) {
    const show = () => svg.classList.toggle("no-" + box.value, !box.checked);
    box.addEventListener("change", show);
    show();
}
document.title = document.querySelector("h1").textContent;
