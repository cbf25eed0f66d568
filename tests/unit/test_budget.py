"""The worst case is really the worst, and nothing without a price can be spent on."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from service.budget import Tokens, cost_usd, most_input_tokens, price_of, worst_case_usd
from service.errors import BudgetExceeded, ConfigError
from service.types import ModelRequest, Source


def request(prompt: str = "q", *, model: str = "claude-haiku-5-5") -> ModelRequest:
    source = Source(id="a#b", title="A", units=["One. ", "Two."])
    return ModelRequest(
        purpose="answer",
        model=model,
        system="system",
        sources=(source,),
        prompt=prompt,
        max_tokens=1000,
        timeout_s=1,
    )


def test_cost_counts_each_kind_of_token_at_its_price() -> None:
    tokens = Tokens(input=1_000_000, output=1_000_000, cache_write=1_000_000, cache_read=1_000_000)
    assert cost_usd("claude-sonnet-5-5", tokens) == Decimal("14.60")
    assert cost_usd("claude-haiku-5-5", tokens) == Decimal("0.735")


def test_the_worst_case_is_the_most_input_and_all_of_the_output() -> None:
    asked = request()
    most = Tokens(input=most_input_tokens(asked), output=1000)
    assert worst_case_usd(asked) == cost_usd("claude-haiku-5-5", most)


@given(st.text(max_size=300))
def test_a_byte_level_tokenizer_never_has_more_tokens_than_we_reserve(text: str) -> None:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    bytewise = Tokenizer(models.BPE(vocab={ch: i for i, ch in enumerate(alphabet)}, merges=[]))
    bytewise.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    assert len(bytewise.encode(text).ids) <= most_input_tokens(request(text))


def test_a_model_without_a_price_is_refused() -> None:
    with pytest.raises(ConfigError, match="no price is known for 'gpt'"):
        price_of("gpt")


def test_a_prompt_in_a_dearer_price_class_is_refused() -> None:
    with pytest.raises(BudgetExceeded, match="over the limit"):
        worst_case_usd(request("x" * 100_001))
