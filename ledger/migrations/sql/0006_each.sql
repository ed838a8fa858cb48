-- Append one fact to each of several streams: each takes its fact or not by itself, and those
-- that took theirs are returned. The caller names each stream once, in the order of their ids:
-- the plan below goes by that order, so that heads are locked in it, as by append.
create function ledger.append_each(
  p_stream text[], p_expected bigint[], p_after_end boolean[], p_closes boolean[],
  e_correlation text[], e_id text[], e_type text[], e_schema smallint[], e_envelope bytea[],
  e_body bytea[], e_codec smallint[], e_key text, e_blobs bytea[], e_commit bytea[], e_same bytea[]
) returns table (out_stream text, out_version bigint, out_hash bytea) language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
begin
  return query
  with h as (
    update ledger.stream s set
      version = s.version + 1,
      order_key = greatest(s.order_key, ledger.own_key()),
      head_hash = ledger.link(s.head_hash, s.stream_id, s.version + 1, statement_timestamp(),
        w.envelope, w.codec, e_key, w.blobs, w.commit, w.same),
      closed_at = case when w.closes then statement_timestamp() else s.closed_at end
    from unnest(p_stream, p_expected, p_after_end, p_closes, e_correlation, e_id, e_type,
        e_schema, e_envelope, e_body, e_codec, e_blobs, e_commit, e_same)
      as w(stream, expected, after_end, closes, correlation, id, type, schema, envelope, body,
        codec, blobs, commit, same)
    where s.stream_id = w.stream
      and s.version = coalesce(w.expected, s.version)
      and (s.closed_at is null or w.after_end)
    returning s.stream_id, new.version as at, new.order_key, new.head_hash, w.correlation, w.id,
      w.type, w.schema, w.envelope, w.body, w.codec, w.blobs, w.commit, w.same
  )
  insert into ledger.event (stream_id, version, event_id, order_key, type, schema_version,
      correlation_id, recorded_at, envelope, body, codec, key_id, blobs, body_commit, same_digest,
      hash)
    select h.stream_id, h.at, h.id, h.order_key, h.type, h.schema, h.correlation,
      statement_timestamp(), h.envelope, h.body, h.codec, e_key, h.blobs, h.commit, h.same,
      h.head_hash
    from h
    returning event.stream_id, event.version, event.hash;
end $$;
