"""Draws epsilon.svg: the probabilities of a noisy count with and without one person, by the law that counts use. `python docs/pictures/epsilon.py`"""

from __future__ import annotations

from math import exp
from pathlib import Path

STYLE = (
    ".paper{fill:#fff}.ink{fill:#17212b}.grey{fill:#59646f}.with{fill:#1f4a7c}.without{fill:#e09f3e}.axis{stroke:#8b96a1}"
    "@media (prefers-color-scheme:dark){.paper{fill:#14181d}.ink{fill:#e8edf2}.grey{fill:#a3afba}.with{fill:#9cc4f2}.without{fill:#d08c2f}.axis{stroke:#75818d}}"
)


def probability(k: int, epsilon: float) -> float:
    a = exp(-epsilon)
    return (1 - a) / (1 + a) * a ** abs(k)


def panel(epsilon: float, top: int) -> list[str]:
    """One epsilon: 40 people with the condition without you, 41 with you."""
    lines = [f'<text class="ink" x="20" y="{top + 16}" font-size="15">epsilon {epsilon:g}: bars of one answer differ by a factor of at most {exp(epsilon):.3g}</text>']
    base, most = top + 130, max(probability(0, epsilon), 0.01)
    for answer in range(32, 50):
        left = 30 + (answer - 32) * 38
        for people, name, shift in ((40, "without", 0), (41, "with", 15)):
            height = 100 * probability(answer - people, epsilon) / most
            lines.append(f'<rect class="{name}" x="{left + shift}" y="{base - height:.2f}" width="14" height="{height:.2f}"/>')
        lines.append(f'<text class="grey" x="{left + 15}" y="{base + 16}" font-size="11" text-anchor="middle">{answer}</text>')
    lines.append(f'<line class="axis" x1="20" x2="720" y1="{base}" y2="{base}"/>')
    return lines


def main() -> None:
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="What epsilon means" width="740" height="380" viewBox="0 0 740 380" font-family="system-ui, sans-serif">',
        "<title>The probability of each answer to a noisy count, without you and with you</title>",
        f"<style>{STYLE}</style>",
        '<rect class="paper" width="740" height="380"/>',
        *panel(0.5, 8),
        *panel(2, 172),
        '<rect class="without" x="20" y="336" width="12" height="12"/><text class="ink" x="38" y="347" font-size="13">probability of the answer if you are not in the file (40 people are)</text>',
        '<rect class="with" x="20" y="356" width="12" height="12"/><text class="ink" x="38" y="367" font-size="13">if you are (41)</text>',
        "</svg>",
    ]
    Path(__file__).with_name("epsilon.svg").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
