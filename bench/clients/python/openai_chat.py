"""OpenAI's Python SDK: the tool loop over streamed Chat Completions."""

import json

import openai

from tool import PROMPT, get_weather

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "How the weather is in a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}

client = openai.OpenAI()
messages = [{"role": "user", "content": PROMPT}]
while True:
    with client.chat.completions.stream(model="gpt-5.2", messages=messages, tools=[TOOL]) as stream:
        for event in stream:
            if event.type == "content.delta":
                print(event.delta, end="", flush=True)
        message = stream.get_final_completion().choices[0].message
    if not message.tool_calls:
        break
    messages.append({
        "role": "assistant",
        "content": message.content,
        "tool_calls": [
            {"id": c.id, "type": "function", "function": {"name": c.function.name, "arguments": c.function.arguments}}
            for c in message.tool_calls
        ],
    })
    for call in message.tool_calls:
        result = get_weather(**json.loads(call.function.arguments))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
print()
