# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures the page for Cockpit in a Chromium: how long its main thread uses a processor."""

import contextlib
import os
import subprocess
import tempfile

import measures


@contextlib.contextmanager
def opened(bench, trees):
    """A btd with these trees, and its page: the connection to btd, and the page."""
    os.environ["BTD_BUILD"] = bench.build  # where the helpers find what was built
    import client
    import web
    subprocess.run(["ninja", "--quiet", "-C", bench.build, "client/web/btd.js"], check=False, stdout=subprocess.DEVNULL)
    if missing := web.missing():
        raise measures.CannotMeasure("these packages are missing: " + " ".join(missing))
    with measures.private_bus("dbus-daemon") as bus, tempfile.TemporaryDirectory(prefix="btd-bench-") as directory, \
            bench.daemon(bus.address, trees, f"--runtime={directory}/run"), contextlib.ExitStack() as stack:
        cockpit = web.Cockpit(bus, directory)
        stack.callback(cockpit.close)
        browser = web.chromium(directory)
        stack.callback(browser.quit)
        btd = client.Client(bus.address)
        stack.callback(btd.close)
        browser.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        yield btd, web.Page(browser, cockpit.url)


def used(page, act):
    """How many milliseconds of a processor the page has used until what was done is on the screen."""
    def total():
        metrics = page.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        return next(it["value"] for it in metrics if it["name"] == "TaskDuration") * 1000
    before = total()
    act()
    page.driver.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => setTimeout(done));")
    return total() - before


def nodes(bench):
    """Beside a copy of all that was drawn, which the browser makes."""
    leaves = [{"type": "Sequence", "name": f"Part{i}", "children": [
        {"type": "Sleep", "name": f"Wait{i}.{k}", "duration": "1h"} for k in range(9)]} for i in range(100)]
    trees = bench.trees("page-nodes", {"large": {"type": "ParallelAll", "children": leaves}})
    pairs = []
    with opened(bench, trees) as (btd, page):
        run, _ = btd.start("large")
        for _ in range(9):
            page.open("run", run)
            page.wait("document.querySelectorAll('.node.is-running').length > 50")
            unfolding = used(page, lambda: page.js(
                "[...document.querySelectorAll('button')].find(it => it.textContent === 'Unfold all').click()"))
            copying = used(page, lambda: page.js(
                "const it = document.querySelector('.picture'); it.after(it.cloneNode(true))"))
            pairs.append((unfolding, copying))
    yield measures.paired("1,001 nodes unfolded in the page, beside a copy of them", "ms", pairs,
                          measures.Goal("ratio", 3.0))


def changes(bench):
    """A thousand a second, of 500 decorators and their children."""
    trees = bench.trees("page-changes", {"busy": {"type": "ParallelAll", "children": [
        {"type": "Repeat", "name": f"Again{i}", "num_cycles": -1, "child":
            {"type": "Sleep", "name": f"Wait{i}", "duration": f"{450 + i % 100}ms"}} for i in range(500)]}})
    rates = []
    with opened(bench, trees) as (btd, page):
        page.open("run", btd.start("busy")[0])
        page.wait("document.querySelectorAll('.node.is-running').length > 50")
        count = "parseInt(document.querySelector('.event-shown').innerText)"
        for _ in range(9):
            first = page.wait(count)
            took = used(page, lambda until=first + 2000: page.wait(f"{count} > arguments[0]", until))
            rates.append(took / (page.wait(count) - first) * 1000)
    yield measures.Row("1,000 events of a run with 1,001 nodes in the page", sorted(rates)[4], "ms",
                       goal=measures.Goal("value", 200))


ALL = [("page, nodes", nodes), ("page, changes", changes)]
