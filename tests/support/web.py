# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a headless Chromium that shows the built page: from a Cockpit on a private bus, or from one in a container."""

import asyncio
import os
import shutil
import socket
import subprocess
import threading

import client
from daemon import BTCTL, BUILD

SOURCE = os.path.join(os.path.dirname(__file__), "..", "..", "client", "web")
SCRIPT = os.path.join(BUILD, "client", "web", "btd.js")
SHOTS = os.path.join(BUILD, "client", "web", "screenshots")
WS = "/usr/lib/cockpit/cockpit-ws"
COCKPIT = "/usr/share/cockpit"
PROGRAMS = {"chromium": "chromium", "chromedriver": "chromium-driver", "cockpit-bridge": "cockpit-bridge"}

# 1,001 nodes.
LARGE = {"type": "ParallelAll", "children": [
    {"type": "Sequence", "name": f"Part{i}", "children": [
        {"type": "Sleep", "name": f"Wait{i}.{k}", "duration": "1h"} for k in range(9)]} for i in range(100)]}


def missing():
    """The Debian packages that the tests of the page need and that are not installed; and what was not built."""
    packages = [package for program, package in PROGRAMS.items() if not shutil.which(program)]
    packages += [] if os.path.exists(WS) else ["cockpit-ws"]
    packages += [] if os.path.isdir(COCKPIT + "/shell") else ["cockpit-system"]
    try:
        import selenium  # noqa: F401
    except ImportError:
        packages.append("python3-selenium")
    if not os.path.exists(SCRIPT):
        packages += ["esbuild", "node-d3-hierarchy"]
    return packages


class Cockpit:
    """Serves the page without a login: the bridge runs as the user of cockpit-ws, by default that of the test."""

    def __init__(self, bus, directory, prefix=(), env=None):
        share = os.path.join(directory, "share")
        package = os.path.join(share, "cockpit", "btd")
        os.makedirs(package)
        for name in os.listdir(COCKPIT):
            os.symlink(os.path.join(COCKPIT, name), os.path.join(share, "cockpit", name))
        for name in ("index.html", "manifest.json", "btd.css"):
            shutil.copy(os.path.join(SOURCE, name), package)
        shutil.copy(SCRIPT, package)

        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        script = f"exec 3<&{listener.fileno()}; export LISTEN_FDS=1 LISTEN_PID=$$; exec \"$@\""
        with open(os.path.join(directory, "cockpit.log"), "ab") as log:
            self.process = subprocess.Popen(
                ["bash", "-c", script, "-", *prefix, WS, "--no-tls", "--local-session=cockpit-bridge"],
                pass_fds=[listener.fileno()], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": bus.address, "DBUS_SESSION_BUS_ADDRESS": bus.address,
                     "SSH_AUTH_SOCK": "/dev/null",  # or the bridge starts an ssh-agent, which stays
                     "XDG_DATA_DIRS": share, "XDG_DATA_HOME": directory, "XDG_CONFIG_HOME": directory, "HOME": directory,
                     "PATH": os.path.abspath(os.path.dirname(BTCTL)) + ":" + os.environ["PATH"], **(env or {})})
        listener.close()

    def close(self):
        self.process.terminate()
        self.process.wait()


