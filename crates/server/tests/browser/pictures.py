"""The pictures of docs/server.md, made of the real pages of a demonstration, in light and dark.

    python3 crates/server/tests/browser/pictures.py target/debug/equipoise-server [FOLDER, docs/pictures unless it is named]
"""

import collections
import shutil
import struct
import sys
import tempfile
import zlib
from pathlib import Path

from check import Visit, started
from chromium import Chromium

ROOT = Path(__file__).resolve().parents[4]
WIDTH, HEIGHT = 900, 760


def pixels(data):
    """Width, height and the rows of a PNG of eight bits a channel, as bytes of red, green and blue."""
    place, packed, channels, size = 8, b"", 3, (0, 0)
    while place < len(data):
        length, kind = struct.unpack(">I4s", data[place : place + 8])
        part = data[place + 8 : place + 8 + length]
        if kind == b"IHDR":
            size, channels = struct.unpack(">II", part[:8]), {2: 3, 6: 4}[part[9]]
        elif kind == b"IDAT":
            packed += part
        place += 12 + length
    raw, stride, before, rows = zlib.decompress(packed), size[0] * channels, bytes(size[0] * channels), []
    for number in range(size[1]):
        start = number * (stride + 1)
        how, line = raw[start], bytearray(raw[start + 1 : start + 1 + stride])
        for at in range(stride):
            left = line[at - channels] if at >= channels else 0
            up, corner = before[at], before[at - channels] if at >= channels else 0
            if how == 1:
                line[at] = (line[at] + left) & 255
            elif how == 2:
                line[at] = (line[at] + up) & 255
            elif how == 3:
                line[at] = (line[at] + (left + up) // 2) & 255
            elif how == 4:
                guess = left + up - corner
                nearest = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))
                line[at] = (line[at] + nearest[2]) & 255
        # Five bits of each channel, spread over eight, so that white stays white.
        coarse = [(value & 0xF8) | (value >> 5) for value in line]
        rows.append([tuple(coarse[at : at + 3]) for at in range(0, stride, channels)])
        before = bytes(line)
    return size, rows


def small(data):
    """The same picture with few colours: pages have few, and a repository keeps every version of a picture."""
    (width, height), rows = pixels(data)
    counted = collections.Counter(colour for row in rows for colour in row)
    colours = [colour for colour, _ in counted.most_common(64)]
    place = {colour: number for number, colour in enumerate(colours)}
    for colour in counted:
        if colour not in place:
            near = lambda known: sum((one - two) ** 2 for one, two in zip(known, colour))  # noqa: E731
            place[colour] = place[min(colours, key=near)]
    lines = b"".join(b"\0" + bytes(place[colour] for colour in row) for row in rows)
    palette = b"".join(bytes(colour) for colour in colours)
    parts = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)), (b"PLTE", palette)]
    parts += [(b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")]
    part = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))  # noqa: E731
    return b"\x89PNG\r\n\x1a\n" + b"".join(part(kind, body) for kind, body in parts)


def main():
    program, *rest = sys.argv[1:]
    folder = Path(rest[0]) if rest else ROOT / "docs/pictures"
    folder.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert chromium, "no Chromium is installed"
    process, address, links = started(program)
    browser = Chromium(chromium)
    visit = Visit(browser, address, Path(tempfile.mkdtemp(prefix="equipoise-pictures-")))

    def keep(name):
        for scheme in ("light", "dark"):
            taken = visit.pictures / f"{name}.png"
            browser.picture(taken, scheme, WIDTH, HEIGHT)
            kept = folder / f"server-{name}-{scheme}.png"
            kept.write_bytes(small(taken.read_bytes()))
            print(f"{kept} {kept.stat().st_size // 1024} KB")

    try:
        # On a busy machine scans take longer than the two seconds of the demonstration.
        visit.sign_in(links["steward"])
        browser.open(f"{address}/data-sets/salaries")
        browser.run("document.getElementById('answer_time').value = '6'; 1")
        browser.press("#time + form button")
        visit.sign_out()
        visit.sign_in(links["analyst"])
        keep("data-sets")
        ask = f"{address}/data-sets/salaries/ask?statistic=mean&column=salary&group_by=town&epsilon=1&delta=1e-6"
        browser.open(ask)
        browser.run("document.getElementById('plan').scrollIntoView(); 1")
        keep("ask")
        browser.press("#plan form[method=post] button")
        browser.until("document.body.innerText.includes('Receipt')", 20)
        keep("answer")
        browser.open(f"{address}/data-sets/salaries/watch?epsilon=0.5&delta=1e-6&budget_per_unit=2")
        browser.press("#plan form[method=post] button")
        for where, threshold in [("salary > 50000", "1000"), ("town = ''Arden''", "500"), ("visits >= 3", "4000")]:
            where = where.replace("''", "'")
            browser.run(f"document.getElementById('where').value = {where!r}; document.getElementById('threshold').value = '{threshold}'; 1")
            browser.press("main form button")
        keep("monitor")
        visit.sign_out()
        visit.sign_in(links["steward"])
        browser.open(f"{address}/data-sets/salaries")
        keep("data-set")
        visit.sign_out()
        visit.sign_in(links["reviewer"])
        browser.open(f"{address}/review")
        browser.press("form[action='/review/verify'] button")
        keep("review")
    finally:
        browser.close()
        process.terminate()
        process.wait(10)


if __name__ == "__main__":
    main()
