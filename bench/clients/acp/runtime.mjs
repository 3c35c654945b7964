// A program that has acpx's runtime, which can draw forms: it says "hello", and where a form asks what to do, it
// chooses by the label in FORM. It prints what it was told, as JSON.
import { createAcpRuntime, createRuntimeStore } from "acpx/runtime";

const { HOME, MULLIGAN, FORM } = process.env;
const forms = [];
const runtime = createAcpRuntime({
  cwd: HOME,
  sessionStore: createRuntimeStore({ stateDir: `${HOME}/acpx` }),
  agentRegistry: { resolve: () => [MULLIGAN, "acp"], list: () => ["mulligan"] },
  permissionMode: "deny-all",
  elicitationModes: ["form"],
});
const handle = await runtime.ensureSession({ sessionKey: "s", agent: "mulligan", mode: "oneshot", cwd: HOME });
const turn = runtime.startTurn({
  handle, text: "hello", mode: "prompt", requestId: "1",
  onElicitation: async (asked) => {
    const choices = asked.requestedSchema.properties.action.oneOf;
    forms.push({ choices: choices.map((c) => c.title) });
    const chosen = choices.find((c) => c.title === FORM);
    return chosen ? { action: "accept", content: { action: chosen.const } } : { action: "cancel" };
  },
});
let said = "";
for await (const event of turn.events) if (event.type === "text_delta" && event.stream !== "thought") said += event.text;
const { stopReason } = await turn.result;
await runtime.shutdown();
console.log(JSON.stringify({ said, forms, stopReason }));
