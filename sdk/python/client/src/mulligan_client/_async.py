"""The client of programs that await. Requests are made by threads, of which a follower has one of its own."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import socket
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from typing import Any

from ._client import ADVICE, Client
from ._http import Document, Item, hang_up
from ._tools import Answering, Tool, result

_MOST = 256
"""How many items a follower may be behind before its connection is not read any further."""


class AsyncClient:
    """Client for programs that await."""

    def __init__(self, url: str = "http://127.0.0.1:8484", token: str | None = None) -> None:
        self._client = Client(url, token)

    async def start(self, start: Document, key: str | None = None) -> Document:
        return await asyncio.to_thread(self._client.start, start, key)

    async def run(self, run: str) -> Document:
        return await asyncio.to_thread(self._client.run, run)

    async def runs(self, **query: Any) -> Document:
        return await asyncio.to_thread(self._client.runs, **query)

    async def recover(self, run: str, choice: Document) -> Document:
        return await asyncio.to_thread(self._client.recover, run, choice)

    async def cancel(self, run: str) -> Document:
        return await asyncio.to_thread(self._client.cancel, run)

    async def return_tool_results(self, run: str, results: list[Document]) -> Document:
        return await asyncio.to_thread(self._client.return_tool_results, run, results)

    async def suggestions(self, limit: int = 50) -> list[Document]:
        return await asyncio.to_thread(self._client.suggestions, limit)

    async def sessions(self, limit: int = 50) -> list[Document]:
        return await asyncio.to_thread(self._client.sessions, limit)

    async def session(self, session: str, **query: Any) -> Document:
        return await asyncio.to_thread(self._client.session, session, **query)

    async def set_session(self, session: str, defaults: Document) -> Document:
        return await asyncio.to_thread(self._client.set_session, session, defaults)

    async def set_session_title(self, session: str, title: str) -> None:
        await asyncio.to_thread(self._client.set_session_title, session, title)

    async def delete_session(self, session: str) -> None:
        await asyncio.to_thread(self._client.delete_session, session)

    async def models(self) -> list[Document]:
        return await asyncio.to_thread(self._client.models)

    async def plugins(self) -> list[Document]:
        return await asyncio.to_thread(self._client.plugins)

    async def act_on_plugin(self, name: str, act: str) -> Document:
        return await asyncio.to_thread(self._client.act_on_plugin, name, act)

    async def providers(self) -> Document:
        return await asyncio.to_thread(self._client.providers)

    async def kinds(self) -> list[Document]:
        return await asyncio.to_thread(self._client.kinds)

    async def learn(self, run: str, correction: Document) -> Document:
        return await asyncio.to_thread(self._client.learn, run, correction)

    async def decide(self, failed: Document, timeout: float = ADVICE) -> Document:
        return await asyncio.to_thread(self._client.decide, failed, timeout)

    async def outcome(self, outcome: Document, timeout: float = ADVICE) -> None:
        await asyncio.to_thread(self._client.outcome, outcome, timeout)

    async def follow(self, run: str, after: int = 0) -> AsyncIterator[Item]:
        """As Client.follow. Close it (contextlib.aclosing) where it is left before the run has ended."""
        async with contextlib.aclosing(self._follow(run, after, asyncio.Queue())) as items:
            async for item in items:
                yield item

    async def _follow(self, run: str, after: int, items: asyncio.Queue[Item | BaseException | None]) -> AsyncGenerator[Item, None]:
        loop = asyncio.get_running_loop()
        room, stopped = threading.Semaphore(_MOST), threading.Event()
        sockets: list[socket.socket] = []

        def put(item: Item | BaseException | None) -> None:
            with contextlib.suppress(RuntimeError):  # the loop was closed
                if not stopped.is_set():
                    loop.call_soon_threadsafe(items.put_nowait, item)

        def read() -> None:
            try:
                for item in self._client._follow(run, after, stopped, sockets):
                    room.acquire()
                    if stopped.is_set():
                        return
                    put(item)
                put(None)
            except BaseException as error:
                put(error)

        threading.Thread(target=read, daemon=True).start()
        try:
            while (item := await items.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                room.release()
                yield item
        finally:
            stopped.set()
            room.release()
            hang_up(sockets)

    async def follow_with_tools(self, run: str, tools: Iterable[Tool], after: int = 0) -> AsyncIterator[Item]:
        """As follow, and answers meanwhile the calls of the tools that the run awaits, side by side. A tool that is no coroutine function has
        a thread of its own. Close it as follow."""
        answering = Answering(tools)
        calls: set[asyncio.Task[None]] = set()
        items: asyncio.Queue[Item | BaseException | None] = asyncio.Queue()

        def done(call: asyncio.Task[None]) -> None:
            if not call.cancelled() and (error := call.exception()) is not None:  # the run waits for it in vain
                items.put_nowait(error)

        def answer(situation: Document) -> None:
            for tool, call in answering.new(situation):
                task = asyncio.create_task(self._answer(run, tool, call))
                task.add_done_callback(done)
                calls.add(task)

        try:
            answer((await self.run(run))["situation"])
            async with contextlib.aclosing(self._follow(run, after, items)) as followed:
                async for item in followed:
                    if "situation" in item:
                        answer(item["situation"])
                    yield item
            await asyncio.gather(*calls)
        finally:
            for call in calls:
                call.cancel()

    async def _answer(self, run: str, tool: Tool, call: Document) -> None:
        try:
            if inspect.iscoroutinefunction(tool.run):
                said = await tool.run(**call["args"])
            else:
                said = await asyncio.to_thread(tool.run, **call["args"])
            given = result(call, said)
        except Exception as error:
            given = result(call, f"{type(error).__name__}: {error}", failed=True)
        await asyncio.to_thread(self._client._give, run, given)
