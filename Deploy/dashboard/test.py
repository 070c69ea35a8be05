# SPDX-License-Identifier: Apache-2.0
"""The dashboard in a real Chromium, in front of a real gateway. Run by test.sh."""

import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

from selenium.webdriver.common.keys import Keys

from bench import CHAT, SHOP, Bench, secret, token
from browser import Browser

ROUSE = os.environ["ROUSE"]
PICTURES = os.environ.get("PICTURES")


# The cells of tables that stick out of the window, and would have to be scrolled to.
CLIPPED = """
return [...document.querySelectorAll("td, th")]
  .filter((cell) => cell.checkVisibility()
    && cell.getBoundingClientRect().right > document.documentElement.clientWidth)
  .map((cell) => cell.textContent.slice(0, 40));
"""


class Case(unittest.TestCase):
    """One gateway and one tab for the tests of a class, which each load the page anew."""

    is_dark = False
    width = 1360

    @classmethod
    def setUpClass(cls):
        cls.bench = cls.enterClassContext(Bench(ROUSE))
        cls.browser = Browser(cls.is_dark, cls.width)
        cls.addClassCleanup(cls.browser.close)

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])

    def load(self, key="reader"):
        """The page in a tab that knows no key; with the figures when a key is named."""
        self.browser.open("about:blank")
        self.browser.open(self.bench.page)
        self.browser.run("sessionStorage.clear(); localStorage.clear(); location.hash = ''")
        self.browser.open("about:blank")
        self.browser.open(self.bench.page)
        if key:
            self.browser.sign_in(secret(key))
            self.wait_for_figures()

    def wait_for_figures(self):
        self.browser.wait("the figures", lambda: self.browser.is_shown("figures"))
        self.browser.wait_for_text("#liveness", "Live")

    def picture(self, name):
        if PICTURES:
            self.browser.save(pathlib.Path(PICTURES) / f"{name}.png")


class TheKey(Case):
    def test_nothing_is_shown_without_a_key(self):
        self.load(key=None)
        self.browser.wait("the form", lambda: self.browser.is_shown("sign-in"))
        self.assertFalse(self.browser.is_shown("figures"))
        self.assertEqual(self.browser.focused(), "key")
        self.assertEqual(self.browser.text("#key-error"), "")
        self.picture("key")

    def test_a_wrong_key_is_refused_in_words(self):
        self.load(key=None)
        self.browser.sign_in("a-wrong-key")
        self.browser.wait_for_text("#key-error", "not known, or was revoked. Try another.")
        self.browser.sign_in("zwei Wörter")
        self.browser.wait_for_text("#key-error", "This is no API key")
        self.assertFalse(self.browser.is_shown("figures"))

    def test_a_key_that_may_not_read_is_told_what_it_lacks(self):
        self.load(key=None)
        self.browser.sign_in(secret("backend"))
        self.browser.wait_for_text(
            "#key-error", "The key backend lacks the scope read. This page needs a key")
        self.assertFalse(self.browser.is_shown("figures"))

    def test_a_key_that_may_read_is_enough_and_stays_in_the_tab(self):
        self.load()
        self.assertEqual(
            self.browser.run("return [Object.keys(localStorage), Object.keys(sessionStorage)]"),
            [[], ["rouse.key"]])
        self.assertNotIn(secret("reader"), self.browser.driver.current_url)
        self.browser.driver.refresh()
        self.wait_for_figures()

    def test_a_key_can_be_forgotten(self):
        self.load()
        self.browser.find("forget").click()
        self.browser.wait("the form", lambda: self.browser.is_shown("sign-in"))
        self.assertEqual(self.browser.run("return sessionStorage.length"), 0)
        self.assertNotIn(SHOP, self.browser.run("return document.body.textContent"))


