"""What operators collect of workers: spans in one trace a run, counts, and no content."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from uuid import UUID

import httpx2 as httpx

from legato.embedded.ports import free_port
from tests.support.canaries import sightings
from tests.support.collector import collector

if TYPE_CHECKING:
    from tests.support.rig import Rig

CANARY = "canary-8c1f-of-telemetry"
SCRIPT = f"""
steps:
  - calls:
      - {{tool: get_api_spec, arguments: {{tool_names: [read_file], server_name: custom}}}}
      - {{tool: read_file, arguments: {{path: secret.txt}}}}
  - calls: [{{tool: write_file, arguments: {{path: out.txt, content: "{CANARY}"}}}}]
  - text: "done: {CANARY}"
"""


async def test_spans_and_counts_of_a_run_tell_its_activities_and_none_of_its_content(
    rig: Rig,
) -> None:
    (rig.workspace / "secret.txt").write_text(CANARY)
    ours, sdk = f"127.0.0.1:{free_port(None)}", f"127.0.0.1:{free_port(None)}"
    with collector() as kept:
        worker = rig.start_worker(
            LEGATO_METRICS_ADDRESS=ours,
            LEGATO_SDK_METRICS_ADDRESS=sdk,
            OTEL_EXPORTER_OTLP_ENDPOINT=kept.endpoint,
        )
        run_id = await rig.launch(model=rig.script(SCRIPT), message=CANARY)
        await rig.ended(run_id)
        counted = httpx.get(f"http://{ours}/metrics", timeout=10).text
        of_the_sdk = httpx.get(f"http://{sdk}/metrics", timeout=10).text
        worker.terminate()

    spans = kept.spans()
    mine = [span for span in spans if UUID(bytes=span.trace_id) == UUID(run_id)]
    assert {"build_definition", "take_step", "run_tool", "close_run"} <= {s.name for s in mine}
    told = [{one.key: one.value for one in span.attributes} for span in mine]
    assert all(one["legato.run_id"].string_value == run_id for one in told)
    assert {one["legato.tool"].string_value for one in told if "legato.tool" in one} == {
        "write_file"
    }
    assert 'legato_activities_total{activity="close_run",outcome="completed"} 1.0' in counted
    assert 'legato_tool_calls_total{outcome="ok",tool="write_file"} 1.0' in counted
    assert "legato_server_names_ignored_total 1.0" in counted
    assert "temporal_workflow_completed" in of_the_sdk
    everything = b"".join(kept.bodies) + counted.encode() + of_the_sdk.encode()
    log = worker.log.read_bytes()
    assert sightings(everything + log, [CANARY]) == []
    lines = [json.loads(line) for line in log.splitlines() if line.startswith(b"{")]
    assert any(line["event"] == "worker_ready" for line in lines)


async def test_a_metrics_port_that_is_taken_is_named(rig: Rig) -> None:
    """The worker does not start half observed."""
    taken = f"127.0.0.1:{free_port(None)}"
    first = rig.start_worker(LEGATO_METRICS_ADDRESS=taken)
    await rig.ended(await rig.launch(model=rig.script("steps: [{text: hello}]")))

    second = rig.start_worker(LEGATO_METRICS_ADDRESS=taken)

    assert second.process.wait(60) == 1
    assert "metrics_port_taken" in second.log.read_text()
    first.terminate()
