"""LangChain: its agent, streamed, over OpenAI's Chat Completions."""

from langchain.agents import create_agent
from langchain_core.messages import AIMessageChunk

from tool import PROMPT, get_weather

agent = create_agent(model="openai:gpt-5.2", tools=[get_weather])
for chunk, _ in agent.stream({"messages": [{"role": "user", "content": PROMPT}]}, stream_mode="messages"):
    if isinstance(chunk, AIMessageChunk):
        print(chunk.text, end="", flush=True)
print()
