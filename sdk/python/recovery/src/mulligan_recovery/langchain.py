"""Mulligan's recovery for LangChain agents.

    agent = create_agent("anthropic:claude-sonnet-4-5", tools, middleware=[MulliganRecovery(alternatives=["openai:gpt-5.2"])])

Retry, switch and fail are obeyed. What was streamed of an attempt that failed is not withdrawn by LangChain.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain.agents.middleware.types import AgentMiddleware, ModelRequest, ModelResponse
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel

from ._advisor import Advisor, Call


class MulliganRecovery(AgentMiddleware[Any, Any]):
    """Asks Mulligan about each model call that fails."""

    def __init__(self, advisor: Advisor | None = None, *, alternatives: Sequence[str | BaseChatModel] = ()) -> None:
        super().__init__()
        self._advisor = advisor or Advisor()
        self._models = {_name(model): model for model in alternatives}

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        first, call = self._begin(request)
        while True:
            try:
                response = handler(request)
            except Exception as error:
                if not call.failed(error):
                    raise
                request = request.override(model=self._model(call, first))
            else:
                call.answered()
                return response

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        first, call = self._begin(request)
        while True:
            try:
                response = await handler(request)
            except Exception as error:
                if not await call.afailed(error):
                    raise
                request = request.override(model=self._model(call, first))
            else:
                call.answered()
                return response

    def _begin(self, request: ModelRequest[Any]) -> tuple[BaseChatModel, Call]:
        return request.model, self._advisor.call(_name(request.model), [_name(request.model), *self._models])

    def _model(self, call: Call, first: BaseChatModel) -> BaseChatModel:
        if call.model == _name(first):
            return first
        model = self._models[call.model]
        return init_chat_model(model) if isinstance(model, str) else model


def _name(model: str | BaseChatModel) -> str:
    """A model as Mulligan names it: provider/model."""
    if isinstance(model, str):
        return model.replace(":", "/", 1)
    params = model._get_ls_params()
    return f"{params.get('ls_provider', 'unknown')}/{params.get('ls_model_name', 'unknown')}"
