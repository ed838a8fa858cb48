-- The feed: one dense number over all events of all streams, and roots that cover them.
--
-- feed        global_seq of every event that has one; the event's hash beside it.
-- feed_head   where the feed stands: the last event in (order_key, pos), its number, the root.
-- checkpoint  the root as it stood at some numbers, at most one a minute.
-- hand_over   a relay's mark is a number of the feed from here on.
--
-- An order key is a transaction id of this cluster plus ledger.key_offset(), or the highest
-- key among the heads that the append locks. The offset changes only when a restored
-- database begins a new epoch: keys never go back, whatever the cluster's ids do.

create function ledger.key_offset() returns bigint language sql stable return 0::bigint;

-- The key of this transaction, and the key below which nothing can be added any more.
create function ledger.own_key() returns bigint language sql stable
  return pg_current_xact_id()::text::bigint + ledger.key_offset();
create function ledger.horizon() returns bigint language sql stable
  return pg_snapshot_xmin(pg_current_snapshot())::text::bigint + ledger.key_offset();

create table ledger.feed (
  global_seq bigint primary key,
  stream_id text collate "C" not null,
  version bigint not null,
  hash bytea not null,
  unique (stream_id, version)
);

create table ledger.feed_head (
  one boolean primary key default true check (one),
  epoch int not null,
  order_key bigint not null,
  pos bigint not null,
  global_seq bigint not null,
  root bytea not null check (octet_length(root) = 32)
) with (fillfactor = 50);
insert into ledger.feed_head (epoch, order_key, pos, global_seq, root)
values (1, 0, 0, 0, decode(repeat('00', 32), 'hex'));

create table ledger.checkpoint (
  global_seq bigint primary key,
  epoch int not null,
  root bytea not null,
  at timestamptz not null
);

-- The root after one more event; it does not depend on where passes begin and end.
create function ledger.root(prev bytea, stream text, version bigint, hash bytea)
returns bytea language sql stable return sha256(
  'legato/root/1'::bytea || prev
  || int4send(octet_length(convert_to(stream, 'UTF8'))) || convert_to(stream, 'UTF8')
  || int8send(version)
  || int4send(octet_length(hash)) || hash
);

-- Keep the root where it has moved on since the last checkpoint and a minute has gone.
create function ledger.keep_checkpoint() returns void language sql as $$
  insert into ledger.checkpoint (global_seq, epoch, root, at)
  select h.global_seq, h.epoch, h.root, clock_timestamp() from ledger.feed_head h
  where h.global_seq > 0 and coalesce(
    (select c.global_seq < h.global_seq and c.at <= clock_timestamp() - interval '1 minute'
      from ledger.checkpoint c order by c.global_seq desc limit 1), true)
  on conflict do nothing
$$;

-- Give the next numbers to events in the order given, up to the first whose predecessor in
-- its stream has none; the caller holds feed_head and moves it to what this returns.
-- LG003: already the first event has no numbered predecessor.
create function ledger.number_events(
  p_head ledger.feed_head, p_stream text[], p_version bigint[], p_hash bytea[],
  out taken int, out new_root bytea
) language plpgsql as $$
declare
  one record;
begin
  select coalesce(min(n) - 1, cardinality(p_stream)) into taken from (
    select s, v, n, lag(v) over (partition by s order by n) as before
    from unnest(p_stream, p_version) with ordinality as g(s, v, n)
  ) given
  where coalesce(before,
    case when v = 1 then 0 else (
      select f.version from ledger.feed f where f.stream_id = s and f.version = v - 1
    ) end, -1) <> v - 1;
  if taken = 0 then
    raise exception '% at version % comes before the event that it follows', p_stream[1], p_version[1]
      using errcode = 'LG003', detail = p_stream[1];
  end if;
  insert into ledger.feed (global_seq, stream_id, version, hash)
    select p_head.global_seq + n, s, v, h
    from unnest(p_stream, p_version, p_hash) with ordinality as g(s, v, h, n)
    where n <= taken order by n;
  new_root := p_head.root;
  for one in
    select s, v, h from unnest(p_stream, p_version, p_hash) with ordinality as g(s, v, h, n)
    where n <= taken order by n
  loop
    new_root := ledger.root(new_root, one.s, one.v, one.h);
  end loop;
