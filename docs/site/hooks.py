"""What MkDocs does beside its own: links that lead out of docs/ go to the repository, once it is
certain that what they name is there."""

import os
import posixpath
import re

REPOSITORY = "https://github.com/mulligan-run/mulligan/blob/main/"
OUT = re.compile(r"\]\(((?:\.\./)+[^)#\s]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown, page, config, files):
    root = config["extra"]["root"]

    def repository(link):
        path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page.file.src_uri), link[1]))
        if not os.path.exists(os.path.join(root, path)):
            raise SystemExit(f"docs/{page.file.src_uri} links to {path}, which is not there")
        return f"]({REPOSITORY}{path}{link[2] or ''})"

    return OUT.sub(repository, markdown)
