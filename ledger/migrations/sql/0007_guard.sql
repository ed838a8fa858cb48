-- Guards: what was recorded is refused any change, by triggers whoever asks, and by roles.
--
-- ledger_owner   owns the schema `ledger`.
-- ledger_append  adds: no update, delete or truncate on what was recorded; of a head it may
--                set what an append sets. Rows that can be made anew belong to it.
-- ledger_read    reads everything but the secrets.
--
-- Where the login may not make roles, everything stays the login's, and the triggers remain.

create function ledger.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% on ledger.%: what was recorded stays', lower(tg_op), tg_table_name
    using errcode = 'LG005';
end $$;
create trigger stays before update or delete or truncate on ledger.event
  for each statement execute function ledger.refuse_change();
create trigger stays before update or delete or truncate on ledger.feed
  for each statement execute function ledger.refuse_change();
create trigger stays before update or delete or truncate on ledger.checkpoint
  for each statement execute function ledger.refuse_change();
create trigger stays before update or delete or truncate on ledger.blob
  for each statement execute function ledger.refuse_change();
create trigger stays before delete or truncate on ledger.stream
  for each statement execute function ledger.refuse_change();
create trigger stays before delete or truncate on ledger.feed_head
  for each statement execute function ledger.refuse_change();

-- For how many seconds the oldest transaction that writes has been open, in any database of
-- the cluster: nothing that was appended since has a number. 0 where none is open.
create function ledger.horizon_age() returns double precision
language sql stable security definer set search_path = pg_catalog
  return coalesce(extract(epoch from clock_timestamp() - least(
    (select min(a.xact_start) from pg_stat_activity a
      where a.backend_xid is not null and a.pid <> pg_backend_pid()),
    (select min(p.prepared) from pg_prepared_xacts p))), 0)::double precision;

-- Make a schema of rows that are no record, and can be made anew, ledger_append's. Whoever
-- adds such a schema calls this at the end of its revision; without roles it does nothing.
create function ledger.own_rows(p_schema text) returns void language plpgsql as $$
declare
  one text;
begin
  if not exists (select from pg_roles where rolname = 'ledger_append')
      or not pg_has_role(current_user, 'ledger_append', 'set') then
    return;
  end if;
  execute format('alter schema %I owner to ledger_append', p_schema);
  execute format('grant usage on schema %I to ledger_read', p_schema);
  execute format('grant select on all tables in schema %I to ledger_read', p_schema);
  for one in
    select format('alter table %s owner to ledger_append', c.oid::regclass) from pg_class c
      where c.relnamespace = p_schema::regnamespace and c.relkind in ('r', 'p')
    union all
    select format('alter function %s owner to ledger_append', p.oid::regprocedure) from pg_proc p
      where p.pronamespace = p_schema::regnamespace
  loop
    execute one;
  end loop;
end $$;

do $$
declare
  one text;
begin
  foreach one in array array['ledger_owner', 'ledger_append', 'ledger_read'] loop
    if not exists (select from pg_roles where rolname = one) then
      begin
        execute format('create role %I nologin', one);
      exception when duplicate_object or unique_violation then null;
      end;
    end if;
    if not pg_has_role(current_user, one, 'set') then
      execute format('grant %I to current_user with inherit true, set true', one);
    end if;
  end loop;
  execute format('grant create on database %I to ledger_owner, ledger_append', current_database());

  grant usage on schema ledger to ledger_append, ledger_read;
  grant select on all tables in schema ledger to ledger_append, ledger_read;
  revoke select on ledger.subject_key from ledger_read;
  grant insert on ledger.stream, ledger.event, ledger.blob, ledger.feed, ledger.checkpoint
    to ledger_append;
  grant update (version, head_hash, order_key, closed_at) on ledger.stream to ledger_append;
  grant update (order_key, pos, global_seq, root) on ledger.feed_head to ledger_append;
  grant insert, update, delete on ledger.hand_over, ledger.parked to ledger_append;
  grant update on ledger.clock_offset to ledger_append;
  revoke execute on function ledger.begin_epoch() from public;
  alter default privileges in schema ledger
    grant select, insert, update, delete on tables to ledger_append;
  alter default privileges in schema ledger grant select on tables to ledger_read;

  perform ledger.own_rows('live'), ledger.own_rows('projection'), ledger.own_rows('coordination');
  alter schema ledger owner to ledger_owner;
  for one in
    select format('alter table %s owner to ledger_owner', c.oid::regclass) from pg_class c
    where c.relnamespace = 'ledger'::regnamespace and c.relkind = 'r'
    union all
    select format('alter function %s owner to ledger_owner', p.oid::regprocedure) from pg_proc p
    where p.pronamespace = 'ledger'::regnamespace and p.proname <> 'horizon_age'
  loop
    execute one;
  end loop;
exception when insufficient_privilege then
  raise notice 'no roles for the ledger: %', sqlerrm;
end $$;
