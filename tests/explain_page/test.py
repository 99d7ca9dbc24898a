#!/usr/bin/env python3
"""The page of heddle explain: one file that asks for nothing, and does in a browser what it says."""
import json
import os
import re
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser
import tap
from explained import DATA, data_of

folder = tempfile.mkdtemp()


def explain(path, name="page.html"):
    page = os.path.join(folder, name)
    status, out, err = tap.run("explain", "-o", page, path, "--grid", "4", "--block", "256", "1000", "2.0", "f32[1000]=range",
                               "f32[1000]=ones", cwd=folder)
    assert status == 0, out + err
    with open(page, encoding="utf-8") as f:
        return page, f.read()


def packed(data):
    """Without sharing anything but names."""
    texts, shapes = {}, {}

    def value(x):
        if isinstance(x, str):
            n, digits = texts.setdefault(x, len(texts)), ""
            while n or not digits:
                digits, n = "0123456789abcdefghijklmnopqrstuvwxyz"[n % 36] + digits, n // 36
            return digits
        if isinstance(x, dict):
            return [1 + shapes.setdefault(tuple(x), len(shapes))] + [value(part) for part in x.values()]
        return [0] + [value(part) for part in x] if isinstance(x, list) else x
    whole = value(data)
    return [list(texts), list(shapes), whole]


