-- What lists tell of a run's budget: what it may spend, what is reserved, how long it worked.
--
-- All of it is made of events: where the rows do not hold it yet, they are made anew from the
-- first event by whoever reads them next, or by `legato ledger rebuild`, which runs this again.

do $$ begin
  if exists (select from information_schema.columns
      where table_schema = 'projection' and table_name = 'run' and column_name = 'work_gaps') then
    return;
  end if;
  truncate projection.run, projection.item, projection.step, projection.call, projection.input,
    projection.session, projection.usage;
  update projection.checkpoint set global_seq = 0;
  alter table projection.run
    add column budget jsonb not null,
    add column reserved_tokens bigint not null,
    add column reserved_cost numeric not null,
    add column reserved_unpriced bigint not null,
    add column worked bigint not null,
    add column work_at bigint,
    add column work_gaps jsonb not null;
end $$;
