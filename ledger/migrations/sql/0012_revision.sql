-- A login that may append and no more looks at the revision too, each time that it starts.
do $$
begin
  grant select on schema_revision to ledger_append, ledger_read;
exception when undefined_object or insufficient_privilege then null;
end $$;
