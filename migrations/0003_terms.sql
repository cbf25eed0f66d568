-- Term statistics for lexical search in ordinary tables, written with the chunks they belong to.
-- Postgres' own ranking knows nothing of how rare a word is; BM25 needs just these counts.

alter table articles add column no bigint generated always as identity unique;
alter table articles add column terms integer not null default 0;  -- occurrences in all its chunks
alter table chunks add column no bigint generated always as identity unique;

create table chunk_terms (
  site text not null,
  term text not null,
  chunk_no bigint not null references chunks (no) on delete cascade,
  article_no bigint not null,
  tf smallint not null,         -- occurrences in the chunk
  chunk_length integer not null,  -- occurrences of all terms in the chunk
  primary key (site, term, chunk_no) include (article_no, tf, chunk_length)
);
create index chunk_terms_by_chunk on chunk_terms (chunk_no);

-- Sums over a site, renewed by each ingest, so that a search need not count the whole table.
alter table indexes add column chunks integer not null default 0;
alter table indexes add column mean_chunk_length real not null default 1;
alter table indexes add column articles integer not null default 0;
alter table indexes add column mean_article_length real not null default 1;
-- Terms of more than two fifths of the chunks tell nothing apart and would be most of the work.
alter table indexes add column frequent_terms text[] not null default '{}';
