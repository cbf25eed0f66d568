-- What was asked and how it ended, what readers thought of it, and every reserved or spent dollar.

create table asks (
  id text primary key,
  site text not null,
  asked_at timestamptz not null default now(),
  question text not null,       -- empty where a guard refused it
  outcome text not null,
  why text,                     -- reason of an abstention, a refusal or quotes
  written_by text,
  top_cosine real,
  cost_usd numeric not null,
  seconds jsonb not null,
  response jsonb not null,      -- what the reader got
  receipt jsonb not null        -- excerpts, scores, grades, dropped statements, bills
);
create index asks_by_time on asks (site, asked_at);

create table feedback (
  ask_id text primary key references asks on delete cascade,
  given_at timestamptz not null default now(),
  vote text not null check (vote in ('up', 'down')),
  reasons text[] not null,
  note text not null
);

create table idempotency (
  site text not null,
  key text not null,
  body_sha256 text not null,
  response jsonb not null,
  created_at timestamptz not null default now(),
  primary key (site, key)
);

create table spend (
  id bigint generated always as identity primary key,
  created_at timestamptz not null default now(),
  account text not null,        -- 'service', or the name of an eval run
  purpose text not null,        -- 'grade' or 'answer'
  model text not null,
  reserved_usd numeric not null,
  cost_usd numeric,             -- null: not settled; the reservation counts in full
  input_tokens integer,
  output_tokens integer,
  settled_at timestamptz
);
create index spend_by_time on spend (account, created_at);
