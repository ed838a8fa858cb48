-- What is wrong with an event of a run that cannot be read, beside what was known before it.
alter table projection.run add column if not exists damaged text;
alter table projection.run add column if not exists damaged_at bigint;
