"""Mulligan's recovery for the OpenAI Agents SDK.

    recovery = MulliganRecovery(alternatives=["gpt-5.2-mini"])
    result = await Runner.run(agent, "hi", run_config=RunConfig(model_provider=recovery))

The provider wraps each model: retry, switch and fail are obeyed, a streamed answer's until its first event.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from agents import Model, ModelProvider, ModelResponse, MultiProvider
from agents.items import TResponseStreamEvent

from ._advisor import Advisor, Call


class MulliganRecovery(ModelProvider):
    """Gives the models of another provider, each of which asks Mulligan about its calls that fail."""

    def __init__(self, advisor: Advisor | None = None, *, alternatives: Sequence[str] = (), provider: ModelProvider | None = None) -> None:
        self._advisor = advisor or Advisor()
        self._provider = provider or MultiProvider()
        self._alternatives = {_name(name): name for name in alternatives}

    def get_model(self, model_name: str | None) -> Model:
        return _Recovering(self, model_name)

    async def aclose(self) -> None:
        await self._provider.aclose()


class _Recovering(Model):
    def __init__(self, recovery: MulliganRecovery, name: str | None) -> None:
        self._recovery, self._named, self._first = recovery, name, recovery._provider.get_model(name)
        self._name = _name(name or str(getattr(self._first, "model", "default")))

    def _begin(self) -> Call:
        return self._recovery._advisor.call(self._name, [self._name, *self._recovery._alternatives])

    def _model(self, call: Call) -> Model:
        if call.model == self._name:
            return self._first
        return self._recovery._provider.get_model(self._recovery._alternatives[call.model])

    async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
        call = self._begin()
        while True:
            try:
                response = await self._model(call).get_response(*args, **kwargs)
            except Exception as error:
                if not await call.afailed(error):
                    raise
            else:
                call.answered()
                return response

    async def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[TResponseStreamEvent]:
        call = self._begin()
        while True:
            begun = False
            try:
                async for event in self._model(call).stream_response(*args, **kwargs):
                    begun = True
                    yield event
            except Exception as error:
                if begun or not await call.afailed(error):
                    raise
            else:
                call.answered()
                return


def _name(model: str) -> str:
    """A model as Mulligan names it: provider/model; OpenAI's are the SDK's own."""
    return model if "/" in model else "openai/" + model