def launch_of(number, lanes=32, time=4000.0):
    """A launch as --json has it."""
    waves = {"requests": 100, "lanes": 3200, "wavefronts": 3200, "ideal_wavefronts": 100}
    loads = {"requests": 1000, "lanes": 32000, "bytes": 128000, "sectors": 32000, "ideal_sectors": 4000, "tags": 32000, "l1_miss_sectors": 32000}
    return {
        "kernel": f"kernel_{number}<float>(float*)", "mangled": f"k{number}", "number": number, "process": 1, "device": 0, "grid": [number + 1, 1, 1],
        "block": [256, 1, 1], "time_ns": time, "bound": "dram", "next_bound": "lsu", "bounds_ns": {"dram": time / 2, "lsu": time / 3, "issue": 10.0},
        "roofline": {"flops": 64000.0, "flops64": 0.0, "flops_tensor": 4.096e6, "peak_tensor": 1070500.0, "dram_bytes": 1e6, "l2_bytes": 1e6, "shared_bytes": 409600.0, "peak_flops": 66908.0,
                     "peak_flops64": 33454.0, "peak_dram": 4345.0, "peak_l2": 7424.0, "peak_shared": 33454.0},
        "registers": 32, "registers_estimated": False, "static_shared_bytes": 4096, "dynamic_shared_bytes": 0, "local_bytes": 0,
        "occupancy": {"blocks": 8, "warps": 64, "percent": 100.0, "limits": {"registers": 8, "shared_mem": 45, "warps": 8, "blocks": 32},
                      "limiters": ["registers", "warps"], "plot": [{"threads": 32 * i, "blocks": 64 // i, "warps": 64 // i * i} for i in range(1, 33)]},
        "warp_instructions": 10000, "thread_instructions": 10000 * lanes, "branches": 100, "divergent": 50, "metrics": {},
        "classes": {"fp32": 1000, "integer": 500.5}, "tensor": {"f16": 4.096e6}, "access": {"global_ld": loads, "shared_ld": waves}, "footprint": {"hot": 3, "touched_sectors": 4, "touched_lines": 4},
        "barriers": {"opened": 10, "warps": 80, "wait": 800}, "clock": {}, "advice": [{"code": "tail", "text": "a sentence <b>of</b> advice"}],
        "timeline": {"block": [0, 0, 0], "warps": [[{"from": 10 * i, "to": 10 * i + 6, "what": "run"}, {"from": 10 * i + 6, "to": 10 * i + 10, "what": "barrier"}]
                                                   for i in range(8)]}}


NAMES = {"bounds": {"dram": "DRAM", "lsu": "L1 and shared memory", "issue": "issue slots"},
         "classes": {"fp32": ["f32 add, multiply", "add, sub"], "integer": ["integer", "and, or"]}}


def synthetic(lines=60, launches=6, kernels=3):
    """A program that is not there: sources, lines, launches and timelines as large as a test wants them."""
    source = "\n".join(f"    value[{i}] = {i}; // line {i + 1}" for i in range(lines))
    cost = [{"file": "/k.cu", "line": i + 1, "warp_instructions": i + 1, "thread_instructions": 16 * (i + 1), "branches": 4, "divergent": 2, "taken": 9,
             "access": {"global_ld": {"requests": 10, "sectors": 320, "ideal_sectors": 40}}} for i in range(lines)]
    insns = [dict(c, module="PTX", ptx_line=100 + i, opcode="ld.global.f32", text="ld.global.f32 %f1, [%rd1];") for i, c in enumerate(cost)]
    spans = [{"from": 100.0 * i, "to": 100.0 * i + 90, "kind": "kernel" if i % 2 else "copy", "name": f"event {i}"} for i in range(launches)]
    return {"version": 1, "program": "./synthetic", "device": "H200", "names": NAMES, "processes": [], "uncounted": 0, "whole": True,
            "launches": [launch_of(i % kernels, 32 - i % 32, 3000.0 + 10 * i) for i in range(launches)],
            "kernels": [{"kernel": f"kernel_{i}<float>(float*)", "mangled": f"k{i}", "number": i, "process": 1, "device": 0, "launches": 2,
                         "advice": [{"code": "uncoalesced", "text": f"line {i + 1}: a warp reads 32 sectors", "file": "/k.cu", "line": i + 1}],
                         "lines": cost, "instructions": insns} for i in range(kernels)],
            "sources": [{"file": "/k.cu", "text": source}], "host": [{"name": "stream 0", "spans": spans}, {"name": "stream 1", "spans": spans[:3]}]}


def page_of(data, name):
    _, text = explain(os.path.join(tap.examples, "saxpy/saxpy.ptx"))
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(DATA.sub(lambda m: m.group(1) + json.dumps(packed(data)).replace("<", "\\u003c") + m.group(3), text))
    return path


def the_page_asks_for_nothing():
    _, text = explain(os.path.join(tap.examples, "saxpy/saxpy.ptx"))
    code = DATA.sub("", text)
    assert not re.search(r"\bsrc=|@import|url\((?!#|`#)|fetch\(|XMLHttpRequest|import\(", code)
    assert set(re.findall(r"https?://[^\"'` ]+", code)) <= {"http://www.w3.org/2000/svg"}
    assert set(re.findall(r"<link[^>]*>", code)) == {'<link rel="icon" href="data:,">'}


def the_page_has_the_figures_of_the_json():
    page = os.path.join(folder, "both.html")
    figures = os.path.join(folder, "both.json")
    status, out, err = tap.run("explain", "-o", page, "--json", figures, os.path.join(tap.examples, "saxpy/saxpy.ptx"), "--grid", "4", "--block",
                               "256", "1000", "2.0", "f32[1000]=range", "f32[1000]=ones")
    assert status == 0, out + err
    with open(page, encoding="utf-8") as f, open(figures, encoding="utf-8") as g:
        a, b = data_of(f.read()), json.load(g)
    assert equal(a["launches"], b["launches"]) and equal(a["kernels"], b["kernels"]) and len(a["kernels"][0]["instructions"]) > 10


def equal(a, b):
    """As far as 9 digits go."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(equal(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(equal, a, b))
    return abs(a - b) <= 1e-8 * abs(b) if isinstance(b, float) else a == b


def no_name_ends_the_script():
    odd = os.path.join(folder, "<!--<script>.ptx")
    shutil.copy(os.path.join(tap.examples, "saxpy/saxpy.ptx"), odd)
    _, text = explain(odd, "odd.html")
    assert text.count("<!--") == 0 and text.count("</script>") == 2
    assert "<!--<script>" in json.dumps(data_of(text))


def all_views_of_a_real_kernel_show_without_errors():
    w = browser.window(folder)
    page, _ = explain(os.path.join(tap.examples, "saxpy/saxpy.ptx"))
    w.open(page)
    assert "saxpy" in w.do("document.querySelector('main table').textContent")
    for view in ("kernel/0", "source/0"):
        w.go(view)
        assert "saxpy" in w.do("document.querySelector('main h2').textContent"), view
    assert w.problems == [], w.problems


def who_waits_at_a_barrier_is_shown():
    w = browser.window(folder)
    page = os.path.join(folder, "barrier.html")
    status, out, err = tap.run("explain", "-o", page, os.path.join(tap.source, "tests/explain/shapes.ptx"), "late", "--grid", "1", "--block", "128", "u32[1]")
    assert status == 0, out + err
    w.open(page, "kernel/0")
    words = w.do("document.querySelector('main').textContent")
    assert "Waits at barriers by warp of the block" in w.do("document.querySelector('main').innerHTML") and "warp 3" in words and "301" in words, words
    assert w.problems == [], w.problems


def a_device_without_rates_has_its_ceilings_and_no_times():
    w = browser.window(folder)
    page = os.path.join(folder, "g80.html")
    status, out, err = tap.run("explain", "--device", "G80", "-o", page, os.path.join(tap.examples, "saxpy/saxpy.ptx"), "--grid", "4", "--block",
                               "256", "1000", "2.0", "f32[1000]=range", "f32[1000]=ones")
    assert status == 0, out + err
    w.open(page)
    for view in ("overview", "kernel/0", "source/0"):
        w.go(view)
        words = w.do("document.body.innerText")
        assert "a G80" in words and "NaN" not in words and "undefined" not in words, (view, words[:2000])
    w.go("kernel/0")
    words = w.do("document.querySelector('main').textContent")
    w.go("device")
    device = w.do("document.querySelector('main').textContent")
    assert "threads of a multiprocessor768" in device and "86.4 bytes / nssheet: 384 bits at 900 MHz" in device, device
    assert "of 24 warps" in words and "346\u2009GFLOP/s" in words and "86.4\u2009GB/s" in words, words[:2000]
    assert w.problems == [], w.problems


def tables_sort_by_click_and_by_key():
    w = browser.window(folder)
    w.open(page_of(synthetic(), "sort.html"))
    first = "document.querySelector('main tbody td').textContent"
    times = "[...document.querySelectorAll('main tbody tr')].map(r => r.children[1].textContent)"
    down = w.do(times)
    assert w.do("document.querySelectorAll('main th')[1].getAttribute('aria-sort')") == "descending"
    w.do("document.querySelectorAll('main th button')[1].click()")
    assert w.do(times) == down[::-1]
    w.do("document.querySelector('main th button').focus()")
    w.key("Enter")
    assert w.do("document.querySelector('main th').getAttribute('aria-sort')") == "ascending"
    assert w.do(first) == "kernel_0<float>"
    w.key("Enter")
    assert w.do(first) == "kernel_2<float>"
    assert w.problems == [], w.problems


def calls_of_libraries_are_a_table_beside_the_kernels():
    """Shares are of all of both; a program that only calls has that table alone."""
    calls = [{"call": name, "unit": "f32", "calls": 2, "flops": 2e9, "bytes": 3 << 20, "launch_ns": 6464.0, "least_ns": ns, "bound": bound, "process": 1, "device": 0}
             for name, ns, bound in [("cufftExecC2C", 7000.0, "dram"), ("cublasSgemm_v2", 21090.0, "lsu")]]
    row = "[...document.querySelectorAll('main table')].pop().querySelector('tbody tr').innerText.replace(/\\s+/g, ' ')"
    w = browser.window(folder)
    w.open(page_of(dict(synthetic(), calls=calls), "calls.html"))
    assert w.do("document.querySelectorAll('main table').length") == 2
    shown = w.do(row)
    assert shown.startswith("cublasSgemm_v2 21.1") and "46 % 2 L1 and shared memory 2.00 G f32 3.00 MiB" in shown.replace("\u2009", " "), shown
    w.open(page_of(dict(synthetic(), calls=calls, kernels=[], launches=[]), "calls-alone.html"))
    assert w.do("document.querySelectorAll('main table').length") == 1
    assert w.problems == [], w.problems


def what_has_no_time_or_no_ceiling_has_no_rate():
    w = browser.window(folder)
    for name, time, peak in ("timeless", None, 1070500.0), ("unlimited", 4000.0, 0.0):
        data = synthetic(launches=1, kernels=1)
        data["launches"][0]["time_ns"] = time
        data["launches"][0]["roofline"]["peak_tensor"] = peak
        w.open(page_of(data, name + ".html"), "kernel/0")
        words = w.do("document.querySelector('main').textContent")
        assert "4.10\u2009M tensor-core operations (f16)" in words and ("tensor-core operations (f16): 1.02" in words) == (time is not None), words
        assert not any(wrong in words for wrong in ("NaN", "Infinity", "\u221e", "of 0")), words


def a_kernels_page_has_its_charts_and_figures():
    w = browser.window(folder)
    w.open(page_of(synthetic(), "kernel.html"), "kernel/1")
    labels = w.do("[...document.querySelectorAll('main svg')].map(e => e.getAttribute('aria-label'))")
    for part in ("threads of a block", "resource alone", "by class", "Roofline"):
        assert any(part in label for label in labels), (part, labels)
    words = w.do("document.querySelector('main').textContent")
    for part in ("DRAM", "registers", "coalescing", "bank conflicts", "lanes parted", "opened 10 times", "4.10\u2009M tensor-core operations (f16)", "tensor cores, f16: ", "a sentence <b>of</b> advice"):
        assert part in words, part
    assert w.do("document.querySelectorAll('main svg polyline').length") == 1
    assert w.do("[...document.querySelectorAll('main svg')].every(e => e.getBoundingClientRect().width <= e.closest('.card').clientWidth)")
    w.do("document.querySelector('main select').value = 2; document.querySelector('main select').dispatchEvent(new Event('change')); 0")
    chosen = w.do("document.querySelectorAll('main option')[2].textContent")
    assert chosen in w.do("new Promise(r => setTimeout(() => r(document.querySelector('main h2').textContent), 100))")
    assert w.problems == [], w.problems


def a_line_unfolds_its_ptx_and_heat_is_chosen():
    w = browser.window(folder)
    w.open(page_of(synthetic(), "source.html"), "source/0//3")
    assert w.do("document.querySelectorAll('.source .row').length") == 61
    assert w.do("document.querySelector('.source .target').id") == "L3"
    w.do("document.querySelector('#L5 .fold').focus()")
    w.key("Enter")
    assert w.do("document.querySelectorAll('.source .ptx').length") == 1
    assert "ld.global.f32 %f1" in w.do("document.querySelector('#L5').nextSibling.textContent")
    w.key("Enter")
    assert w.do("document.querySelectorAll('.source .ptx').length") == 0
    hot = "getComputedStyle(document.querySelector('#L%d .code')).backgroundColor"
    assert w.do(hot % 60) != w.do(hot % 1), "a line that costs more is hotter"
    w.do("document.querySelector('#heat').value = 'sectors'; document.querySelector('#heat').dispatchEvent(new Event('change')); 0")
    assert w.do(hot % 60) == w.do(hot % 1), "all lines have as many sectors"
    assert w.problems == [], w.problems


def launches_that_are_alike_are_a_row():
    w = browser.window(folder)
    data = synthetic(launches=2, kernels=1)
    data["launches"] += [1] * 2500 + [0] * 500
    for track in data["host"]:
        track.update(cut=True, left_out=1234)
    w.open(page_of(data, "alike.html"), "kernel/0")
    assert "Its 3002 launches" in w.do("document.querySelector('main').textContent")
    rows = w.do("[...document.querySelectorAll('table')].find(t => t.textContent.includes('alike')).querySelectorAll('tbody tr').length")
    assert rows == 2, rows
    w.go("kernel/0/1")
    assert "2 of 3002, 2501 of them alike" in w.do("document.querySelector('main').textContent")
    w.go("program")
    assert "1234 more launches" in w.do("document.querySelector('main').textContent")
    assert w.problems == [], w.problems


def timelines_zoom_and_move():
    w = browser.window(folder)
    w.open(page_of(synthetic(launches=40), "timeline.html"), "program")
    image = "document.querySelector('canvas').toDataURL()"
    for view in ("program", "warps/0/0"):
        w.go(view)
        w.do("document.querySelector('canvas').focus()")
        for _ in range(3):  # a canvas that is read is drawn otherwise from then on
            w.do(image)
            w.key("Home")
        all_of_it = w.do(image)
        w.key("+", "+")
        near = w.do(image)
        w.key("ArrowRight")
        moved = w.do(image)
        w.key("Home")
        assert len({all_of_it, near, moved}) == 3, view
        assert w.do(image) == all_of_it, view
    assert w.problems == [], w.problems


def contrast(w, element):
    return w.do("""(() => {
        const rgb = c => c.match(/[\\d.]+/g).slice(0, 3).map(Number);
        const light = c => { const [r, g, b] = rgb(c).map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
                             return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        let e = document.querySelector('%s'), ink = light(getComputedStyle(e).color);
        while (e && getComputedStyle(e).backgroundColor === 'rgba(0, 0, 0, 0)') e = e.parentElement;
        const paper = light(getComputedStyle(e || document.body).backgroundColor);
        return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    })()""" % element)


def comparison(folder_name="compare.html"):
    """A page of two runs, of which the second loads a quarter of the sectors, in half of the time; one kernel is new there."""
    before, after = synthetic(), synthetic(kernels=4, launches=8)
    for side in before, after:
        for launch in side["launches"]:
            launch["bounds_ns"]["issue"] = 100.0
    for launch in after["launches"]:
        launch.update(time_ns=launch["time_ns"] / 2, bound="lsu", bounds_ns={"dram": 500.0, "lsu": 900.0, "issue": 100.0}, advice=[])
        launch["access"]["global_ld"]["sectors"] = 8000
    paths = [os.path.join(folder, name) for name in ("before.json", "after.json", folder_name)]
    for path, side in zip(paths, (before, after)):
        with open(path, "w", encoding="utf-8") as f:
            json.dump(side, f)
    status, out, err = tap.run("explain", "--compare", *paths[:2], "-o", paths[2])
    assert status == 0, out + err
    return paths[2], out


def two_runs_are_compared():
    w = browser.window(folder)
    page, out = comparison()
    assert "no longer: a sentence <b>of</b> advice" in out and "only after" in out, out
    w.open(page)
    words = w.do("document.querySelector('main').innerText")
    for part in ("2.00\u00d7 as fast", "only after", "before.json", "Decided by DRAM before, by L1 and shared memory after.", "No longer said", "sectors of global loads",
                 "\u221275\u2009%"):
        assert part in words, (part, words)
    assert "NaN" not in words and "undefined" not in words, words
    views = w.do("[...document.querySelectorAll('nav a')].map(a => a.textContent)")
    assert views == ["Before and after", "Glossary"], views
    speeds = "[...document.querySelectorAll('main tbody')[0].rows].map(r => r.cells[3].textContent)"
    w.do("document.querySelectorAll('main th button')[3].click()")
    assert w.do(speeds)[-1] == "only after", w.do(speeds)
    w.go("compare/1")
    assert w.do("document.querySelectorAll('main h2').length") == 1
    assert w.do("document.querySelectorAll('main svg rect').length") == 2 * 4, "a bar for each side of the time and three bounds"
    for width in 1280, 400:
        w.size(width)
        w.open(page)
        assert w.do("document.documentElement.scrollWidth <= innerWidth"), width
    assert w.problems == [], w.problems


def it_fits_wide_and_narrow_in_light_and_dark():
    w = browser.window(folder)
    page = page_of(synthetic(), "fits.html")
    w.open(page)
    for width in (1280, 400):
        w.size(width)
        for view in ("overview", "kernel/0", "source/0", "warps/0/0", "program"):
            w.go(view)
            assert w.do("document.documentElement.scrollWidth <= innerWidth"), f"{view} is wider than {width}"
    papers = set()
    for scheme in ("light", "dark"):
        w.scheme(scheme)
        w.open(page, "program")
        papers.add(w.do("getComputedStyle(document.body).backgroundColor"))
        for element in ("main h2", ".note", "nav a", "#subtitle"):
            assert contrast(w, element) >= 4.5, (scheme, element, contrast(w, element))
    assert len(papers) == 2
    assert w.problems == [], w.problems


def kernels_are_found_among_two_hundred():
    long = "a_rather_long_namespace_of_a_library::kernel_with_a_name_that_does_not_fit_{}<float, {}>(float*, int)"
    data = synthetic(lines=10, launches=500, kernels=200)
    for k in data["kernels"] + data["launches"]:
        k["kernel"] = long.format(k["number"], k["number"])
    for i, l in enumerate(data["launches"]):
        l["time_ns"] = 3000.0 + 10 * l["number"]
    w = browser.window(folder)
    begun = time.monotonic()
    w.open(page_of(data, "many.html"))
    first = w.do("document.querySelector('tbody td.name').title")
    assert time.monotonic() - begun < 20 and long.format(99, 99) == first, first  # the hottest first, by its full name
    assert w.do("document.querySelector('input[type=search]').getBoundingClientRect().height") > 10
    assert w.do("[...document.querySelectorAll('tbody td.name')].every(td => td.scrollWidth <= td.clientWidth)"), "names are shown in full"
    w.do("(() => { const i = document.querySelector('input[type=search]'); i.value = 'fit_17<  FLOAT'; i.dispatchEvent(new Event('input', {bubbles: true})); })()")
    assert w.do("[...document.querySelectorAll('tbody td.name')].map(td => td.title)") == [long.format(17, 17)]
    assert w.do("document.querySelector('[aria-live]').textContent") == "1 of 200"
    for width in 400, 2000:
        w.size(width)
        assert w.do("document.documentElement.scrollWidth <= window.innerWidth"), width
    assert not w.problems, w.problems


KERNELS = """#include <cuda_runtime.h>
namespace a_rather_long_namespace_of_a_library { namespace detail_of_an_implementation {
template <int N, typename T> __global__ void kernel_with_a_name_that_does_not_fit_in_a_row(T *p, T *q, int n)
{
    __shared__ T s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? p[i * (N %% 7 + 1) %% n] : 0;
    __syncthreads();
    if (i < n && threadIdx.x %% (N %% 5 + 1) == 0)
        q[i] += s[255 - threadIdx.x] * (T)N;
}
}}
using namespace a_rather_long_namespace_of_a_library::detail_of_an_implementation;
int main()
{
    float *p, *q;
    cudaMalloc(&p, 1 << 16);
    cudaMalloc(&q, 1 << 16);
    cudaMemset(p, 0, 1 << 16);
    cudaMemset(q, 0, 1 << 16);
    for (int r = 0; r < 3; r++) {
%s    }
    return cudaDeviceSynchronize();
}
"""


@tap.in_full
def five_hundred_launches_of_two_hundred_kernels_open_in_a_second():
    """A real program: its page is at most 2 MB, what it shows sums to what the JSON has, and nothing is wider than the window."""
    source, program, figures, page = (os.path.join(folder, "large" + end) for end in (".cu", "", ".json", ".html"))
    with open(source, "w") as f:
        f.write(KERNELS % "".join(f"        if (r < 2 || {i} < 100) kernel_with_a_name_that_does_not_fit_in_a_row<{i}, float><<<{i % 13} + r + 1, 256>>>(p, q, 4096);\n"
                                  for i in range(200)))
    for args in ["cc", "-lineinfo", source, "-o", program], ["explain", "-o", page, "--json", figures, program]:
        status, out, err = tap.run(*args)
        assert status == 0, out + err
    assert os.path.getsize(page) <= 2e6, os.path.getsize(page)
    w = browser.window(folder)
    seconds = [w.open(page) for _ in range(3)]
    assert 0 < min(seconds) < 1, seconds
    with open(figures, encoding="utf-8") as f:
        launches = [l for l in json.load(f)["launches"]]
    assert len(launches) == 500
    shown = w.do("({time: sum(kernels, k => k.time), launches: sum(kernels, k => k.count), instructions: sum(kernels, k => sum(k.launches, l => l.times * l.warp_instructions)), "
                 "sectors: sum(kernels, k => sum(k.launches, l => l.times * sectorsOf(l, ['global_ld'])))})")
    whole = [launches[l] if isinstance(l, int) else l for l in launches]
    for name, of in {"time": lambda l: l["time_ns"], "launches": lambda l: 1, "instructions": lambda l: l["warp_instructions"],
                     "sectors": lambda l: l["access"].get("global_ld", {}).get("sectors", 0)}.items():
        assert abs(shown[name] - sum(map(of, whole))) <= 1e-7 * shown[name], (name, shown[name], sum(map(of, whole)))
    for width in 400, 900, 2000:
        w.size(width)
        for view in "overview", "kernel/17", "source/17", "program", "glossary":
            w.open(page, view)
            assert w.do("document.documentElement.scrollWidth <= window.innerWidth"), (width, view)
    assert not w.problems, w.problems


def every_figure_has_its_meaning():
    """Headings, facts and columns of all views are in the glossary, and lead there by the keyboard, too."""
    w = browser.window(folder)
    data = synthetic(launches=30, kernels=12)
    data["calls"] = [{"call": "cublasSgemm_v2", "unit": "f32", "calls": 2, "flops": 2e9, "bytes": 3 << 20, "launch_ns": 6464.0, "least_ns": 7000.0, "bound": "dram", "process": 1, "device": 0}]
    for l in data["launches"]:
        l["metrics"] = {"smsp__inst_executed.sum": 10000, "launch__grid_size": 2}
    page, compared = page_of(data, "words.html"), comparison("words-compared.html")[0]
    for path, view in [(page, "overview"), (page, "kernel/0"), (compared, "compare"), (explain(os.path.join(tap.examples, "saxpy/saxpy.ptx"))[0], "kernel/0")]:
        w.open(path, view)
        words = w.do("[...document.querySelectorAll('main h3, main dt, main th button')].map(e => e.textContent)")
        unknown = w.do("[...document.querySelectorAll('main h3, main dt, main th button')].map(e => e.textContent).filter(t => !meaningOf(t))")
        own = w.do("Object.values(limitTitles).map(t => t[0])") + ["devices", "all in all"]
        assert words and set(unknown) <= set(own), (view, unknown)
    w.open(page, "kernel/0")
    assert "smsp__inst_executed.sum" in w.do("document.querySelector('main').textContent") and "wait at barriers" in w.do("document.querySelector('main').innerHTML")
    w.do("[...document.querySelectorAll('main h3 a')].find(a => a.textContent.startsWith('Occupancy')).focus()")
    w.key("Enter")
    assert w.do("new Promise(r => setTimeout(() => r(document.querySelector('#term').textContent), 200))").startswith("occupancyThe number of warps of this kernel that a multiprocessor can hold")
    assert w.problems == [], w.problems


def kernels_are_chosen_by_what_bounds_them():
    data = synthetic(launches=24, kernels=12)
    for l in data["launches"]:
        if l["number"] < 5:
            l["bound"] = "lsu"
    w = browser.window(folder)
    w.open(page_of(data, "chosen.html"))
    assert w.do("[...document.querySelectorAll('main select option')].map(o => o.textContent)") == ["all", "DRAM", "L1 and shared memory"]
    w.do("(() => { const e = document.querySelector('main select'); e.value = 'L1 and shared memory'; e.dispatchEvent(new Event('change')); })()")
    assert w.do("document.querySelectorAll('main tbody')[0].rows.length") == 5 and w.do("document.querySelector('[aria-live]').textContent") == "5 of 12"
    w.do("(() => { const i = document.querySelector('input[type=search]'); i.value = 'kernel_3'; i.dispatchEvent(new Event('input', {bubbles: true})); })()")
    assert w.do("document.querySelectorAll('main tbody')[0].rows.length") == 1
    assert w.problems == [], w.problems


def the_mix_sums_to_its_total():
    """Of a real kernel: the rows of the chart, with what other instructions take along."""
    page, text = explain(os.path.join(tap.examples, "saxpy/saxpy.ptx"), "mix.html")
    launch = data_of(text)["launches"][0]
    assert sum(launch["classes"].values()) == launch["warp_instructions"] and launch["classes"]["folded"] > 0, launch["classes"]


def a_large_page_opens_at_once():
    w = browser.window(folder)
    page = page_of(synthetic(lines=2000, launches=500, kernels=1), "large.html")
    for seconds, view in [(w.open(page), "overview")] + [(w.go(view), view) for view in ("kernel/0", "source/0", "program")]:
        assert seconds < 2, f"{view}: {seconds:.2f} s"
    assert w.problems == [], w.problems


try:
    tap.main(globals())
finally:
    browser.close()
    shutil.rmtree(folder, ignore_errors=True)
