"""What an error of an LLM provider means.

    from mulligan_failure import classify

    failure = classify(error)
    if failure.retryable: time.sleep(failure.retry_after or 1)

Providers tell the same few things in hundreds of ways: this will pass, this will not, this needs money, this needs
a person. A `Failure` is one of them, its `kind`, with what an agent needs to go on. The tables and the rules are
those of Mulligan's Go package `failure`, with which this one agrees row by row. It needs the standard library
alone, and never reads text that a model wrote as evidence.
"""

from __future__ import annotations

from typing import Tuple, get_args

from ._classify import classify
from ._evidence import Evidence, Failure
from ._exceptions import evidence_of
from ._kinds import Kind
from ._text import provider_name, status_url

__all__ = ["KINDS", "Evidence", "Failure", "Kind", "classify", "evidence_of", "provider_name", "status_url"]

KINDS: Tuple[Kind, ...] = get_args(Kind)
"""Every kind that this version knows. A reader keeps kinds that it does not know."""
