// Anthropic's SDK in TypeScript: the tool loop over streamed Messages.
import Anthropic from "@anthropic-ai/sdk";
import { getWeather, prompt, schema } from "./tool.mjs";

const client = new Anthropic();
const messages = [{ role: "user", content: prompt }];
for (;;) {
  const stream = client.messages.stream({
    model: "claude-sonnet-4-5",
    max_tokens: 500,
    messages,
    tools: [{ name: "get_weather", description: "How the weather is in a city", input_schema: schema }],
  });
  stream.on("text", (text) => process.stdout.write(text));
  const message = await stream.finalMessage();
  if (message.stop_reason !== "tool_use") break;
  messages.push({ role: "assistant", content: message.content });
  messages.push({
    role: "user",
    content: message.content.filter((block) => block.type === "tool_use").map((call) => ({ type: "tool_result", tool_use_id: call.id, content: getWeather(call.input) })),
  });
}
console.log();
