// An editor, by the official SDK of the Agent Client Protocol: it says "hello", and where a form asks
// what to do, it chooses by the label in FORM. With SESSION it opens that conversation first.
// It prints what it was told, as JSON.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const { MULLIGAN, FORM, SESSION, SAY } = process.env;
const agent = spawn(MULLIGAN, ["acp"], { stdio: ["pipe", "pipe", "inherit"] });
const told = [];
const forms = [];
const app = acp
  .client({ name: "editor" })
  .onRequest(acp.methods.client.elicitation.create, ({ params }) => {
    const choices = params.requestedSchema.properties.action.oneOf;
    forms.push({ message: params.message, choices: choices.map((c) => c.title) });
    const chosen = choices.find((c) => c.title === FORM);
    return chosen ? { action: "accept", content: { action: chosen.const } } : { action: "cancel" };
  })
  .onNotification(acp.methods.client.session.update, ({ params }) => void told.push(params.update));
await app.connectWith(acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout)), async (ctx) => {
  const { agent: it } = acp.methods;
  await ctx.request(it.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION,
    clientCapabilities: { elicitation: { form: {} }, session: { notices: {} } },
  });
  const at = { cwd: process.cwd(), mcpServers: [] };
  let sessionId = SESSION;
  if (SESSION) await ctx.request(it.session.load, { ...at, sessionId });
  else ({ sessionId } = await ctx.request(it.session.new, at));
  const answer = SAY ? await ctx.request(it.session.prompt, { sessionId, prompt: [{ type: "text", text: SAY }] }) : {};
  const { sessions } = await ctx.request(it.session.list, {});
  const text = (kind) => told.filter((u) => u.sessionUpdate === kind).map((u) => u.content.text).join("");
  console.log(JSON.stringify({
    sessionId, forms, stopReason: answer.stopReason, listed: sessions.map((s) => s.title),
    said: text("agent_message_chunk"), asked: text("user_message_chunk"),
    notices: told.filter((u) => u.sessionUpdate === "notice").map((u) => u.title),
  }));
});
agent.stdin.end();
