"""Appends with pyeventsourcing's default recorder; runs in the rivals' own environment.

Called with the size of an event, the server in POSTGRES_*. Reads {"writers", "seconds"} a line
and answers with {"per_second"}: single events, each writer a thread on a stream of its own.
"""

import json
import os
import sys
import threading
import time
import uuid

from eventsourcing.persistence import ApplicationRecorder, InfrastructureFactory, StoredEvent
from eventsourcing.utils import Environment

MOST = 32


def main() -> None:
    """Answer until the input ends."""
    state = b"x" * int(sys.argv[1])
    given = {
        "PERSISTENCE_MODULE": "eventsourcing.postgres",
        "POSTGRES_POOL_SIZE": str(MOST),
        "POSTGRES_CONN_MAX_AGE": "3600",
    }

    environment = Environment(name="bench", env={**os.environ, **given})
    recorder = InfrastructureFactory.construct(environment).application_recorder()
    for line in sys.stdin:
        asked = json.loads(line)
        rate = measure(recorder, state, asked["writers"], asked["seconds"])
        print(json.dumps({"per_second": rate}), flush=True)


def measure(recorder: ApplicationRecorder, state: bytes, writers: int, seconds: float) -> float:
    """Write for a while with so many threads."""
    counts = [0] * writers
    until = [0.0]
    gate = threading.Barrier(writers + 1)

    def write(number: int) -> None:
        stream, version = uuid.uuid4(), 0
        gate.wait()
        while time.perf_counter() < until[0]:
            recorder.insert_events([StoredEvent(stream, version, "call.settled", state)])
            version += 1
        counts[number] = version

    threads = [threading.Thread(target=write, args=(number,)) for number in range(writers)]
    for thread in threads:
        thread.start()
    began = time.perf_counter()
    until[0] = began + seconds
    gate.wait()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.perf_counter() - began)


if __name__ == "__main__":
    main()
