"""An article's path, in order: articles -> mdx -> markdown -> anchors -> chunk -> pipeline."""
