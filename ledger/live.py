"""Keeps the text of a request that is still being answered, for those who watch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.runs.cursor import Piece, Request

if TYPE_CHECKING:
    from ledger.connect import Ledger

_WRITE = """insert into live.piece (run_id, turn, step, request, seq, text)
  values ($1, $2, $3, $4, $5, $6) on conflict do nothing"""
_READ = """select seq, text from live.piece
  where run_id = $1 and turn = $2 and step = $3 and request = $4 and seq > $5 order by seq"""


async def write_piece(ledger: Ledger, run_id: str, piece: Piece) -> None:
    """Add the next piece of a request's text; the same piece again changes nothing."""
    at = piece.request
    await ledger.pool.execute(_WRITE, run_id, at.turn, at.step, at.n, piece.seq, piece.text)


async def read_pieces(ledger: Ledger, run_id: str, at: Request, after: int = 0) -> list[Piece]:
    """Read the pieces of a request that come after one of them, in order."""
    rows = await ledger.pool.fetch(_READ, run_id, at.turn, at.step, at.n, after)
    return [Piece(at, row["seq"], row["text"]) for row in rows]


async def drop_pieces(ledger: Ledger, run_id: str) -> None:
    """Forget all that was kept of a run: the ledger has it, or it came to nothing."""
    await ledger.pool.execute("delete from live.piece where run_id = $1", run_id)


async def drop_old_pieces(ledger: Ledger) -> None:
    """Forget what a worker that died has left behind, a day later."""
    await ledger.pool.execute("delete from live.piece where at < now() - interval '1 day'")
