-- Results of `evals live`: the labelled questions against the live index, for the dashboard.

create table rag_eval_runs (
  id bigint generated always as identity primary key,
  site text not null,
  ran_at timestamptz not null default now(),
  index_id text not null,
  dataset_sha256 text not null,
  answerable integer not null,
  recall_at_3 real not null,
  metrics jsonb not null
);
create index rag_eval_runs_by_time on rag_eval_runs (site, ran_at desc);
