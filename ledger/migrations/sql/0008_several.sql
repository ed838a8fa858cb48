-- Appends of several facts without a statement for each fact: heads are locked, links are
-- computed in the order of the facts, and one update and one insert write it all.

-- As append_each, for streams of which some take more than one fact: each takes all of its
-- facts or none by itself, and what was written is returned, in order. The caller names each
-- stream once, in the order of their ids, in which heads are locked as by append; its facts
-- stand at e_first to e_last.
create function ledger.append_several(
  p_stream text[], p_expected bigint[], p_after_end boolean[], p_closes boolean[],
  p_correlation text[], e_first int[], e_last int[],
  e_id text[], e_type text[], e_schema smallint[], e_envelope bytea[], e_body bytea[],
  e_codec smallint[], e_key text, e_blobs bytea[], e_commit bytea[], e_same bytea[]
) returns table (out_stream text, out_version bigint, out_hash bytea) language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  stamp constant timestamptz := statement_timestamp();
  part record;
  link bytea;
  -- of each fact what its head gives it; null where the head takes none
  streams text[] := array_fill(null::text, array[cardinality(e_id)]);
  versions bigint[] := array_fill(null::bigint, array[cardinality(e_id)]);
  keys bigint[] := array_fill(null::bigint, array[cardinality(e_id)]);
  correlations text[] := array_fill(null::text, array[cardinality(e_id)]);
  hashes bytea[] := array_fill(null::bytea, array[cardinality(e_id)]);
begin
  for part in
    select s.stream_id, s.version, s.order_key, s.head_hash, w.correlation, w.first, w.last
    from unnest(p_stream, p_expected, p_after_end, p_correlation, e_first, e_last)
        with ordinality as w(stream, expected, after_end, correlation, first, last, n)
      join ledger.stream s on s.stream_id = w.stream
    where s.version = coalesce(w.expected, s.version)
      and (s.closed_at is null or w.after_end)
    order by w.n
    for no key update of s
  loop
    link := part.head_hash;
    for i in part.first .. part.last loop
      versions[i] := part.version + 1 + i - part.first;
      link := ledger.link(link, part.stream_id, versions[i], stamp, e_envelope[i], e_codec[i],
        e_key, e_blobs[i], e_commit[i], e_same[i]);
      hashes[i] := link;
      streams[i] := part.stream_id;
      keys[i] := greatest(part.order_key, ledger.own_key());
      correlations[i] := part.correlation;
    end loop;
  end loop;
  update ledger.stream s set
    version = versions[w.last],
    order_key = keys[w.last],
    head_hash = hashes[w.last],
    closed_at = case when w.closes then stamp else s.closed_at end
    from unnest(p_stream, p_closes, e_last) as w(stream, closes, last)
    where s.stream_id = w.stream and versions[w.last] is not null;
  return query
  insert into ledger.event (stream_id, version, event_id, order_key, type, schema_version,
      correlation_id, recorded_at, envelope, body, codec, key_id, blobs, body_commit, same_digest,
      hash)
    select e.stream, e.version, e.id, e.key, e.type, e.schema, e.correlation, stamp, e.envelope,
      e.body, e.codec, e_key, e.blobs, e.commit, e.same, e.hash
    from unnest(streams, versions, e_id, keys, e_type, e_schema, correlations, e_envelope, e_body,
        e_codec, e_blobs, e_commit, e_same, hashes)
      with ordinality as e(stream, version, id, key, type, schema, correlation, envelope, body,
        codec, blobs, commit, same, hash, n)
    where e.version is not null
    order by e.n
    returning event.stream_id, event.version, event.hash;
end $$;

