-- Articles, their sections and chunks, and which embedder and chunker a site's index belongs to.
-- The vectors stay in the row (STORAGE PLAIN): an exact scan over TOASTed ones is ten times slower.

create extension if not exists vector;

create table indexes (
  site text primary key,
  index_id text not null,       -- embedder and chunker: vectors of another id are never reused
  embedder_id text not null,
  updated_at timestamptz not null default now()
);

create table articles (
  site text not null,
  slug text not null,
  title text not null,
  text text not null,           -- cleaned; every offset counts its characters
  language text not null,
  page text not null,           -- the slug without its language: translations share it
  url text,                     -- where the site itself says the article stands
  published date,
  fingerprint text not null,    -- hash of all that ingest would write; equal: nothing to do
  updated_at timestamptz not null default now(),
  primary key (site, slug)
);

create table sections (
  site text not null,
  slug text not null,
  position integer not null,
  anchor text not null,
  heading text not null,
  heading_path text[] not null,
  level smallint not null,
  start_char integer not null,
  end_char integer not null,
  primary key (site, slug, position),
  foreign key (site, slug) references articles on delete cascade
);

create table chunks (
  site text not null,
  id text not null,
  slug text not null,
  position integer not null,
  anchor text not null,
  heading_path text[] not null,
  start_char integer not null,
  end_char integer not null,
  text text not null,           -- the exact slice of articles.text
  tokens integer not null,      -- of the embedded text
  starts_in_code boolean not null,
  embedded_sha256 text not null,
  embedding vector not null,
  primary key (site, id),
  foreign key (site, slug) references articles on delete cascade
);
alter table chunks alter column embedding set storage plain;

-- Vectors of an ingest that has not switched yet: an interrupted one goes on from here.
create table pending_vectors (
  site text not null,
  embedder_id text not null,
  embedded_sha256 text not null,
  embedding vector not null,
  primary key (site, embedder_id, embedded_sha256)
);

create index chunks_by_article on chunks (site, slug, position);
create index chunks_by_embedded_text on chunks (site, embedded_sha256);
