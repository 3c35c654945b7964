// Mulligan limits what an answer may have, in the words of whatever wire Pi speaks. A budget
// for thinking comes on top, as it does where Mulligan asks by itself.
const limit = (globalThis[Symbol.for("mulligan.limit")] ??= Number(process.env.MULLIGAN_PI_LIMIT));
delete process.env.MULLIGAN_PI_LIMIT;

export default function (pi) {
  pi.on("before_provider_request", (event) => {
    const payload = { ...event.payload };
    for (const word of ["max_tokens", "max_completion_tokens", "max_output_tokens"]) {
      if (word in payload) payload[word] = limit + (payload.thinking?.budget_tokens ?? 0);
    }
    if (payload.config && "maxOutputTokens" in payload.config) {
      payload.config = { ...payload.config, maxOutputTokens: limit };
    }
    return payload;
  });
}