end $$;

-- One sequencing pass: number what lies below the horizon, at most p_limit events, and say
-- how many; 0 where there is nothing or another process is at it. A pass without work locks
-- and writes nothing. Whoever stands still in a transaction after it is cut off in 5 s.
-- LG003 as above. LG004: the order keys are another cluster's, the database was restored.
create function ledger.sequence(p_limit int, p_below bigint default null) returns int
language plpgsql set plan_cache_mode = force_custom_plan set enable_seqscan = off as $$
declare
  head ledger.feed_head;
  streams text[]; versions bigint[]; hashes bytea[]; keys bigint[]; positions bigint[];
  done record;
begin
  select * into strict head from ledger.feed_head;
  if not exists (
    select from ledger.event e
    where (e.order_key, e.pos) > (head.order_key, head.pos)
      and e.order_key < coalesce(p_below, ledger.horizon())
  ) then
    perform ledger.refuse_foreign_keys();
    perform ledger.keep_checkpoint();
    return 0;
  end if;
  select * into head from ledger.feed_head for update skip locked;
  if not found then
    return 0;
  end if;
  perform set_config('idle_in_transaction_session_timeout', '5s', true);
  select array_agg(b.stream_id order by b.order_key, b.pos),
      array_agg(b.version order by b.order_key, b.pos),
      array_agg(b.hash order by b.order_key, b.pos),
      array_agg(b.order_key order by b.order_key, b.pos),
      array_agg(b.pos order by b.order_key, b.pos)
    into streams, versions, hashes, keys, positions
    from (
      select e.stream_id, e.version, e.hash, e.order_key, e.pos from ledger.event e
      where (e.order_key, e.pos) > (head.order_key, head.pos)
        and e.order_key < coalesce(p_below, ledger.horizon())
      order by e.order_key, e.pos limit p_limit
    ) b;
  if streams is null then
    return 0;
  end if;
  done := ledger.number_events(head, streams, versions, hashes);
  update ledger.feed_head set
    order_key = keys[done.taken], pos = positions[done.taken],
    global_seq = head.global_seq + done.taken, root = done.new_root;
  perform ledger.keep_checkpoint();
  perform pg_notify('ledger_feed', '');
  return done.taken;
end $$;

-- An order key at or above the cluster's next transaction id cannot have come about here.
create function ledger.refuse_foreign_keys() returns void language plpgsql
set enable_seqscan = off as $$
declare
  last bigint;
begin
  select e.order_key into last from ledger.event e order by e.order_key desc, e.pos desc limit 1;
  if last >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint + ledger.key_offset() then
    raise exception 'order key % was not made by this cluster', last using errcode = 'LG004';
  end if;
end $$;

-- After a restore: number every event that has no number, wherever it lies, raise the epoch
-- and let order keys go on above all that are there. Writers wait meanwhile. Returns the epoch.
create function ledger.begin_epoch() returns int language plpgsql
set plan_cache_mode = force_custom_plan as $$
declare
  head ledger.feed_head;
  streams text[]; versions bigint[]; hashes bytea[];
  last_key bigint := -1; last_pos bigint := -1;
  done record;
