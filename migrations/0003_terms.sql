-- Term statistics for lexical search in ordinary tables, written with the chunks they belong to.
-- Postgres' own ranking knows nothing of how rare a word is; BM25 needs just these counts.

alter table articles add column no bigint generated always as identity unique;
alter table articles add column terms integer not null default 0;  -- occurrences in all its chunks
alter table chunks add column no bigint generated always as identity unique;

create table chunk_terms (
  site text not null,
  term text not null,
  chunk_no bigint not null references chunks (no) on delete cascade,
  tf smallint not null,           -- occurrences in the chunk
  chunk_length integer not null,  -- occurrences of all terms in the chunk
  primary key (site, term, chunk_no) include (tf, chunk_length)
);
create index chunk_terms_by_chunk on chunk_terms (chunk_no);

create table article_terms (
  site text not null,
  term text not null,
  article_no bigint not null references articles (no) on delete cascade,
  tf integer not null,            -- occurrences in all chunks of the article
  primary key (site, term, article_no) include (tf)
);
create index article_terms_by_article on article_terms (article_no);

-- How rare each term is, renewed by each ingest. Terms of more than three tenths of the chunks are
-- left out: they tell nothing apart and would be most of the work.
create table site_terms (
  site text not null,
  term text not null,
  chunk_idf real not null,
  article_idf real not null,
  primary key (site, term) include (chunk_idf, article_idf)
);

alter table indexes add column mean_chunk_length real not null default 1;
alter table indexes add column mean_article_length real not null default 1;
