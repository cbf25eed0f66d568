"""Faults. What a reader may be told is a value in `types`; what broke is one of these.

    AskBlogError
    ├── ConfigError        a setting is wrong or missing
    ├── ContentError       an article or a folder of articles cannot be read
    ├── ModelFileError     an embedding model's file is missing or is not the pinned one
    ├── StoreError         the database is unreachable or not in the state we need
    │   └── IndexMismatch  the index was made by another embedding model
    ├── BudgetExceeded     the next call could pass the cap; nothing was spent
    └── UpstreamError      Claude could not be reached, or its reply cannot be used
        └── Interrupted    it broke off after the reader had seen a statement

A message says what happened, to what, and what to do. `code` is stable and public.
"""


class AskBlogError(Exception):
    """Base of every fault of this service."""

    code = "internal"


class ConfigError(AskBlogError):
    """A setting is wrong or missing."""

    code = "config"


class ContentError(AskBlogError):
    """An article or a folder of articles cannot be read."""

    code = "content"


class ModelFileError(AskBlogError):
    """A model's file is missing or is not the pinned one."""

    code = "model_file"


class StoreError(AskBlogError):
    """The database is unreachable or not in the state we need."""

    code = "store_unavailable"


class IndexMismatch(StoreError):
    """The index was made by another embedding model."""

    code = "index_mismatch"


class BudgetExceeded(AskBlogError):
    """The next call could pass the cap; nothing was spent."""

    code = "budget_exceeded"


class UpstreamError(AskBlogError):
    """Claude could not be reached, or its reply cannot be used."""

    code = "upstream"


class Interrupted(UpstreamError):
    """Claude broke off after the reader had seen a statement."""

    code = "interrupted"