begin
  lock table ledger.stream in exclusive mode;
  select * into strict head from ledger.feed_head for update;
  loop
    select array_agg(b.stream_id order by b.order_key, b.pos),
        array_agg(b.version order by b.order_key, b.pos),
        array_agg(b.hash order by b.order_key, b.pos),
        (max(array[b.order_key, b.pos]))[1], (max(array[b.order_key, b.pos]))[2]
      into streams, versions, hashes, last_key, last_pos
      from (
        select e.stream_id, e.version, e.hash, e.order_key, e.pos from ledger.event e
        where (e.order_key, e.pos) > (last_key, last_pos) and not exists (
          select from ledger.feed f where f.stream_id = e.stream_id and f.version = e.version)
        order by e.order_key, e.pos limit 5000
      ) b;
    exit when streams is null;
    done := ledger.number_events(head, streams, versions, hashes);
    if done.taken < cardinality(streams) then
      raise exception '% at version % comes before the event that it follows',
        streams[done.taken + 1], versions[done.taken + 1] using errcode = 'LG003';
    end if;
    head.global_seq := head.global_seq + done.taken;
    head.root := done.new_root;
  end loop;
  select greatest(coalesce(max(t.order_key), 0), head.order_key) into last_key from ledger.stream t;
  select greatest(coalesce(max(e.order_key), 0), last_key) into last_key from ledger.event e;
  select greatest(coalesce(max(e.pos), 0), head.pos) into last_pos from ledger.event e;
  execute format('create or replace function ledger.key_offset() returns bigint
    language sql stable return %s::bigint',
    greatest(ledger.key_offset(), last_key + 1 - pg_snapshot_xmin(pg_current_snapshot())::text::bigint));
  perform setval(pg_get_serial_sequence('ledger.event', 'pos'),
    greatest(last_pos, nextval(pg_get_serial_sequence('ledger.event', 'pos'))));
  update ledger.feed_head set epoch = head.epoch + 1, order_key = last_key, pos = last_pos,
    global_seq = head.global_seq, root = head.root;
  insert into ledger.checkpoint (global_seq, epoch, root, at)
    values (head.global_seq, head.epoch + 1, head.root, clock_timestamp())
    on conflict do nothing;
  perform pg_notify('ledger_feed', '');
  return head.epoch + 1;
end $$;

-- As before, with two differences: the key is made once the heads are locked, and a head
-- that an append only asserts keeps the key too: what is appended to it next comes after.
create or replace function ledger.append(
  p_stream text[], p_expected bigint[], p_after_end boolean[],
  e_part int[], e_id text[], e_type text[], e_schema smallint[], e_correlation text[],
  e_envelope bytea[], e_body bytea[], e_codec smallint[], e_key text[], e_blobs bytea[],
  e_commit bytea[], e_same bytea[], e_closes boolean[]
) returns table (out_stream text, out_version bigint, out_hash bytea) language plpgsql as $$
declare
  head ledger.stream;
  key bigint := 0;
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
  key := greatest(key, ledger.own_key());
  for i in 1 .. cardinality(p_stream) loop
    select * into strict head from ledger.stream t where t.stream_id = p_stream[i];
    if head.version is distinct from coalesce(p_expected[i], head.version) then
      raise exception 'expected % at version %, it is at %', p_stream[i], p_expected[i], head.version
        using errcode = 'LG001';
    end if;
    if head.closed_at is not null and not p_after_end[i] then
      raise exception '% is closed', p_stream[i] using errcode = 'LG002', detail = p_stream[i];
    end if;
    if i <> all (e_part) then
      update ledger.stream t set order_key = key where t.stream_id = p_stream[i];
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

-- Number what is there already: no writer is at work while `stream` is locked, so that
-- nothing can come before it any more. Then relays' marks become numbers.
lock table ledger.stream in exclusive mode;
do $$ begin
  while ledger.sequence(5000, 9223372036854775807) > 0 loop end loop;
end $$;
alter table ledger.hand_over rename to hand_over_by_key;
alter index ledger.hand_over_pkey rename to hand_over_by_key_pkey;
create table ledger.hand_over (
  relay text primary key,
  global_seq bigint not null
);
insert into ledger.hand_over (relay, global_seq)
  select h.relay, coalesce((
    select max(f.global_seq) from ledger.feed f join ledger.event e using (stream_id, version)
    where (e.order_key, e.pos) <= (h.order_key, h.pos)), 0)
  from ledger.hand_over_by_key h;
drop table ledger.hand_over_by_key;
