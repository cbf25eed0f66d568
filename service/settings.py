"""The only reader of the environment: one frozen `Settings`, or a ConfigError that says what to do.

Names beginning with ASK_BLOG_ or RAG_ that nobody reads are errors, with the nearest known name.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from service.errors import ConfigError

_OUR_PREFIXES = ("ASK_BLOG_", "RAG_")


class Settings(BaseModel):
    """Every setting with its variable (the alias), default and meaning."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    database_url: str | None = Field(
        None, alias="DATABASE_URL", description="Postgres with pgvector; unset: embedded Postgres."
    )
    anthropic_api_key: SecretStr | None = Field(
        None, alias="ANTHROPIC_API_KEY", description="Key for Claude; unset: quotes mode."
    )
    anthropic_base_url: str | None = Field(
        None, alias="ANTHROPIC_BASE_URL", description="Another address of Claude's API."
    )
    host: str = Field("127.0.0.1", alias="ASK_BLOG_HOST", description="Address to listen on.")
    port: int = Field(8000, ge=0, le=65535, alias="ASK_BLOG_PORT", description="Port to listen on.")
    data_dir: Path = Field(
        Path(".ask-blog"),
        alias="ASK_BLOG_DATA_DIR",
        description="Embedded Postgres and fetched models live here.",
    )
    content: Path = Field(
        Path("content/articles"), alias="ASK_BLOG_CONTENT", description="Folder of articles."
    )
    content_format: Literal["markdown", "html"] = Field(
        "markdown",
        alias="ASK_BLOG_FORMAT",
        description="What the folder holds: Markdown and MDX, or the pages of a built site.",
    )
    main_selector: str | None = Field(
        None,
        alias="ASK_BLOG_MAIN_SELECTOR",
        description="CSS selector of a built page's article; unset: it is found.",
    )
    drop_selectors: Annotated[tuple[str, ...], Field(strict=False)] = Field(
        (),
        alias="ASK_BLOG_DROP_SELECTORS",
        description="CSS selectors of what is left out of built pages, separated by semicolons.",
    )
    site: str = Field(
        "blog",
        min_length=1,
        max_length=100,
        alias="ASK_BLOG_SITE",
        description="Which site's articles are written and asked.",
    )
    url_template: str = Field(
        "/blog/{slug}",
        alias="ASK_BLOG_URL_TEMPLATE",
        description="Address of an article; {slug} is filled in.",
    )
    anchors: Literal["auto", "github", "mkdocs", "hugo", "kramdown"] = Field(
        "auto",
        alias="ASK_BLOG_ANCHORS",
        description="How your site makes heading ids; auto looks at its configuration.",
    )
    allowed_origins: Annotated[tuple[str, ...], Field(strict=False)] = Field(
        (),
        alias="ASK_BLOG_ALLOWED_ORIGINS",
        description="Origins whose pages may ask, separated by commas.",
    )
    model: str = Field(
        "minilm-l6-v2-int8",
        alias="ASK_BLOG_MODEL",
        description="Embedding model, a name in models.toml.",
    )
    min_score: float | None = Field(
        None,
        ge=-1,
        le=1,
        alias="ASK_BLOG_MIN_SCORE",
        description="Cosine floor; unset: the calibrated one.",
    )
    grader_model: str = Field(
        "claude-haiku-5-5", alias="ASK_BLOG_GRADER_MODEL", description="Claude model that grades."
    )
    answer_model: str = Field(
        "claude-sonnet-5-5",
        alias="ASK_BLOG_ANSWER_MODEL",
        description="Claude model that answers.",
    )
    daily_usd: Decimal = Field(
        Decimal("1.00"), ge=0, alias="ASK_BLOG_DAILY_USD", description="Cap per UTC day."
    )
    monthly_usd: Decimal = Field(
        Decimal("10.00"), ge=0, alias="ASK_BLOG_MONTHLY_USD", description="Cap per UTC month."
    )
    trusted_hops: int = Field(
        0,
        ge=0,
        le=10,
        alias="ASK_BLOG_TRUSTED_HOPS",
        description="Proxies whose X-Forwarded-For is believed; for reader limits, still to come.",
    )
    pii: Literal["refuse", "mask"] = Field(
        "refuse", alias="ASK_BLOG_PII", description="What to do with personal data in a question."
    )
    retention_days: int = Field(
        90, ge=1, alias="ASK_BLOG_RETENTION_DAYS", description="How long asked questions are kept."
    )
    rag_mode: Literal["vector", "hybrid"] = Field(
        "hybrid",
        alias="RAG_MODE",
        description="How excerpts are ranked: by meaning alone, or with the words.",
    )
    reranker_enabled: Literal[False, "false", "0"] = Field(
        False, alias="RAG_RERANKER_ENABLED", description="There is no reranker yet: only false."
    )
    max_per_article: int = Field(
        3,
        ge=1,
        le=50,
        alias="RAG_MAX_PER_ARTICLE",
        description="Most excerpts from one article.",
    )
    top_k: int = Field(6, ge=1, le=20, alias="RAG_TOP_K", description="Excerpts per question.")

    @field_validator("allowed_origins", mode="before")
    @classmethod
    def _split_origins(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part.strip().rstrip("/") for part in value.split(",") if part.strip())
        return value

    @field_validator("drop_selectors", mode="before")
    @classmethod
    def _split_selectors(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(";") if part.strip())
        return value

    @field_validator("allowed_origins")
    @classmethod
    def _are_origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for origin in value:
            if not origin.startswith(("http://", "https://")):
                raise ValueError(f"{origin!r} must begin with https:// or http://")
        return value

    @field_validator("url_template")
    @classmethod
    def _has_slug(cls, value: str) -> str:
        if "{slug}" not in value:
            raise ValueError("must contain {slug}, for example https://example.com/blog/{slug}")
        return value

    @property
    def models_dir(self) -> Path:
        """Where fetched embedding models lie."""
        return self.data_dir / "models"


def variables() -> dict[str, str]:
    """Every environment variable the service reads, with its meaning."""
    return {str(field.alias): field.description or "" for field in Settings.model_fields.values()}


def load_settings(environ: Mapping[str, str] | None = None, **overrides: object) -> Settings:
    """Settings from the environment; `overrides` (by field name, None ignored) win.

    Empty variables count as unset. Raises ConfigError naming the variable.
    """
    environ = os.environ if environ is None else environ
    known = variables()
    _refuse_unknown(environ, known)
    values: dict[str, object] = {name: environ[name] for name in known if environ.get(name)}
    for field, value in overrides.items():
        if value is not None:
            values[str(Settings.model_fields[field].alias)] = value
    try:
        return Settings.model_validate(values)
    except ValidationError as fault:
        raise ConfigError(_first_problem(fault)) from fault


def _refuse_unknown(environ: Mapping[str, str], known: Mapping[str, str]) -> None:
    for name in environ:
        if name.startswith(_OUR_PREFIXES) and name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ConfigError(f"{name} is not a setting of this service{hint}")


def _first_problem(fault: ValidationError) -> str:
    problem = fault.errors()[0]
    name = problem["loc"][0] if problem["loc"] else "settings"
    return f"{name}: {problem['msg'].removeprefix('Value error, ')}"
