"""An HTTP server in a process of its own, with the faults that downloads meet.

    python fileserver.py FOLDER

It prints its port, then one JSON line a request: path and headers. The first part of a path says how it behaves:
/plain/FILE, /norange/FILE (no resuming), /break/FILE (each response ends after a third of the file), /status/404/FILE,
/hub/OWNER/REPO/resolve/main/FILE (leads to /plain/ of another host and states the hash), /lie/... (states a wrong one).
"""

from __future__ import annotations

import hashlib
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Handler(BaseHTTPRequestHandler):
    folder: Path

    def do_GET(self) -> None:
        print(json.dumps({"path": self.path, "headers": dict(self.headers)}), flush=True)
        kind, _, rest = self.path.lstrip("/").partition("/")
        name = rest.rpartition("/")[2]
        data = b"" if kind == "status" else (self.folder / name).read_bytes() if (self.folder / name).exists() else None
        if kind == "status" or data is None:
            self.send_response(int(rest.partition("/")[0]) if kind == "status" else 404)
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif kind in ("hub", "lie"):
            self.send_response(302)
            digest = hashlib.sha256(data if kind == "hub" else b"something else").hexdigest()
            self.send_header("X-Linked-Etag", f'"{digest}"')
            self.send_header("Location", f"http://localhost:{self.server.server_port}/plain/{name}")  # type: ignore[attr-defined]
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self.give(data, kind)

    def give(self, data: bytes, kind: str) -> None:
        start = 0
        if kind != "norange" and (asked := self.headers.get("Range")):
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
        if start >= len(data) and start:
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(data)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        end = min(len(data), start + len(data) // 3 + 1) if kind == "break" else len(data)
        self.wfile.write(data[start:end])
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    Handler.folder = Path(sys.argv[1])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()
