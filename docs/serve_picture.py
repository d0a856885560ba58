"""Draw the picture of the page of a stream: start a server, feed it payments whose fraud changes, take a screenshot.

    python docs/serve_picture.py

It needs chromium, playwright and pillow (which matplotlib brings along).
"""

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

from driftline.serve.client import Client

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers.kill_server import free_port, start_server

PICTURE = Path(__file__).parent / "pictures" / "serve.png"
BATCH = 100


def payments(rng, n=6000, change_at=3900):
    """Return rows of payments and labels; what fraud looks like changes."""
    is_fraud = rng.random(n) < 0.3
    old = np.arange(n) < change_at
    amount = np.exp(rng.normal(3.0, 0.6, n)) * np.where(is_fraud & old, 4.0, 1.0)
    hour = np.where(is_fraud & ~old, rng.normal(4, 3, n), rng.normal(14, 4, n)) % 24
    age = rng.gamma(2.0, 200.0, n) * np.where(is_fraud, 0.5, 1.0)
    rows = [
        {"amount": round(a, 2), "hour": round(h, 1), "account_age_days": round(d), "country": str(c)}
        for a, h, d, c in zip(amount, hour, age, rng.choice(["DE", "FR", "NL"], n), strict=True)
    ]
    return rows, np.where(is_fraud, "fraud", "fine").tolist()


def feed(client, name, rows, labels, n_unlabelled):
    """Predict rows in batches, and send the labels of all but the last ones."""
    client.create(name, parameters={"features": "linear"})
    for start in range(0, len(rows), BATCH):
        ids = [f"row {t}" for t in range(start, start + BATCH)]
        client.predict(name, rows[start : start + BATCH], ids)
        n_known = min(BATCH, len(rows) - n_unlabelled - start)
        client.label(name, dict(zip(ids[:n_known], labels[start:], strict=False)))


def take_screenshot(address):
    """Write the upper part of the page in 128 colours."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1280, "height": 1010}, device_scale_factor=1.25)
        tab.goto(address)
        tab.locator(".plot path.line").first.wait_for(timeout=30_000)
        lowest = tab.get_by_role("region", name="Mistakes").bounding_box()
        size = {"width": 1280, "height": lowest["y"] + lowest["height"] + 16}
        tab.screenshot(path=PICTURE, full_page=True, clip={"x": 0, "y": 0, **size})
        browser.close()
    with Image.open(PICTURE) as picture:
        picture.quantize(128, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(PICTURE, optimize=True)


def main():
    """Start a server on a temporary folder, feed it, and take the screenshot."""
    rows, labels = payments(np.random.default_rng(7))
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        server = start_server(folder, port)
        try:
            with Client(f"http://127.0.0.1:{port}") as client:
                feed(client, "payments", rows, labels, n_unlabelled=37)
            take_screenshot(f"http://127.0.0.1:{port}/#/streams/payments")
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