class TheFirstWake(Case):
    def test_the_empty_page_says_how_to_send_one_and_then_shows_it(self):
        self.load()
        browser = self.browser
        for place, words in {
            "#rejection-list": "None:", "#feed-list": "No wake has ended yet.",
            "#budget-bar": "No background wake was accepted",
        }.items():
            browser.wait_for_text(place, words)
        browser.wait_for_text("#queue-chart", "Nothing waits")
        self.picture("empty")
        command = browser.find("first-wake-command").text
        done = subprocess.run(
            ["bash", "-c", command], capture_output=True, text=True, check=True,
            env={**os.environ, "ROUSE_API_KEY": secret("backend"), "no_proxy": "*"})
        self.assertIn('"accepted_at"', done.stdout, done.stderr)
        browser.wait_for_text("#feed-list", "✓ sent")
        browser.wait("no more help", lambda: not browser.is_shown("first-wake"))
        browser.wait_for_text("#tiles", "Accepted 1")


class TheFigures(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        bench = cls.bench
        cls.sent = bench.wake(token(1))
        bench.wait_for(cls.sent, "sent")
        cls.waiting = bench.wake(token(1))
        cls.merged = bench.wake(token(1))
        for number in range(20, 40):
            bench.wake(token(number))
        bench.call(token(2), 1)
        bench.fault(kind="reject", reason="BadDeviceToken", deviceToken=token(3))
        for _ in range(2):
            cls.rejected = bench.wake(token(3))
            bench.wait_for(cls.rejected, "rejected")
        bench.confirm(cls.sent)
        bench.ask("POST", "v1/wakes", {"kind": "background", "app": "com.example.none",
                                       "device_token": token(1), "payload": {}})

    def test_it_follows_what_happens(self):
        self.load()
        browser = self.browser
        browser.wait_for_text("#tiles", "Accepted")
        device = token(time.time_ns())
        wake = self.bench.wake(device)
        self.bench.wake(device)
        browser.wait("the wake among the latest", lambda: browser.all(f'a[href="#wake={wake}"]'))
        for chart in ("decisions", "outcomes", "queue"):
            browser.wait(f"an area in {chart}", lambda: browser.all(f"#{chart}-chart .area"))
        browser.wait_for_text("#outcomes-chart", "merged")
        browser.wait_for_text("#latency-table", "APNs answers, background")
        self.assertEqual(len(browser.all("#apps tbody tr")), 4)
        self.assertEqual(len(browser.all("#budget-bar .bar")), 3)
        # By the outcomes, not by the decisions: wakes that expire or wait are no pushes saved.
        def budget():
            asked = self.bench.metric("rouse_decisions_total", 'kind="background"')
            sent = self.bench.metric("rouse_wakes_ended_total", 'kind="background"', 'state="sent"')
            return f"{asked} background wakes, of which APNs accepted {sent} so far"

        browser.wait("what APNs accepted", lambda: budget() in browser.text("#budget-bar"))

    def test_the_list_of_outcomes_holds_still_for_whoever_is_in_it(self):
        self.load()
        browser = self.browser
        browser.wait("outcomes", lambda: browser.all("#feed-list a"))
        browser.run("document.querySelector('#feed-list a').focus()")
        wake = self.bench.wake(token(time.time_ns()))
        link = f'#feed-list a[href="#wake={wake}"]'
        browser.wait_for_text("#feed-lead", "Held while you are in the list")
        self.assertEqual(browser.all(link), [])
        browser.run("document.activeElement.blur()")
        browser.wait("the wake", lambda: browser.all(link))
        self.assertEqual(browser.text("#feed-lead"), "As they happen")

    def test_it_begins_with_the_hour_before_it_was_opened(self):
        def points():
            return self.bench.ask("GET", "v1/history", key="reader")[1]["points"]

        # One point from before the wakes of this gateway and one from after them: 20 s at most.
        Browser.wait(self.browser, "two points", lambda: points()[0]["outcomes"]["sent"]
                     < points()[-1]["outcomes"]["sent"])
        self.load()
        kept = "return readings.samples.filter(({isKept}) => isKept).length"
        self.browser.wait("the gateway's readings", lambda: self.browser.run(kept) >= 2)
        self.assertLessEqual(self.browser.run(
            "return readings.samples.filter(({isKept}) => !isKept).length"), 2)
        # The page's own first reading does not take the place of those before it.
        self.assertEqual(self.browser.run("return readings.samples[0].outcomes.sent"), 0)
        for chart in ("decisions", "outcomes"):
            self.browser.wait("an area", lambda: self.browser.all(f"#{chart}-chart .area"))
        self.browser.wait("a line", lambda: self.browser.all("#latency-chart .line"))

    def choose(self, name, value):
        self.browser.run("const place = byID(arguments[0]); place.value = arguments[1];"
                         "place.dispatchEvent(new Event('change'))", name, value)

    def test_an_app_that_is_not_counted_by_its_name_has_no_figures(self):
        self.load()
        browser = self.browser
        browser.wait("two apps", lambda: len(browser.all("#app-choice option")) == 3)
        # As of an app beyond the first hundred.
        browser.run("const ask = askApp;"
                    "window.askApp = async (app) => ({...await ask(app), counted_by_name: false});")
        self.choose("app-choice", f"{CHAT} sandbox")
        browser.wait("that it says so", lambda: browser.is_shown("uncounted-help"))
        for place in ("rates", "budget", "latency-chart"):
            self.assertFalse(browser.is_shown(place), place)
        browser.wait_for_text("#tiles", "not counted by app")
        self.assertNotIn("APNs answers", browser.text("#latency-table"))
        self.choose("app-choice", "")
        browser.wait("the figures of all", lambda: browser.is_shown("rates"))
        self.assertFalse(browser.is_shown("uncounted-help"))

    def test_waiting_wakes_are_listed_no_more_often_than_others(self):
        self.load()
        browser = self.browser
        browser.run("window.listed = 0; const load = lists.load.bind(lists);"
                    "lists.load = () => { listed += 1; return load(); };")
        self.choose("state-choice", "pending")
        browser.wait("the list", lambda: browser.run("return listed") == 1)
        for _ in range(2):
            before = browser.run("return page.readAt")
            browser.wait("a reading", lambda: browser.run("return page.readAt") > before)
        self.assertEqual(browser.run("return listed"), 1)

    def test_it_is_narrowed_to_an_app_and_a_state(self):
        self.load()
        browser = self.browser
        choose = self.choose
        browser.wait("two apps", lambda: len(browser.all("#app-choice option")) == 3)
        # The calls of one app, and nothing of the other.
        choose("app-choice", f"{CHAT} sandbox")
        browser.wait("one app", lambda: len(browser.all("#app-list tbody tr")) == 2)
        browser.wait("its calls", lambda: browser.all("#feed-list tbody tr")
                     and SHOP not in browser.text("#feed-list"))
        self.assertIn("VoIP", browser.text("#feed-list"))
        self.assertNotIn("BadDeviceToken", browser.text("#rejection-list"))
        self.assertTrue(browser.is_shown("choice-help"))
        calls = self.bench.metric("rouse_decisions_total", f'app="{CHAT}"', 'decision="send"')
        browser.wait("its decisions", lambda: f"sent at once 0 {calls}" in
                     browser.text("#decisions-chart"))
        tiles = lambda: dict(zip(
            (each.text for each in browser.all("#tiles dt")),
            (each.text for each in browser.all("#tiles .value"))))
        # The tiles and the latencies are of this app, which sends calls and nothing waits for.
        browser.wait("its tiles", lambda: tiles()["Accepted"] == str(calls))
        self.assertEqual(tiles()["Waiting"], "0")
        self.assertIn("APNs answers, VoIP", browser.text("#latency-table"))
        self.assertNotIn("APNs answers, background", browser.text("#latency-table"))
        self.picture("narrowed")
        device = token(time.time_ns())
        self.bench.wait_for(self.bench.wake(device), "sent")
        waiting = self.bench.wake(device)
        choose("app-choice", "")
        browser.wait("all apps", lambda: len(browser.all("#app-list tbody tr")) == 4)
        # Wakes that wait are listed as well, and go when they end.
        choose("state-choice", "pending")
        link = f'#feed-list a[href="#wake={waiting}"]'
        browser.wait("the waiting wake", lambda: browser.all(link))
        self.assertIn("until", browser.text("#feed-list"))
        self.assertNotIn("sent", browser.text("#feed-list"))
        self.bench.ask("DELETE", f"v1/wakes/{waiting}")
        browser.wait("no such wake", lambda: not browser.all(link))
        choose("state-choice", "damaged")
        browser.wait_for_text("#feed-list", "No wake that is damaged")

    def test_a_device_is_found_by_its_digest(self):
        self.load()
        browser = self.browser
        digest = self.bench.ask("GET", f"v1/wakes/{self.sent}", key="reader")[1]["device"]
        for subject in (digest, digest.removeprefix("device#")):
            browser.look_up(subject)
            browser.wait_for_text("#look-up-answer", "Sends are at least")
            browser.find("look-up-clear").click()
        # From a wake, too: its page says whose it is.
        browser.look_up(self.sent)
        browser.wait("the device's button", lambda: browser.all("[data-key=device]"))
        browser.all("[data-key=device]")[0].click()
        browser.wait_for_text("#look-up-answer", "Sends are at least")
        self.assertNotIn("wake=", browser.driver.current_url)
        browser.look_up("device#00000000")
        browser.wait_for_text("#look-up-error", "No wake that is kept is for a device")

    def test_rejections_stand_by_their_reason_with_what_to_do(self):
        self.load()
        self.browser.wait_for_text("#rejection-list", "BadDeviceToken 400")
        text = self.browser.text("#rejection-list")
        self.assertIn("2 times", text)
        self.assertIn("Try the other environment once", text)
        self.browser.wait_for_text("#refused", "since the start: unknown-app 1.")

    def test_a_device_tells_its_budget_and_its_day(self):
        self.load()
        browser = self.browser
        # As old code prints a token, too.
        spaced = " ".join(re.findall("........", token(1)))
        browser.look_up(f"<{spaced}>")
        browser.wait_for_text("#look-up-answer", "Sends are at least")
        text = browser.text("#look-up-answer")
        for part in (SHOP, "sandbox · background", "spacing until", "2 requests wait as one",
                     "last receipt", "3 wakes"):
            self.assertIn(part, text)
        self.assertRegex(text, r"sends in 60 minutes 1 of \d+ sends in 24 hours 1 of \d+")
        self.assertNotIn(token(1), self.browser.driver.current_url)
        self.assertTrue(browser.all(f'a[href="#wake={self.waiting}"]'))
        for look in ("circle.mark.tone-blue", "circle.mark.hollow.tone-teal",
                     "path.mark.stroke.tone-blue", "path.mark.tone-green", ".hold.ahead"):
            self.assertTrue(browser.all(f".timeline {look}"), look)
        browser.all(".timeline-box summary")[0].click()
        self.assertEqual(len(browser.all(".timeline-box tbody tr")), 3)
        browser.all(".spans input")[2].send_keys(Keys.SPACE)
        self.picture("device")
        # A change on the device is seen by itself, and what was opened stays open.
        # What had merged into the wake takes its place, until it is cancelled too.
        for wake in (self.waiting, self.merged):
            self.bench.ask("DELETE", f"v1/wakes/{wake}")
        browser.wait_for_text("#look-up-answer", "Nothing waits for this device.")
        self.assertTrue(browser.all(".timeline-box details[open]"))

    def test_a_wake_tells_its_life(self):
        self.load()
        browser = self.browser
        browser.look_up(self.sent)
        browser.wait_for_text("#look-up-answer", "Launched the app")
        self.assertIn("Accepted by APNs; delivery is not confirmed.", browser.text("#look-up-answer"))
        self.assertIn(f"#wake={self.sent}", browser.driver.current_url)
        # A link to a wake is enough.
        browser.open(self.bench.page + f"#wake={self.rejected}")
        browser.wait_for_text("#look-up-answer", "Refused after")
        self.picture("wake")
        browser.find("look-up-clear").click()
        self.assertEqual(browser.text("#look-up-answer"), "")
        self.assertNotIn("wake=", browser.driver.current_url)

    def test_what_cannot_be_looked_up_is_told_why(self):
        self.load()
        for subject, words in {
            token(99)[1:]: "probably cut", "hello, you": "This is none of them",
            "order-99": "No wake that is kept has this ref", token(99): "Unknown device token",
            "01a1ff95-bde0-7334-a3d8-1bab30d661a4": "No wake has this id",
        }.items():
            self.browser.look_up(subject)
            self.browser.wait_for_text("#look-up-error", words)

    def test_a_search_says_how_far_it_went_and_goes_on(self):
        self.load()
        browser = self.browser
        # More wakes than a search looks through at a time, as answers without any of them.
        browser.run("window.asked = 0; window.lookUpJSON = async () => {"
                    "asked += 1; return {wakes: [], next: arguments[0]}; };".replace(
                        "arguments[0]", f"'{self.sent}'"))
        browser.look_up("device#00000000")
        browser.wait_for_text("#look-up-error", "No wake accepted since ")
        asked = browser.run("return [asked, SEARCH_PAGES]")
        self.assertEqual(asked[0], asked[1])
        self.assertTrue(browser.is_shown("look-up-more"))
        browser.run("window.lookUpJSON = async (path, {cursor}) => {"
                    "window.cursor = cursor; return {wakes: []}; }")
        browser.find("look-up-more").click()
        browser.wait_for_text("#look-up-error", "No wake that is kept")
        self.assertEqual(browser.run("return cursor"), self.sent)
        self.assertFalse(browser.is_shown("look-up-more"))

    def test_it_is_used_by_keyboard(self):
        self.load()
        browser = self.browser
        browser.driver.refresh()
        self.wait_for_figures()
        browser.press(Keys.TAB)
        self.assertEqual(browser.focused(), "Skip to the figures")
        self.assertGreaterEqual(
            browser.run("return document.activeElement.getBoundingClientRect().top"), 0)
        browser.press(Keys.ENTER, Keys.TAB)
        self.assertEqual(browser.focused(), "Now")
        self.assertNotEqual(
            browser.run("return getComputedStyle(document.activeElement).outlineStyle"), "none")
        # Everything that can be used is reached.
        reached = set()
        for _ in range(60):
            browser.press(Keys.TAB)
            reached.add(browser.run(
                "const e = document.activeElement; return e.id || e.closest('[id]')?.id"))
        self.assertLessEqual(
            {"subject", "app-list", "decisions-chart", "latency-chart", "feed-list"}, reached)
        self.bench.wake(token(time.time_ns()))
        browser.wait("readings", lambda: browser.all("#outcomes-chart .area"))
        browser.run("document.querySelector('#outcomes-chart svg').focus()")
        browser.press(Keys.ARROW_LEFT)
        self.assertRegex(browser.text("#outcomes-chart .readout"), r"^\d\d:\d\d:\d\d: ")
        self.assertEqual(
            browser.run("return byID('announcements').textContent"),
            browser.run("return document.querySelector('#outcomes-chart .readout').textContent"))
        browser.press(Keys.ESCAPE)
        self.assertEqual(browser.text("#outcomes-chart .readout"), "")

    def test_it_asks_nobody_but_the_gateway_and_makes_no_markup_of_text(self):
        self.load()
        asked = self.browser.run(
            "return performance.getEntriesByType('resource').map((entry) => entry.name)")
        self.assertGreater(len(asked), 4)
        for name in asked:
            self.assertTrue(name.startswith(self.bench.page), name)
        self.assertEqual(self.browser.run(
            "try { document.createElement('p').innerHTML = 'x'; return 'set' }"
            " catch (error) { return error.name }"), "TypeError")
        self.browser.complaints()

    def test_nothing_jumps_while_it_follows(self):
        self.load()
        time.sleep(1)
        self.browser.run("""
          window.shifts = [];
          new PerformanceObserver((list) => shifts.push(...list.getEntries().map(
            (entry) => entry.value))).observe({type: 'layout-shift'});""")
        for number in range(8):
            self.bench.wake(token(time.time_ns() + number))
            time.sleep(1)
        self.assertLess(sum(self.browser.run("return shifts")), 0.05)

    def test_a_page_that_nobody_sees_asks_nothing(self):
        self.load()
        self.browser.run("""
          Object.defineProperty(document, 'hidden', {configurable: true, get: () => true});
          document.dispatchEvent(new Event('visibilitychange'));""")
        time.sleep(1)
        count = "return performance.getEntriesByType('resource').length"
        before = self.browser.run(count)
        time.sleep(6)
        self.assertEqual(self.browser.run(count), before)
        self.browser.run("delete document.hidden; "
                         "document.dispatchEvent(new Event('visibilitychange'));")
        self.browser.wait("it asks again", lambda: self.browser.run(count) > before)
        self.browser.wait_for_text("#liveness", "Live")


class TheLooks(Case):
    """Both themes and three widths, with everything open."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        bench = cls.bench
        bench.wait_for(bench.wake(token(1)), "sent")
        for number in (1, 1, 4, 5, 6):
            bench.wake(token(number))
        bench.call(token(1), 1)
        for number, reason in enumerate(("BadDeviceToken", "Unregistered"), start=10):
            bench.fault(kind="reject", reason=reason, deviceToken=token(number))
            bench.wait_for(bench.wake(token(number)), "rejected", "undeliverable")
        bench.fault(kind="reject", reason="InvalidProviderToken", deviceToken=token(12))
        bench.wake(token(12), CHAT)

    def test_the_time_zone_is_named(self):
        for zone, words in {
            "Europe/Berlin": "Times are those of Europe/Berlin; their titles have them in UTC.",
            "UTC": "Times are in UTC.",
        }.items():
            self.browser.live_in(zone)
            self.load()
            self.assertEqual(self.browser.text("#zone"), words)

    def test_light_and_dark_on_every_width(self):
        browser = self.browser
        self.load()
        browser.look_up(token(1))
        browser.wait_for_text("#look-up-answer", "Why, in words")
        for number in range(50, 60):
            self.bench.wake(token(number))
        browser.wait("readings", lambda: browser.all("#outcomes-chart .area"))
        browser.wait_for_text("#notices", "is held")
        browser.all(".timeline-box summary")[0].click()
        surfaces = set()
        for theme in ("light", "dark"):
            browser.run("byID('theme').value = arguments[0]; "
                        "byID('theme').dispatchEvent(new Event('change'))", theme)
            surfaces.add(browser.run(
                "return getComputedStyle(document.querySelector('.card')).backgroundColor"))
            self.assertEqual(browser.poor_contrasts(), [], theme)
            for width in (1360, 768, 390, 360, 320):
                browser.resize(width)
                time.sleep(0.4)
                self.assertEqual(browser.width(), width, theme)
                self.assertEqual(browser.run(CLIPPED), [], f"{theme}, {width}")
                self.picture(f"{theme}-{width}")
            browser.resize(self.width)
        self.assertEqual(len(surfaces), 2)

    def test_the_system_chooses_until_somebody_does(self):
        self.load()
        self.assertEqual(self.browser.run("return byID('theme').value"), "system")
        is_dark = "return getComputedStyle(document.body).backgroundColor !== 'rgb(244, 245, 247)'"
        self.assertFalse(self.browser.run(is_dark))
        self.browser.run("byID('theme').value = 'dark'; "
                         "byID('theme').dispatchEvent(new Event('change'))")
        self.assertTrue(self.browser.run(is_dark))
        self.browser.driver.refresh()
        self.assertTrue(self.browser.run(is_dark))


class TheSharedStore(Case):
    """Drawn from what a gateway on a database answers; this one has a file."""

    def test_it_is_shown_where_there_is_one(self):
        self.load()
        self.assertFalse(self.browser.is_shown("store"))
        gateway = {"name": "5f3a", "this": True, "alive": True, "since": "2026-01-02T03:04:05Z",
                   "silent_milliseconds": 0, "writers": 2, "leases": 17}
        store = {
            "engine": "postgresql", "server_version": "15.18", "at": "2026-01-02T03:04:05Z",
            "gateways": [gateway, gateway | {
                "name": "77bc", "this": False, "alive": False, "silent_milliseconds": 90_000}],
            "open_transactions": [
                {"owner": "eve", "seconds": 99, "message": "A transaction of <b>eve</b>."}],
            "standby_lag_bytes": 2_000, "clock_offset_milliseconds": -3,
            "conflicts_per_second": 0.25, "verbs": {}}
        # In one step: the next look at this gateway hides it again.
        text = self.browser.run(
            "showStore(arguments[0]); return document.getElementById('store').innerText", store)
        for part in ("5f3a (this one)", "alive", "17", "77bc", "silent for", "PostgreSQL 15.18",
                     "0.3 conflicts a second", "-3 ms ahead", "bytes of log behind",
                     "A transaction of <b>eve</b>."):
            self.assertIn(part, text)
        self.browser.wait("no store", lambda: not self.browser.is_shown("store"))


class Trouble(Case):
    def test_an_app_that_apns_refuses_is_shown_held(self):
        self.load()
        browser, bench = self.browser, self.bench
        browser.wait_for_text("#readiness", "Ready")
        bench.fault(kind="reject", reason="InvalidProviderToken", share=1)
        bench.wake(token(1), CHAT)
        browser.wait_for_text("#notices", f"{CHAT} (sandbox), background: held")
        self.assertIn("InvalidProviderToken", browser.text("#notices"))
        browser.wait_for_text("#readiness", "Not ready")
        self.assertEqual(browser.driver.title, "Not ready · Rouse")
        row = next(row.text for row in browser.all("#apps tbody tr") if "held" in row.text)
        for part in (CHAT, "background", "InvalidProviderToken", "One wake is tried at",
                     "each that reaches its deadline first expires unsent",
                     f"POST /v1/apps/{CHAT}/resume"):
            self.assertIn(part, row)
        self.assertEqual(browser.text("#apps").count("The queue is held"), 1)
        self.picture("held")
        bench.mend()
        bench.ask("POST", f"v1/apps/{CHAT}/resume", key="chief")
        browser.wait("no notice", lambda: browser.text("#notices") == "")
        browser.wait_for_text("#readiness", "Ready")

    def test_a_key_that_may_pauses_resumes_and_cancels(self):
        bench = self.bench
        bench.wait_for(bench.wake(token(60)), "sent")
        waiting = bench.wake(token(60))
        self.load(key="chief")
        browser = self.browser

        def press(words):
            button = f"[aria-label='{words} {SHOP} (sandbox)']"
            browser.wait(words, lambda: browser.all(button))
            browser.all(button)[0].click()

        press("Pause")
        browser.driver.switch_to.alert.dismiss()
        self.assertNotIn("paused", browser.text("#apps"))
        press("Pause")
        browser.driver.switch_to.alert.accept()
        browser.wait_for_text("#apps", "paused")
        press("Resume")
        browser.wait("no pause", lambda: "paused" not in browser.text("#apps"))
        browser.look_up(waiting)
        browser.wait("the button", lambda: browser.all(f"[data-key='cancel-{waiting}']"))
        browser.all(f"[data-key='cancel-{waiting}']")[0].click()
        browser.driver.switch_to.alert.accept()
        browser.wait_for_text("#look-up-answer", "cancelled")

    def test_text_of_others_is_text(self):
        self.load()
        name = "%3Cimg%20src%3Dx%20onerror%3D%22document.title%3D'owned'%22%3E"
        self.bench.ask("POST", f"v1/apps/{SHOP}/pause?reason={name}", key="chief")
        self.browser.wait_for_text("#apps", "<img src=x onerror=\"document.title='owned'\">")
        self.assertEqual(self.browser.all("img"), [])
        self.assertIn("paused", self.browser.text("#apps"))
        self.assertEqual(self.browser.driver.title, "Rouse")
        self.bench.ask("POST", f"v1/apps/{SHOP}/resume", key="chief")

    def test_a_gateway_that_is_away_is_waited_for(self):
        self.bench.wait_for(self.bench.wake(token(7)), "sent")
        self.load()
        browser = self.browser
        browser.wait_for_text("#tiles", "Accepted")
        self.bench.stop_gateway()
        browser.wait_for_text("#notices", "cannot be reached")
        self.assertEqual(browser.text("#readiness"), "Not reached")
        self.assertTrue(browser.is_shown("figures"))
        self.picture("away")
        self.bench.start_gateway()
        browser.wait_for_text("#liveness", "Live")
        browser.wait_for_text("#readiness", "Ready")
        browser.wait("no trouble", lambda: "cannot be reached" not in browser.text("#notices"))
        self.assertIn("started anew", browser.text("#notices"))


class TheArithmetic(Case):
    def test_quantiles_are_those_of_prometheus(self):
        self.load(key=None)
        quantile = "return quantile([[1, 10], [2, 30], [Infinity, arguments[0]]], arguments[1])"
        for count, q, expected in ((40, 0.25, 1), (40, 0.5, 1.5), (40, 0.99, 2), (30, 1, 2),
                                   (40, 0.125, 0.5)):
            self.assertEqual(self.browser.run(quantile, count, q), expected, (count, q))
        self.assertIsNone(self.browser.run("return quantile([[1, 0], [Infinity, 0]], 0.5)"))
        self.assertIsNone(self.browser.run("return quantile([], 0.5)"))

    def test_metrics_are_parsed(self):
        self.load(key=None)
        text = ('# HELP a b\na{x="1\\"2\\n",y=""} 3\na{x="4"} 5.5\nb 7\n'
                'c_bucket{le="+Inf"} 1\nbroken{\n')
        self.assertEqual(
            self.browser.run("return Object.fromEntries(parseMetrics(arguments[0]))", text),
            {"a": [{"labels": {"x": '1"2\n', "y": ""}, "value": 3},
                   {"labels": {"x": "4"}, "value": 5.5}],
             "b": [{"labels": {}, "value": 7}],
             "c_bucket": [{"labels": {"le": "+Inf"}, "value": 1}]})

    def test_events_are_found_in_pieces(self):
        self.load(key=None)
        self.assertEqual(
            self.browser.run("""
              const parser = new EventParser();
              return ['retry: 3000\\n\\n: alive\\n\\nevent: out', 'come\\nid: 1\\ndata: {"a"',
                ':1}\\n', '\\ndata: b\\r\\ndata: c\\r\\n\\r\\n'].map(
                (piece) => parser.take(piece))"""),
            [[], [], [], [{"name": "outcome", "data": '{"a":1}'},
                          {"name": "message", "data": "b\nc"}]])

    def test_durations_are_said(self):
        self.load(key=None)
        for milliseconds, words in {
            0: "0 s", 0.5: "500 µs", 12.345: "12.3 ms", 1234: "1.23 s", 59_000: "59 s",
            200_000: "3 min 20 s", 7_500_000: "2 h 5 min", 273_600_000: "3 d 4 h",
            3_599_900: "60 min", 120_000: "2 min",
        }.items():
            self.assertEqual(
                self.browser.run("return durationWords(arguments[0])", milliseconds), words)


class Development(unittest.TestCase):
    def test_a_gateway_for_trying_out_needs_no_key(self):
        process = subprocess.Popen(
            [ROUSE, "serve", "--dev", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
            text=True)
        browser = Browser()
        try:
            lines = []
            for line in process.stdout:
                lines.append(line)
                if line.startswith("Stop it with"):
                    break
            address = next(line.split()[-1] for line in lines if line.startswith("The dashboard: "))
            browser.open(address)
            browser.wait("the first wake", lambda: browser.is_shown("first-wake"))
            self.assertFalse(browser.is_shown("sign-in"))
            self.assertFalse(browser.is_shown("forget"))
            command = browser.find("first-wake-command").text
            self.assertNotIn("Authorization", command)
            subprocess.run(["bash", "-c", command], check=True, capture_output=True)
            browser.wait_for_text("#feed-list", "✓ sent")
            self.assertEqual(browser.complaints(), [])
        finally:
            browser.close()
            process.terminate()
            process.wait(timeout=15)
            process.stdout.close()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]], verbosity=2)
