"""Serves the market's pages: python3 -m market.serve"""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from string import Template

HERE = Path(__file__).parent
PAGES = {"/": ("Market", "market.html"), "/stalls": ("Stalls", "stalls.html"), "/order": ("Order a box", "order.html")}
TYPES = {".css": "text/css", ".svg": "image/svg+xml"}


class Market(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path in PAGES:
            title, body = PAGES[path]
            frame = Template((HERE / "templates" / "frame.html").read_text())
            self.answer("text/html; charset=utf-8", frame.substitute(title=title, body=(HERE / "templates" / body).read_text()).encode())
        elif (file := HERE / "static" / Path(path).name).is_file() and path.startswith("/static/"):
            self.answer(TYPES[file.suffix], file.read_bytes())
        else:
            self.send_response(204 if path == "/favicon.ico" else 404)
            self.end_headers()

    def answer(self, kind: str, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Market).serve_forever()
