"""The only place with FastAPI and pydantic request models: HTTP and server-sent events."""