-- Append parts to several streams, all or nothing; else as before. A head that a part only
-- asserts keeps the order key too: what is appended to it next comes after.
create or replace function ledger.append(
  p_stream text[], p_expected bigint[], p_after_end boolean[],
  e_part int[], e_id text[], e_type text[], e_schema smallint[], e_correlation text[],
  e_envelope bytea[], e_body bytea[], e_codec smallint[], e_key text[], e_blobs bytea[],
  e_commit bytea[], e_same bytea[], e_closes boolean[]
) returns table (out_stream text, out_version bigint, out_hash bytea) language plpgsql
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  stamp constant timestamptz := statement_timestamp();
  head ledger.stream;
  own_key bigint := 0;
  closes boolean;
  p_version bigint[] := array_fill(null::bigint, array[cardinality(p_stream)]);
  p_closed boolean[] := array_fill(null::boolean, array[cardinality(p_stream)]);
  versions bigint[] := array_fill(null::bigint, array[cardinality(e_part)]);
  hashes bytea[] := array_fill(null::bytea, array[cardinality(e_part)]);
  h_stream text[]; h_version bigint[]; h_hash bytea[]; h_closes boolean[];
begin
  insert into ledger.stream (stream_id, kind)
    select s, split_part(s, '/', 1) from unnest(p_stream) s
    where not exists (select from ledger.stream t where t.stream_id = s)
    order by s collate "C"
    on conflict do nothing;
  for head in
    select * from ledger.stream t where t.stream_id = any (p_stream) order by t.stream_id for update
  loop
    own_key := greatest(own_key, head.order_key);
    for i in 1 .. cardinality(p_stream) loop
      continue when p_stream[i] <> head.stream_id;
      p_version[i] := head.version;
      p_closed[i] := head.closed_at is not null;
    end loop;
    closes := false;
    for i in 1 .. cardinality(e_part) loop
      continue when p_stream[e_part[i]] <> head.stream_id;
      head.version := head.version + 1;
      head.head_hash := ledger.link(head.head_hash, head.stream_id, head.version, stamp,
        e_envelope[i], e_codec[i], e_key[i], e_blobs[i], e_commit[i], e_same[i]);
      versions[i] := head.version;
      hashes[i] := head.head_hash;
      closes := closes or e_closes[i];
    end loop;
    h_stream := h_stream || head.stream_id;
    h_version := h_version || head.version;
    h_hash := h_hash || head.head_hash;
    h_closes := h_closes || closes;
  end loop;
  for i in 1 .. cardinality(p_stream) loop
    if p_version[i] is distinct from coalesce(p_expected[i], p_version[i]) then
      raise exception 'expected % at version %, it is at %', p_stream[i], p_expected[i],
        p_version[i] using errcode = 'LG001';
    end if;
    if p_closed[i] and not p_after_end[i] then
      raise exception '% is closed', p_stream[i] using errcode = 'LG002', detail = p_stream[i];
    end if;
  end loop;
  own_key := greatest(own_key, ledger.own_key());
  update ledger.stream t set
    version = h.version,
    order_key = own_key,
    head_hash = h.hash,
    closed_at = case when h.closes then stamp else t.closed_at end
    from unnest(h_stream, h_version, h_hash, h_closes) as h(stream, version, hash, closes)
    where t.stream_id = h.stream;
  insert into ledger.event (stream_id, version, event_id, order_key, type, schema_version,
      correlation_id, recorded_at, envelope, body, codec, key_id, blobs, body_commit, same_digest, hash)
    select p_stream[e.part], e.version, e.id, own_key, e.type, e.schema, e.correlation, stamp,
      e.envelope, e.body, e.codec, e.key, e.blobs, e.commit, e.same, e.hash
    from unnest(e_part, versions, e_id, e_type, e_schema, e_correlation, e_envelope, e_body,
        e_codec, e_key, e_blobs, e_commit, e_same, hashes)
      with ordinality as e(part, version, id, type, schema, correlation, envelope, body, codec,
        key, blobs, commit, same, hash, n)
    order by e.n;
  return query select * from unnest(h_stream, h_version, h_hash);
end $$;

-- Whoever owns the schema owns what is new in it.
do $$ begin
  execute format('alter function ledger.append_several owner to %I',
    (select pg_get_userbyid(nspowner) from pg_namespace where nspname = 'ledger'));
end $$;
