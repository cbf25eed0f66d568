# The service with its embedding model baked in, verified against the pins of service/models.toml.
FROM python:3.11-slim-bookworm AS build
ARG MODEL=minilm-l6-v2-int8
WORKDIR /app
COPY deploy/requirements.lock ./
RUN python -m venv /app/.venv \
 && /app/.venv/bin/pip install --no-cache-dir --require-hashes -r requirements.lock
COPY service ./service
COPY migrations ./migrations
RUN ASK_BLOG_DATA_DIR=/app/data /app/.venv/bin/python -m service models fetch "${MODEL}"

FROM python:3.11-slim-bookworm
ARG MODEL=minilm-l6-v2-int8
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates=2023* \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --home-dir /app --shell /usr/sbin/nologin ask-blog
WORKDIR /app
COPY --from=build /app /app
RUN chown 10001 /app/data /app/data/models
COPY evals ./evals
COPY content ./content
ENV PATH=/app/.venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    ASK_BLOG_HOST=0.0.0.0 \
    ASK_BLOG_DATA_DIR=/app/data \
    ASK_BLOG_MODEL=${MODEL}
USER 10001
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=3s --start-period=20s --retries=3 \
  CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/readyz', timeout=2)"]
CMD ["python", "-m", "service", "run"]
