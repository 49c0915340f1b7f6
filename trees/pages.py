#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes HTML of the manual pages with mandoc(1): links between pages, to sections, and from each type of nodes to the
examples that have it. The examples get pages with their text, which link back, and to their pictures in the gallery.

usage: pages.py BTCTL STYLE GALLERY DIRECTORY FILE...
"""

import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

# The way of a reader, see README.md.
ORDER = {
    "For everybody": ["btd-glossary.7"],
    "To write trees": ["btd-tree.5", "btd-nodes.5", "btd-cookbook.7", "btd-expressions.7", "btd-secrets.7"],
    "To run them": ["btctl.1", "btd.8", "btd-run@.service.8", "btd-shutdown.7", "btd-metrics.8", "btd-outputs.5"],
    "To know exactly": ["btd-semantics.7", "org.btd1.5"],
}
CLASSES = {"control": "Controls", "decorator": "Decorators", "action": "Actions", "condition": "Conditions"}


def document(title, body, up=""):
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>{html.escape(title)}</title>
<link rel="stylesheet" href="{up}style.css"/>
</head>
<body>
<nav><a href="{up}index.html">All pages of btd</a></nav>
{body}
</body>
</html>
"""


def link(target, text):
    return f'<a href="{target}">{text}</a>'


def titles(body):
    """The anchors of a page's sections."""
    found = re.findall(r'<h[12] class="S[hs]" id="([^"]+)"><a[^>]*>(.*?)</a></h', body, re.S)
    return {" ".join(re.sub("<.*?>", "", title).split()): anchor for anchor, title in found}


def link_sections(body, pages):
    """'DURABILITY in btd(8)' links to the section."""
    def linked(match):
        text, page = " ".join(match[1].split()), match[3].removesuffix(".html")
        title = max((title for title in titles(pages.get(page, "")) if re.search(rf"(?:^|\W){re.escape(title)}$", text)),
                    key=len, default=None)
        if not title:
            return match[0]
        before = re.sub(r"\s+".join(map(re.escape, title.split())) + r"\s*$", "", match[1])
        return before + link(f"{match[3]}#{titles(pages[page])[title]}", title) + match[2]
    body = re.sub(r'<a class="Sx"[^>]*>([^<]*)</a>(\s+in\s+<a class="Xr" href="([^"]*)">)', linked, body)
    return re.sub(r'([^<>]+)(\s+in\s+<a class="Xr" href="([^"]*)">)', linked, body)


def link_pages(body, pages):
    """Pages of other packages are not there."""
    return re.sub(r'<a class="Xr" href="([^"#]*)\.html">(.*?)</a>',
                  lambda match: match[0] if match[1] in pages else f'<span class="Xr">{match[2]}</span>', body)


class Examples:
    def __init__(self, files, types, gallery):
        self.texts = {path.stem: path.read_text(encoding="utf-8") for path in files}
        self.gallery = gallery
        self.names = {name: node_type["name"] for node_type in types for name in [node_type["name"], *node_type["aliases"]]}

    def of(self, name):
        """The examples that have nodes of the type."""
        return [example for example, text in self.texts.items()
                if name in {self.names.get(found) for found in re.findall(r'"type": "(\w+)"', text)}]

    def links(self, names):
        return ", ".join(link(f"examples/{name}.html", name) for name in names)

    def add_to_types(self, body):
        def added(match):
            names = self.of(match[1])
            return f'{match[0]}<p class="examples">Examples: {self.links(names)}</p>\n' if names else match[0]
        return re.sub(r'<h2 class="Ss" id="(\w+)">(?:(?!</section>).)*', added, body, flags=re.S)

    def link_files(self, body):
        return re.sub(r'(<span class="Pa">)([\w-]+)\.json(</span>)', lambda match: match[1] + link(
            f"examples/{match[2]}.html", f"{match[2]}.json") + match[3] if match[2] in self.texts else match[0], body)

    def page(self, name):
        def linked(match):
            target = self.names.get(match[2])
            return match[1] + link(f"../btd-nodes.5.html#{target}", match[2]) + match[3] if target else match[0]
        text = re.sub(r'(&quot;type&quot;: &quot;)(\w+)(&quot;)', linked, html.escape(self.texts[name]))
        # A file with trees for others only has no picture.
        picture = "" if not (self.gallery / f"{name}.svg").exists() else \
            link(f"../../gallery/{name}.html", f'<img src="../../gallery/{name}.svg" alt="The tree {name}"/>')
        return document(f"{name}.json", f"<h1>{name}.json</h1>\n<pre>{text}</pre>\n{picture}", "../")


def index(pages, types, examples):
    body = ["<h1>btd</h1>"]
    assert sorted(sum(ORDER.values(), [])) == sorted(pages), "pages.py has the order of the pages"
    for title, names in ORDER.items():
        body.append(f"<h2>{title}</h2>\n<ul>")
        for name in names:
            about = re.search(r'<span class="Nd">(.*?)</span>', pages[name], re.S)[1]
            page, section = name.rsplit(".", 1)
            body.append(f"<li>{link(f'{name}.html', f'{page}({section})')}: {about}</li>")
        body.append("</ul>")
    body.append("<h2>Types of nodes</h2>\n<dl>")
    for key, title in CLASSES.items():
        names = [link(f"btd-nodes.5.html#{node_type['name']}", node_type["name"]) for node_type in types
                 if node_type["class"] == key]
        body.append(f"<dt>{title}</dt>\n<dd>{', '.join(names)}</dd>")
    body.append(f"</dl>\n<h2>Examples</h2>\n<p>{examples.links(examples.texts)}</p>")
    body.append(f"<p>{link('../gallery/index.html', 'Pictures of them')}</p>")
    return document("btd", "\n".join(body))


def main():
    btctl, style, gallery, directory = sys.argv[1], *map(pathlib.Path, sys.argv[2:5])
    files = list(map(pathlib.Path, sys.argv[5:]))
    command = [*os.environ.get("BTD_WRAPPER", "").split(), btctl, "types", "--json"]
    types = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    examples = Examples([path for path in files if path.suffix == ".json"], types, gallery)

    pages = {}
    for path in (path for path in files if path.suffix != ".json"):
        body = subprocess.run(["mandoc", "-T", "html", "-O", "fragment,toc,man=%N.%S.html", path], capture_output=True,
                              encoding="utf-8", check=True).stdout
        pages[path.name] = re.sub(r'<table class="(?:head|foot)">.*?</table>\s*', "", body, flags=re.S)

    shutil.rmtree(directory, ignore_errors=True)
    (directory / "examples").mkdir(parents=True)
    shutil.copy(style, directory / "style.css")
    for name, body in pages.items():
        body = examples.link_files(link_pages(link_sections(body, pages), pages))
        if name == "btd-nodes.5":
            body = examples.add_to_types(body)
        page, section = name.rsplit(".", 1)
        heading = f"<h1>{page}({section})</h1>\n"
        (directory / f"{name}.html").write_text(document(f"{page}({section})", heading + body), encoding="utf-8")
    for name in examples.texts:
        (directory / "examples" / f"{name}.html").write_text(examples.page(name), encoding="utf-8")
    (directory / "index.html").write_text(index(pages, types, examples), encoding="utf-8")


main()
