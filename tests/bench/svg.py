# SPDX-License-Identifier: GPL-2.0
"""What the plots of both boards are drawn with."""
import html

WIDTH, MARGIN = 960, 24
OURS, PEER, FAINT, LIMIT = "#1b6ca8", "#b9bec4", "#e3e6e9", "#c0392b"


class Drawing:
    def __init__(self):
        self.parts = []

    def add(self, tag, **attributes):
        text = attributes.pop("text", None)
        words = " ".join(f'{key.replace("_", "-")}="{html.escape(str(value))}"'
                         for key, value in attributes.items())
        end = "/>" if text is None else f">{html.escape(text)}</{tag}>"
        self.parts.append(f"<{tag} {words}{end}")

    def text(self, x, y, text, size=13, **attributes):
        self.add("text", x=round(x, 1), y=round(y, 1), text=text, font_size=size, **attributes)

    def line(self, x1, y1, x2, y2, color, **attributes):
        self.add("line", x1=round(x1, 1), y1=round(y1, 1), x2=round(x2, 1), y2=round(y2, 1),
                 stroke=color, **attributes)

    def svg(self, height):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
                f'width="{WIDTH}" height="{height}" font-family="sans-serif" fill="#222">\n'
                f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>\n'
                + "\n".join(self.parts) + "\n</svg>")
