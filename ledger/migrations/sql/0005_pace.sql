-- The rates at which models are asked, kept over all workers: coordination, no fact of any run.
--
-- GCRA: `at` is when the next request would come at exactly the rate. One may come up to `burst`
-- earlier, and moves `at` on by what it costs. A workspace beside others has its share by weight.

create schema coordination;

create table coordination.pace (
  key text collate "C" primary key,
  at double precision not null default 0,
  tokens_at double precision not null default 0,
  shares jsonb not null default '{}'
);

-- Takes the next turn unless it is more than p_longest seconds away. A turn costs 60 / p_requests
-- seconds of the key's time, and of its tokens' time p_cost * 60 / p_tokens; a rate of 0 costs none.
create function coordination.take(
  p_key text, p_workspace text, p_weight int, p_requests int, p_tokens int, p_cost int,
  p_longest double precision
) returns table (wait double precision, taken boolean) language plpgsql as $$
declare
  held coordination.pace;
  stamp double precision;
  burst constant double precision := 1.0;
  step double precision := case when p_requests > 0 then 60.0 / p_requests else 0 end;
  tokens double precision := case when p_tokens > 0 then p_cost * 60.0 / p_tokens else 0 end;
  others double precision;
  share double precision;
  mine double precision;
begin
  insert into coordination.pace (key) values (p_key) on conflict do nothing;
  select * into strict held from coordination.pace t where t.key = p_key for update;
  stamp := extract(epoch from clock_timestamp());
  select coalesce(sum((value ->> 'weight')::double precision), 0) into others
    from jsonb_each(held.shares)
    where jsonb_each.key <> p_workspace and (value ->> 'at')::double precision > stamp;
  share := p_weight / (p_weight + others);
  mine := coalesce((held.shares -> p_workspace ->> 'at')::double precision, 0);
  wait := greatest(0, held.at - stamp - burst, held.tokens_at - stamp - burst);
  if others > 0 then
    wait := greatest(wait, mine - stamp - burst);
  end if;
  taken := wait <= p_longest;
  if taken then
    update coordination.pace t set
      at = greatest(held.at, stamp) + step,
      tokens_at = greatest(held.tokens_at, stamp) + tokens,
      shares = (
        select coalesce(jsonb_object_agg(s.key, s.value), '{}') from jsonb_each(held.shares) s
        where (s.value ->> 'at')::double precision > stamp
      ) || jsonb_build_object(p_workspace, jsonb_build_object(
        'weight', p_weight, 'at', greatest(mine, stamp) + greatest(step, tokens) / share))
      where t.key = p_key;
  end if;
  return next;
end $$;

-- Gives back p_seconds of the tokens' time, which a request had taken and did not use.
create function coordination.give_back(
  p_key text, p_workspace text, p_seconds double precision
) returns void language sql as $$
  update coordination.pace set tokens_at = tokens_at - p_seconds where key = p_key
$$;
