-- Projections: rows that are made of the feed's events, for lists and sums. They decide
-- nothing, and dropping them loses nothing: `legato ledger rebuild` runs this file again.
--
-- Columns are the fields of domain/projections/rows.py, in their order. There is no clock,
-- no sequence and no default in here: the same events give the same rows, whoever writes
-- them and when. NULL is what has not happened or what nobody knows; it is never zero.
--
-- checkpoint   how far a projector has come in the feed, written with its rows.

create schema if not exists projection;

create table if not exists projection.checkpoint (
  projector text primary key,
  global_seq bigint not null
) with (fillfactor = 50);
insert into projection.checkpoint (projector, global_seq) values ('rows', 0) on conflict do nothing;

create table if not exists projection.run (
  run_id text collate "C" not null,
  version bigint not null,
  status text not null,
  workflow_id text,
  agent text collate "C",
  entry text,
  workspace text,
  workspace_path text,
  session text collate "C",
  slot text,
  slot_n bigint,
  resumes text,
  principal text,
  profile text,
  attended boolean,
  model text,
  fingerprint text,
  confinement text,
  epoch bigint not null,
  temporal_run text,
  items bigint,
  items_done bigint not null,
  item bigint not null,
  turn bigint not null,
  turns_done bigint not null,
  step bigint not null,
  steps bigint not null,
  answered bigint not null,
  calls bigint not null,
  tokens bigint not null,
  cost numeric not null,
  cost_unknown bigint not null,
  input_tokens bigint,
  output_tokens bigint,
  cached_tokens bigint,
  tokens_unknown bigint not null,
  waits bigint not null,
  waiting_on text,
  waiting_ref text,
  waiting_until text,
  stuck text,
  stop_by text,
  stop_reason text,
  refusal text,
  end_reason text,
  end_by text,
  end_message text,
  unknown_effects bigint not null,
  open_questions bigint not null,
  open_unknown bigint not null,
  accepted_at timestamptz,
  started_at timestamptz,
  ended_at timestamptz,
  changed_at timestamptz,
  primary key (run_id)
) with (fillfactor = 70);

create table if not exists projection.item (
  run_id text collate "C" not null,
  item bigint not null,
  name text,
  kind text,
  turns bigint not null,
  repairs bigint not null,
  checks bigint not null,
  check_ok boolean,
  started_at timestamptz,
  done_at timestamptz,
  primary key (run_id, item)
) with (fillfactor = 70);

create table if not exists projection.step (
  run_id text collate "C" not null,
  turn bigint not null,
  step bigint not null,
  item bigint not null,
  requests bigint not null,
  open_n bigint,
  answered_n bigint,
  failures bigint not null,
  failed text,
  model text,
  finish text,
  calls bigint,
  tokens bigint not null,
  cost numeric,
  cost_unknown bigint not null,
  input_tokens bigint,
  output_tokens bigint,
  cached_tokens bigint,
  last_n bigint not null,
  reserved_tokens bigint not null,
  reserved_cost text,
  reserved_before jsonb not null,
  requested_at timestamptz,
  answered_at timestamptz,
  primary key (run_id, turn, step)
) with (fillfactor = 70);

create table if not exists projection.call (
  run_id text collate "C" not null,
  turn bigint not null,
  step bigint not null,
  position bigint not null,
  item bigint not null,
  name text,
  round bigint not null,
  unknown bigint not null,
  tag text,
  code text,
  by text,
  changed bigint,
  asked_at timestamptz,
  intended_at timestamptz,
  settled_at timestamptz,
  primary key (run_id, turn, step, position)
) with (fillfactor = 70);

create table if not exists projection.input (
  run_id text collate "C" not null,
  input_id text collate "C" not null,
  kind text,
  text text,
  choices jsonb not null,
  who jsonb not null,
  turn bigint not null,
  step bigint not null,
  position bigint not null,
  expires_at text,
  how text,
  by text,
  late bigint not null,
  asked_at timestamptz,
  settled_at timestamptz,
  primary key (run_id, input_id)
) with (fillfactor = 70);

create table if not exists projection.session (
  session text collate "C" not null,
  version bigint not null,
  incoming bigint not null,
  run_id text collate "C",
  last_run text collate "C",
  runs bigint not null,
  messages bigint not null,
  later bigint not null,
  taken_at timestamptz,
  released_at timestamptz,
  message_at timestamptz,
  primary key (session)
) with (fillfactor = 70);

create table if not exists projection.usage (
  run_id text collate "C" not null,
  item bigint not null,
  day date not null,
  agent text collate "C" not null,
  steps bigint not null,
  calls bigint not null,
  tokens bigint not null,
  cost numeric,
  cost_unknown bigint not null,
  input_tokens bigint,
  output_tokens bigint,
  cached_tokens bigint,
  tokens_unknown bigint not null,
  primary key (run_id, item, day, agent)
) with (fillfactor = 70);

create index if not exists run_youngest on projection.run (accepted_at, run_id);
create index if not exists run_unended on projection.run (accepted_at, run_id) where ended_at is null;
create index if not exists input_open on projection.input (asked_at) where settled_at is null;
