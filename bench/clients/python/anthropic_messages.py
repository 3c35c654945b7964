"""Anthropic's Python SDK: the tool loop over streamed Messages."""

import anthropic

from tool import PROMPT, get_weather

TOOL = {
    "name": "get_weather",
    "description": "How the weather is in a city",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}

client = anthropic.Anthropic()
messages = [{"role": "user", "content": PROMPT}]
while True:
    with client.messages.stream(model="claude-sonnet-4-5", max_tokens=500, messages=messages, tools=[TOOL]) as stream:
        for text in stream.text_stream:
            print(text, end="", flush=True)
        message = stream.get_final_message()
    calls = [block for block in message.content if block.type == "tool_use"]
    if message.stop_reason != "tool_use":
        break
    messages.append({"role": "assistant", "content": [block.model_dump(include={"type", "id", "name", "input", "text"}) for block in message.content]})
    messages.append({
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": c.id, "content": get_weather(**c.input)} for c in calls],
    })
print()
