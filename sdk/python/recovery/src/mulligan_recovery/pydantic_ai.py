"""Mulligan's recovery for Pydantic AI.

    agent = Agent("anthropic:claude-sonnet-4-5", capabilities=[MulliganRecovery(alternatives=["openai:gpt-5.2"])])

Retry, switch and fail are obeyed. Once a streamed answer has begun, Pydantic AI asks no capability.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic_ai import ModelResponse, RetryModelRequest, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.models import Model, ModelRequestContext

from ._advisor import Advisor, Call

_MOST = 1000  # calls that are under way, at the most


class MulliganRecovery(AbstractCapability[Any]):
    """Asks Mulligan about each model request that fails."""

    def __init__(self, advisor: Advisor | None = None, *, alternatives: Sequence[str | Model] = ()) -> None:
        self._advisor = advisor or Advisor()
        self._models = {_name(model): model for model in alternatives}
        self._calls: dict[tuple[str | None, int], Call] = {}

    async def on_model_request_error(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, error: Exception
    ) -> ModelResponse:
        key = (ctx.run_id, ctx.run_step)
        call = self._calls.get(key)
        if call is None:
            while len(self._calls) >= _MOST:
                self._calls.pop(next(iter(self._calls)))
            call = self._calls[key] = self._advisor.call(_name(request_context.model), self._models)
        asked = call.model
        if not await call.afailed(error):
            self._calls.pop(key, None)
            raise error
        if call.model == asked:
            raise RetryModelRequest()
        raise RetryModelRequest(self._models.get(call.model, call.model.replace("/", ":", 1)))

    async def after_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        if call := self._calls.pop((ctx.run_id, ctx.run_step), None):
            call.answered()
        return response


def _name(model: str | Model) -> str:
    """A model as Mulligan names it: provider/model."""
    if isinstance(model, str):
        return model.replace(":", "/", 1)
    return f"{model.system}/{model.model_name}"
