"""A remote source of agent definitions over real HTTP, and answers that no source should give."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from domain.agents.files.agent_file import to_json

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from domain.agents.files.agent_file import AgentFile


Answer = tuple[int, dict[str, str], bytes]
"""Status, headers, body."""


@dataclass
class Served:
    """What the server answers under each path, and what it was asked."""

    answers: dict[str, Answer] = field(default_factory=dict[str, Answer])
    asked: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    url: str = ""


def document(agents: Sequence[AgentFile]) -> dict[str, object]:
    """Write definitions by the contract."""
    return {"contract": 1, "agents": [to_json(agent) for agent in agents]}


@contextmanager
def agent_server(
    body: object = None, *, status: int = 200, location: str = ""
) -> Generator[Served]:
    """Serve one answer under `/agents`: a document, bytes as they are, or a redirect."""
    served = Served()
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Location": location} if location else {}
    served.answers["/agents"] = (status, headers, data)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.asked.append((self.path, self.headers.get("Authorization", "")))
            status, headers, data = served.answers.get(self.path, (404, {}, b""))
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its own name
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
