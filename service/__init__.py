"""Ask the Blog: answers readers' questions from the owner's articles, with checked citations.

Two paths: `ask` (what happens to a question) and `ingest` (what happens to an article).
The edges they need are described in `ports` and implemented by `embedder`, `claude`,
`budget`, `calibration` and `store`. `app` joins them; `web` and `cli` are the ways in.
"""
