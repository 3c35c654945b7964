// OpenAI's SDK in TypeScript: its own loop over streamed Chat Completions.
import OpenAI from "openai";
import { getWeather, prompt, schema } from "./tool.mjs";

const runner = new OpenAI().chat.completions.runTools({
  model: "gpt-5.2",
  stream: true,
  messages: [{ role: "user", content: prompt }],
  tools: [{ type: "function", function: { name: "get_weather", description: "How the weather is in a city", parameters: schema, parse: JSON.parse, function: getWeather } }],
});
runner.on("content", (delta) => process.stdout.write(delta));
await runner.done();
console.log();
