-- The ledger: append-only streams of events, each stream a hash chain.
--
-- stream   one row a stream: its head. Appending locks this row.
-- event    the facts; body and envelope are the very bytes that were hashed.
-- blob     content-addressed bytes that are too large for a row.
-- hand_over  how far each relay has followed the ledger.
-- parked   what a relay could not hand over for good, and went on without.
-- append(...) is the one way in for more than one event; a single event goes by one
-- UPDATE ... INSERT statement of the same shape (ledger/append.py).

create schema ledger;

create table ledger.stream (
  stream_id text collate "C" primary key check (stream_id ~ '^[a-z]+/.'),
  kind text not null,
  version bigint not null default 0,
  head_hash bytea not null default decode(repeat('00', 32), 'hex') check (octet_length(head_hash) = 32),
  order_key bigint not null default 0,
  closed_at timestamptz,
  erased_at timestamptz
) with (fillfactor = 70);

create table ledger.event (
  stream_id text collate "C" not null,
  version bigint not null,
  event_id text collate "C" not null,
  order_key bigint not null,
  pos bigint generated always as identity,
  type text not null,
  schema_version smallint not null,
  correlation_id text not null,
  recorded_at timestamptz not null,
  envelope bytea not null,
  body bytea not null,
  codec smallint not null,
  key_id text not null,
  blobs bytea not null,
  body_commit bytea not null,
  same_digest bytea not null,
  hash bytea not null,
  primary key (stream_id, version),
  unique (stream_id, event_id)
);
create index event_order on ledger.event (order_key, pos);

create table ledger.blob (
  blob_id bytea primary key check (octet_length(blob_id) = 32),
  size bigint not null,
  data bytea not null
);

create table ledger.subject_key (
  key_id text primary key,
  secret bytea not null,
  destroyed_at timestamptz
);
insert into ledger.subject_key (key_id, secret)
values ('default', sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));

create table ledger.hand_over (
  relay text primary key,
  order_key bigint not null,
  pos bigint not null
);

create table ledger.parked (
  relay text not null,
  stream_id text collate "C" not null,
  version bigint not null,
  code text not null,
  at timestamptz not null default statement_timestamp(),
  primary key (relay, stream_id, version)
);

-- The ledger's clock: expiry is judged by it, and tests may set it forward.
create table ledger.clock_offset (one boolean primary key default true check (one), ahead interval not null);
insert into ledger.clock_offset (ahead) values ('0');
create function ledger.clock() returns timestamptz language sql stable
  return statement_timestamp() + (select ahead from ledger.clock_offset);

-- One link of a stream's chain; every variable field is prefixed with its length.
create function ledger.link(
  prev bytea, stream text, version bigint, recorded timestamptz, envelope bytea,
  codec smallint, key_id text, blobs bytea, body_commit bytea, same_digest bytea
) returns bytea language sql stable return sha256(
  'ledger/1'::bytea || prev
  || int4send(octet_length(convert_to(stream, 'UTF8'))) || convert_to(stream, 'UTF8')
  || int8send(version)
  || int8send((extract(epoch from recorded) * 1000000)::bigint)
  || int4send(octet_length(envelope)) || envelope
  || int2send(codec)
  || int4send(octet_length(convert_to(key_id, 'UTF8'))) || convert_to(key_id, 'UTF8')
  || int4send(octet_length(blobs)) || blobs
  || int4send(octet_length(body_commit)) || body_commit
  || int4send(octet_length(same_digest)) || same_digest
);

-- Append parts to several streams, all or nothing. Heads are locked in stream order, so
-- that two appends never deadlock; the order key is the greatest of the transaction's id
-- and the keys of all heads, so that (order_key, pos) keeps every stream in order.
-- LG001: a head is not at its expected version. LG002: a stream is closed.
create function ledger.append(
  p_stream text[], p_expected bigint[], p_after_end boolean[],
  e_part int[], e_id text[], e_type text[], e_schema smallint[], e_correlation text[],
  e_envelope bytea[], e_body bytea[], e_codec smallint[], e_key text[], e_blobs bytea[],
  e_commit bytea[], e_same bytea[], e_closes boolean[]
) returns table (out_stream text, out_version bigint, out_hash bytea) language plpgsql as $$
declare
  head ledger.stream;
  key bigint := pg_current_xact_id()::text::bigint;
  stamp timestamptz := statement_timestamp();
begin
  insert into ledger.stream (stream_id, kind)
    select s, split_part(s, '/', 1) from unnest(p_stream) s
    where not exists (select from ledger.stream t where t.stream_id = s)
    order by s collate "C"
    on conflict do nothing;
  for head in
    select * from ledger.stream t where t.stream_id = any (p_stream) order by t.stream_id for update
  loop
    key := greatest(key, head.order_key);
  end loop;
  for i in 1 .. cardinality(p_stream) loop
    select * into strict head from ledger.stream t where t.stream_id = p_stream[i];
    if head.version is distinct from coalesce(p_expected[i], head.version) then
      raise exception 'expected % at version %, it is at %', p_stream[i], p_expected[i], head.version
        using errcode = 'LG001';
    end if;
    if head.closed_at is not null and not p_after_end[i] then
      raise exception '% is closed', p_stream[i] using errcode = 'LG002', detail = p_stream[i];
    end if;
  end loop;
  for i in 1 .. cardinality(e_part) loop
    update ledger.stream t set
      version = t.version + 1,
      order_key = key,
      head_hash = ledger.link(t.head_hash, t.stream_id, t.version + 1, stamp, e_envelope[i],
        e_codec[i], e_key[i], e_blobs[i], e_commit[i], e_same[i]),
      closed_at = case when e_closes[i] then stamp else t.closed_at end
      where t.stream_id = p_stream[e_part[i]] returning * into strict head;
    insert into ledger.event (stream_id, version, event_id, order_key, type, schema_version,
        correlation_id, recorded_at, envelope, body, codec, key_id, blobs, body_commit, same_digest, hash)
      values (head.stream_id, head.version, e_id[i], key, e_type[i], e_schema[i], e_correlation[i],
        stamp, e_envelope[i], e_body[i], e_codec[i], e_key[i], e_blobs[i], e_commit[i], e_same[i],
        head.head_hash);
  end loop;
  return query select t.stream_id, t.version, t.head_hash from ledger.stream t
    where t.stream_id = any (p_stream);
end $$;
