"""Each host's real package obeys retry, switch and fail, of the same faults and the same plugin."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import npm_hosts
import pytest
from conftest import FAULTS, Lab, Service, script

from mulligan_recovery import Advisor

OTHER = "script:answer:from-the-other"
HI = {"messages": [{"role": "user", "content": "hi"}]}

_loop = asyncio.new_event_loop()  # one for all: hosts keep their connections
run = _loop.run_until_complete


async def pydantic_ai(lab: Lab, advisor: Advisor, model: str) -> str:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    from mulligan_recovery.pydantic_ai import MulliganRecovery
    from openai import AsyncOpenAI

    class Elsewhere(OpenAIChatModel):
        @property
        def system(self) -> str:  # another account: what is wrong with the first one's is not with this one's
            return "elsewhere"

    provider = OpenAIProvider(openai_client=AsyncOpenAI(base_url=lab.url, api_key="k", max_retries=0))
    other = Elsewhere(OTHER, provider=provider)
    agent = Agent(OpenAIChatModel(model, provider=provider), capabilities=[MulliganRecovery(advisor, alternatives=[other])])
    return str((await agent.run("hi")).output)


def langchain_agent(lab: Lab, advisor: Advisor, model: str) -> Any:
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI

    from mulligan_recovery.langchain import MulliganRecovery

    class Elsewhere(ChatOpenAI):
        def _get_ls_params(self, stop: Any = None, **kwargs: Any) -> Any:
            return {**super()._get_ls_params(stop, **kwargs), "ls_provider": "elsewhere"}

    def chat(name: str, of: type[ChatOpenAI] = ChatOpenAI) -> ChatOpenAI:
        return of(model=name, base_url=lab.url, api_key="k", max_retries=0)

    return create_agent(chat(model), [], middleware=[MulliganRecovery(advisor, alternatives=[chat(OTHER, Elsewhere)])])


async def langchain(lab: Lab, advisor: Advisor, model: str) -> str:
    said = await langchain_agent(lab, advisor, model).ainvoke(HI)
    return str(said["messages"][-1].content)


def openai_agent(lab: Lab, advisor: Advisor, model: str) -> Any:
    from agents import Agent, Model, OpenAIProvider, RunConfig, set_tracing_disabled
    from openai import AsyncOpenAI

    from mulligan_recovery.openai_agents import MulliganRecovery

    set_tracing_disabled(True)

    class Accounts(OpenAIProvider):
        def get_model(self, model_name: str | None) -> Model:
            return super().get_model((model_name or "").removeprefix("elsewhere/"))

    accounts = Accounts(openai_client=AsyncOpenAI(base_url=lab.url, api_key="k", max_retries=0), use_responses=False)
    recovery = MulliganRecovery(advisor, alternatives=["elsewhere/" + OTHER], provider=accounts)
    return Agent(name="a", model=model), RunConfig(model_provider=recovery)


async def openai_agents(lab: Lab, advisor: Advisor, model: str) -> str:
    from agents import Runner

    agent, config = openai_agent(lab, advisor, model)
    return str((await Runner.run(agent, "hi", run_config=config)).final_output)


Host = Callable[[Lab, Advisor, str], Coroutine[Any, Any, str]]
OF_NPM = [npm_hosts.host(name, OTHER) for name in ("ai-sdk", "openai-agents")] if npm_hosts.FOLDER else []
HOSTS: list[Host] = [pydantic_ai, langchain, openai_agents, *OF_NPM]


@pytest.fixture(scope="module", autouse=True)
def _ends_the_hosts() -> Iterator[None]:
    yield
    npm_hosts.end()


async def outcome(host: Host, lab: Lab, advisor: Advisor, model: str) -> str:
    try:
        return await host(lab, advisor, model)
    except Exception as error:
        return f"failed: {type(error).__name__}: {error}"


@pytest.mark.parametrize("number", range(len(FAULTS)), ids=lambda n: f"{n}-{FAULTS[n]['is']}".replace(" ", "-"))
def test_obeys(number: int, lab: Lab, service: Service) -> None:
    """All hosts at a time, each of which waits as long as it is told to."""
    fault: dict[str, Any] = FAULTS[number]
    names = {host: f"once-more-{host.__name__}-{number}" for host in HOSTS}

    async def all_hosts() -> list[str]:
        advisors = [Advisor(service.url, service.token, timeout=60) for _ in HOSTS]
        return await asyncio.gather(
            *(outcome(host, lab, advisor, script(fault, names[host])) for host, advisor in zip(HOSTS, advisors, strict=True))
        )

    began = time.monotonic()
    said = dict(zip(HOSTS, run(all_hosts()), strict=True))
    assert time.monotonic() - began >= fault.get("after", 0)
    for host in HOSTS:
        wanted = {"retry": names[host], "switch": "from-the-other", "fail": "failed: "}[fault["obeyed"]]
        assert said[host].startswith(wanted), host.__name__


def test_the_trail_of_all_is_kept(service: Service) -> None:
    """Each call that was asked about is a run, and those that went on are completed."""
    deadline = time.monotonic() + 60
    while True:
        stand = [str(run["status"]) for run in service.runs()]
        done = stand.count("completed")
        if done == len(HOSTS) * sum(fault["obeyed"] != "fail" for fault in FAULTS) or time.monotonic() > deadline:
            break
        time.sleep(0.1)  # outcomes are told beside the hosts
    assert len(stand) == len(HOSTS) * len(FAULTS)
    assert done == len(HOSTS) * sum(fault["obeyed"] != "fail" for fault in FAULTS)


def test_without_mulligan(lab: Lab, mortal: Service, caplog: pytest.LogCaptureFixture) -> None:
    """The service is killed in the middle: each host fails as without us, and that is said once."""
    for host in HOSTS:
        advisor = Advisor(mortal.url, mortal.token, timeout=60)
        assert run(host(lab, advisor, script(FAULTS[13], f"alive-{host.__name__}"))).startswith("alive-")
    deadline = time.monotonic() + 60
    while any(call["status"] != "completed" for call in mortal.runs()) and time.monotonic() < deadline:
        time.sleep(0.1)  # outcomes are told beside the hosts
    mortal.process.kill()
    mortal.process.wait(20)
    for host in HOSTS:
        advisor = Advisor(mortal.url, mortal.token)
        for n in range(2):
            caplog.clear()
            with pytest.raises(Exception, match="503"):
                run(host(lab, advisor, f"script:503,503,answer:late-{host.__name__}-{n}"))
            said = [record for record in caplog.records if record.name == "mulligan"]
            assert len(said) == 1 - n, [record.message for record in said]


def test_sync(lab: Lab, service: Service) -> None:
    """LangChain's other way in, of programs that do not await."""
    said = langchain_agent(lab, Advisor(service.url, service.token, timeout=60), script(FAULTS[13], "once-more-sync")).invoke(HI)
    assert said["messages"][-1].content == "once-more-sync"