class SlowLink:
    """Another address of a server, with a delay in each direction."""

    def __init__(self, url, delay):
        self.delay = delay
        self.there = url.removeprefix("http://").split(":")
        self.loop = asyncio.new_event_loop()
        server = self.loop.run_until_complete(asyncio.start_server(self.connect, "127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    async def connect(self, reader, writer):
        there = await asyncio.open_connection(*self.there)
        await asyncio.gather(self.forward(reader, there[1]), self.forward(there[0], writer))

    async def forward(self, reader, writer):
        try:
            while data := await reader.read(65536):
                self.loop.call_later(self.delay, writer.write, data)
        except ConnectionError:
            pass
        self.loop.call_later(self.delay, writer.close)

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()


def chromium(directory):
    """A browser that keeps everything in the directory."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1400,1000",
                     "--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-sync",
                     "--user-data-dir=" + os.path.join(directory, "chromium")):
        options.add_argument(argument)
    options.binary_location = shutil.which("chromium")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)


class Page:
    """What a test does with the page. Every wait runs the main loop of the test, which can serve objects on the bus."""

    def __init__(self, driver, url):
        self.driver = driver
        self.url = url
        driver.set_script_timeout(300)

    def open(self, *path):
        self.driver.get("about:blank")
        self.driver.get(self.url + "/cockpit/@localhost/btd/index.html#/" + "/".join(path))

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, script, *arguments):
        """Waits until the expression is true in the page, and returns its value."""
        def check():
            return self.js("return " + script, *arguments)
        try:
            return client.wait(check, script)
        except TimeoutError:
            print(self.js("return document.body.innerText"))
            raise

    def wait_value(self, script, value, *arguments):
        """Waits until the expression has this value in the page."""
        seen = []

        def check():
            seen[:] = [self.js("return " + script, *arguments)]
            return seen == [value]
        try:
            client.wait(check, script)
        except TimeoutError:
            raise AssertionError(f"{script} is {seen[0]!r}, not {value!r}") from None

    def wait_text(self, text, selector="body"):
        self.wait("document.querySelector(arguments[0])?.innerText.includes(arguments[1])", selector, text)

    def use(self, act, script, *arguments):
        """Calls act(element) with the element that the expression finds in the page. If the page replaces, moves or
        covers the element meanwhile, it starts again."""
        from selenium.common import exceptions

        def is_done():
            element = self.js("return " + script, *arguments)
            if element is None:
                return False
            try:
                act(element)
            except (exceptions.StaleElementReferenceException, exceptions.ElementNotInteractableException,
                    exceptions.ElementClickInterceptedException, exceptions.MoveTargetOutOfBoundsException):
                return False
            return True
        try:
            client.wait(is_done, f"{script} {arguments}")
        except TimeoutError:
            print(self.js("return document.body.innerText"))
            raise

    def press(self, element):
        """Clicks an element as a user does: moves the mouse there, and waits until the element does not move any more."""
        self.js("arguments[0].scrollIntoView({ block: 'nearest' })", element)
        self.mouse().move_to_element(element).perform()
        self.driver.execute_async_script("""
            const [element, done] = arguments, place = () => JSON.stringify(element.getBoundingClientRect());
            const compare = before => place() === before ? done() : look();
            const look = () => { const before = place(); setTimeout(() => compare(before), 100); };
            look();""", element)
        self.js("""window.pressed = false;
            arguments[0].addEventListener("click", () => window.pressed = true, { once: true, capture: true });""", element)
        element.click()
        self.check_pressed()

    def check_pressed(self):
        """If the page moved in the moment of the click, another element may have got it."""
        from selenium.common import exceptions
        try:
            missed = self.js("return window.pressed === false")
        except exceptions.WebDriverException:  # the click has closed this page
            return
        if missed:
            raise exceptions.ElementClickInterceptedException("another element was clicked")

    def mouse(self):
        from selenium.webdriver import ActionChains
        return ActionChains(self.driver, duration=0)

    def click(self, label, selector=None):
        """Clicks the enabled button or link with this text or name: in the dialog, if one is open."""
        self.use(self.press, """[...(document.querySelector(arguments[1] ?? "dialog[open]") ?? document)
            .querySelectorAll("button, a, summary")].find(it => !it.disabled && it.checkVisibility() &&
                [it.textContent, it.getAttribute("aria-label")].includes(arguments[0]))""", label, selector)

    def click_on(self, selector):
        self.use(self.press, "document.querySelector(arguments[0])", selector)

    def type(self, selector, text):
        def fill(field):
            field.clear()
            field.send_keys(text)
        self.use(fill, "[document.querySelector(arguments[0])].find(it => it?.checkVisibility())", selector)

    def keys(self, *strokes):
        """Presses keys; whatever has the focus gets them."""
        for stroke in strokes:
            self.mouse().send_keys(stroke).perform()

    def draw_all(self):
        """Unfolds all nodes, waits until they are on the screen, and returns how often the page was laid out for it."""
        before = self.n_layouts()
        self.driver.execute_async_script("""
            const done = arguments[0];
            [...document.querySelectorAll("button")].find(it => it.textContent === "Unfold all").click();
            requestAnimationFrame(() => setTimeout(done));""")
        return self.n_layouts() - before

    def n_layouts(self):
        """How often the page was laid out since the first call: once for each frame, unless a script asks for a place."""
        self.driver.execute_cdp_cmd("Performance.enable", {})
        metrics = self.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        return next(it["value"] for it in metrics if it["name"] == "LayoutCount")

    def keep(self, name):
        """Keeps a screenshot in the build directory, for people to look at."""
        os.makedirs(SHOTS, exist_ok=True)
        self.driver.save_screenshot(os.path.join(SHOTS, name + ".png"))

    def check(self):
        """No script of the page may have failed."""
        uncaught = [entry["message"] for entry in self.driver.get_log("browser") if "Uncaught" in entry["message"]]
        assert uncaught == []


class Session(Page):
    """The page as users see it: after a login, in a frame of Cockpit's shell."""

    def log_in(self, user, password):
        page = self.url + "/btd"
        self.driver.get(page)
        self.driver.delete_all_cookies()
        self.js("localStorage.clear(); sessionStorage.clear()")
        self.driver.get("about:blank")
        self.driver.get(page)
        self.type("#login-user-input", user)
        self.type("#login-password-input", password)
        self.click_on("#login-button")
        self.wait("document.querySelector('#super-user-indicator button')")

    def open(self, *path):
        self.driver.get("about:blank")
        self.driver.get(self.url + "/btd#/" + "/".join(path))
        self.enter()

    def enter(self):
        """Goes on inside of the frame with the page."""
        self.leave()
        self.use(self.driver.switch_to.frame, "document.querySelector('iframe[name=\"cockpit1:localhost/btd\"]')")
        self.wait("document.querySelector('#page > *')")

    def leave(self):
        """Goes on in Cockpit's shell around the frame."""
        self.driver.switch_to.default_content()

    def answer_dialog(self, password):
        """Cockpit's own dialog for administrative access; the page is loaded again if it succeeds."""
        self.leave()
        self.type(".pf-c-modal-box input[type=password]", password)
        self.click("Authenticate", ".pf-c-modal-box")
