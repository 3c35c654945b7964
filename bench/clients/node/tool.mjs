// The one tool of all clients in JavaScript: it notes that it ran.
import { appendFileSync } from "node:fs";

export const prompt = "What should I wear in Oslo today? Look at the weather first.";

export function getWeather({ city }) {
  appendFileSync(process.env.TOOL_LOG, `ran ${city}\n`);
  return "14 °C and clear";
}

export const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