def test_streamed(lab: Lab, service: Service) -> None:
    """The OpenAI Agents SDK's other way in: until its first event an answer is asked for again."""
    from agents import Runner

    async def said(model: str) -> str:
        agent, config = openai_agent(lab, Advisor(service.url, service.token, timeout=60), model)
        streamed = Runner.run_streamed(agent, "hi", run_config=config)
        async for _ in streamed.stream_events():
            pass
        return str(streamed.final_output)

    assert run(said(script(FAULTS[13], "once-more-streamed"))) == "once-more-streamed"
    with pytest.raises(Exception):
        run(said("script:cut,answer:once-more-cut"))


@pytest.mark.parametrize("name", ["ai-sdk-streamed", "openai-agents-streamed"])
def test_streamed_of_npm(name: str, lab: Lab, service: Service) -> None:
    """What fails before its content is asked for again; a part of one answer is never followed by another one."""
    npm_hosts.skipped()
    host, advisor = npm_hosts.host(name, OTHER), Advisor(service.url, service.token, timeout=60)
    assert run(host(lab, advisor, script(FAULTS[13], f"once-more-{name}"))) == f"once-more-{name}"
    assert run(host(lab, advisor, script(FAULTS[7], ""))) == "from-the-other"
    said = run(outcome(host, lab, advisor, f"script:cut,answer:once-more-cut-{name}"))
    assert said == f"once-more-cut-{name}" or said.startswith("failed: "), said  # whether the part was read before the cut is chance
