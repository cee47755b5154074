"""Looking into a report as a browser reads it: its tags, its texts, its tables."""

import base64
import re
from html.parser import HTMLParser

from core.reports.report import to_html

VOID = {"meta", "img", "link", "br", "input"}
#: All that a report is made of: nothing that runs, loads, or goes anywhere.
TAGS = {
    *("html", "head", "meta", "title", "style", "body", "header", "main", "section", "footer"),
    *(
        "h1",
        "h2",
        "p",
        "div",
        "figure",
        "img",
        "figcaption",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
    ),
    *("th", "td", "dl", "dt", "dd", "pre"),
}
ATTRIBUTES = {*("lang", "charset", "name", "content", "http-equiv", "class", "src", "alt", "scope")}


class Read(HTMLParser):
    """A report in parts.

    `tags`: every element that begins, with its attributes.
    `tables`: by caption; first the headings.
    `texts`: of headings, paragraphs and the like.
    """

    def __init__(self, document: str) -> None:
        super().__init__()
        self.tags, self.tables, self.texts, self.settings = [], {}, [], {}
        self._open, self._said, self._rows, self._caption, self._name = [], "", [], "", ""
        self.feed(document)
        self.close()
        assert not self._open, "every element ends"

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)
            self._said = ""
        if tag == "tr":
            self._rows.append([])

    def handle_data(self, data):
        self._said += data

    def handle_endtag(self, tag):
        assert self._open.pop() == tag
        said = self._said
        if tag in ("td", "th"):
            self._rows[-1].append(said)
        elif tag == "caption":
            self._caption = said
        elif tag == "table":
            self.tables[self._caption], self._rows = self._rows, []
        elif tag == "dt":
            self._name = said
        elif tag == "dd":
            self.settings[self._name] = said
        elif tag in ("h1", "h2", "p", "pre", "figcaption", "title"):
            self.texts.append(said)
        self._said = ""

    @property
    def pictures(self):
        """Every picture as SVG, with its words."""
        prefix = "data:image/svg+xml;base64,"
        images = [attrs for tag, attrs in self.tags if tag == "img"]
        assert all(image["src"].startswith(prefix) and image["alt"] for image in images)
        return {
            image["alt"]: base64.b64decode(image["src"].removeprefix(prefix)).decode()
            for image in images
        }


def read(report, **how):
    """Write a report and read it again."""
    return read_document(to_html(report, **how))


def read_document(document):
    """Read a report, after a look at whether it could do any harm or loads anything."""
    assert document.startswith("<!doctype html>") and document.rstrip().endswith("</html>")
    found = Read(document)
    assert {tag for tag, _ in found.tags} <= TAGS
    assert {name for _, attrs in found.tags for name in attrs} <= ATTRIBUTES
    style = document.partition("<style>")[2].partition("</style>")[0]
    assert not re.search(r"url\(|@import|javascript:", style)
    (policy,) = [attrs["content"] for _, attrs in found.tags if "http-equiv" in attrs]
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    for svg in found.pictures.values():
        assert not re.search(r"<(script|image|a|foreignObject|style|link)\b", svg)
        assert not re.search(r'(href|src)="', svg)
    return found
