"""Where a run is looked at in the Temporal UI."""

from __future__ import annotations

from urllib.parse import quote


def run_page(ui_address: str | None, namespace: str, workflow_id: str, temporal_run: str) -> str:
    """Give the address of a run's history page; "" where the UI's address is not known.

    There is none either for a run that waits for its slot: it has no workflow yet.

    Without a Temporal run it is the page that leads to the newest one.
    """
    if not ui_address or not workflow_id:
        return ""
    page = f"{ui_address.rstrip('/')}/namespaces/{quote(namespace, safe='')}/workflows"
    page += f"/{quote(workflow_id, safe='')}"
    return f"{page}/{quote(temporal_run, safe='')}/history" if temporal_run else page
