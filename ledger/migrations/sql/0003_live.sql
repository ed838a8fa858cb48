-- What models say while they are saying it, for viewers only: no fact, gone once it is recorded.
--
-- Unlogged: a crash of the database empties it, and the response in the ledger makes it good.

create schema live;

create unlogged table live.piece (
  run_id text collate "C" not null,
  turn int not null,
  step int not null,
  request int not null,
  seq int not null,
  text text not null,
  at timestamptz not null default statement_timestamp(),
  primary key (run_id, turn, step, request, seq)
);
