-- Open runs are looked through again and again: an index that holds them and no ended one.
create index stream_open on ledger.stream (stream_id) where kind = 'run' and closed_at is null;
