# SPDX-License-Identifier: Apache-2.0
"""A Chromium that looks at the dashboard, and what the tests ask of it."""

import base64
import pathlib
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

PATIENCE_SECONDS = 20
PHONE_WIDTH = 500
# What the browser itself says of answers that the page expects.
EXPECTED_NOISE = ("status of 401", "status of 403", "status of 404", "status of 503",
                  "net::ERR_CONNECTION_REFUSED", "net::ERR_INCOMPLETE_CHUNKED_ENCODING",
                  "net::ERR_CONNECTION_RESET", "net::ERR_EMPTY_RESPONSE")

# The text on the page whose contrast with what is behind it is below WCAG 2.2, 1.4.3 (AA).
CONTRAST = """
const parse = (text) => {
  const numbers = text.match(/[\\d.]+/g).map(Number);
  return {rgb: numbers.slice(0, 3), alpha: numbers.length > 3 ? numbers[3] : 1};
};
const luminance = (rgb) => {
  const [r, g, b] = rgb.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (element) => {
  for (let each = element; each; each = each.parentElement) {
    const {rgb, alpha} = parse(getComputedStyle(each).backgroundColor);
    if (alpha === 1) return rgb;
  }
  return [255, 255, 255];
};
const faults = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
let count = 0;
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
  if (element.closest(".visually-hidden, .skip, noscript, script, style, title, option")) continue;
  const style = getComputedStyle(element);
  const isSVG = element instanceof SVGElement;
  const text = parse(isSVG ? style.fill : style.color).rgb;
  const [light, dark] = [luminance(text), luminance(behind(element))].sort((a, b) => b - a);
  const size = parseFloat(style.fontSize);
  const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
  const ratio = (light + 0.05) / (dark + 0.05);
  count += 1;
  if (ratio < (isLarge ? 3 : 4.5)) {
    faults.push(`${ratio.toFixed(2)}: ${walker.currentNode.data.trim().slice(0, 40)}`);
  }
}
return [count, faults];
"""


class Browser:
    """One tab, in light or dark, as wide as asked."""

    def __init__(self, is_dark=False, width=1360, height=900):
        options = Options()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu",
                         "--disable-dev-shm-usage", "--hide-scrollbars",
                         f"--window-size={width},{height}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(
            options=options, service=Service("/usr/bin/chromedriver"))
        self.resize(width, height)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}]})

    def close(self):
        self.driver.quit()

    def resize(self, width, height=800):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1,
            "mobile": width < PHONE_WIDTH})

    def live_in(self, zone):
        self.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": zone})

    def open(self, address):
        self.driver.get(address)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, name):
        return self.driver.find_element(By.ID, name)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector):
        """The text as it is seen, white space as one space; empty when it is not there."""
        elements = self.all(selector)
        return " ".join(elements[0].text.split()) if elements else ""

    def is_shown(self, name):
        return self.find(name).is_displayed()

    def wait(self, words, condition):
        """Waits until a condition holds; says in words what never did."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            try:
                value = condition()
            except Exception:  # An element that was just replaced.
                value = None
            if value:
                return value
            time.sleep(0.1)
        raise AssertionError(f"waited {PATIENCE_SECONDS} s for: {words}; the page says:\n"
                             + self.text("body"))

    def wait_for_text(self, selector, part):
        self.wait(f"{part!r} in {selector}", lambda: part in self.text(selector))

    def sign_in(self, key):
        self.wait("the form for the key", lambda: self.is_shown("sign-in"))
        field = self.find("key")
        field.clear()
        field.send_keys(key + Keys.ENTER)

    def look_up(self, subject):
        field = self.find("subject")
        field.clear()
        field.send_keys(subject + Keys.ENTER)

    def press(self, *keys):
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def focused(self):
        """What has the focus: its id, or its text."""
        element = self.driver.switch_to.active_element
        return element.get_attribute("id") or element.text

    def width(self):
        """How wide the page is, which is wider than its window when something sticks out."""
        return self.run("return document.documentElement.scrollWidth")

    def poor_contrasts(self):
        count, faults = self.run(CONTRAST)
        if count < 40:
            raise AssertionError(f"only {count} texts were found")
        return faults

    def complaints(self):
        """What the console holds, but for answers that the page expects."""
        return [entry["message"] for entry in self.driver.get_log("browser")
                if not any(noise in entry["message"] for noise in EXPECTED_NOISE)]

    def save(self, path):
        """A picture of the whole page."""
        size = self.driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
        picture = self.driver.execute_cdp_cmd("Page.captureScreenshot", {
            "captureBeyondViewport": True,
            "clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"],
                     "scale": 1}})
        pathlib.Path(path).write_bytes(base64.b64decode(picture["data"]))
