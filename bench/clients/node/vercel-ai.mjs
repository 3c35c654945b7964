// The Vercel AI SDK: its loop over streamed Messages.
import { anthropic } from "@ai-sdk/anthropic";
import { isStepCount, jsonSchema, streamText, tool } from "ai";
import { getWeather, prompt, schema } from "./tool.mjs";

let failed;
const { textStream } = streamText({
  model: anthropic("claude-sonnet-4-5"),
  prompt,
  stopWhen: isStepCount(5),
  tools: { get_weather: tool({ description: "How the weather is in a city", inputSchema: jsonSchema(schema), execute: getWeather }) },
  onError: ({ error }) => { failed = error; },
});
for await (const text of textStream) process.stdout.write(text);
console.log();
if (failed) {
  console.error(String(failed));
  process.exit(1);
}
