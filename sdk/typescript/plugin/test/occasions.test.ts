import assert from "node:assert/strict";
import { test } from "node:test";

import { allow, ask, hold, refuse, route, runAgain, tell } from "@mulligan-run/plugin";
import { modelCall, runEnded, toolError } from "@mulligan-run/plugin/testing";

import { BeforeCallRequest, BeforeCallResponse, RunEndedRequest, ToolAction, ToolErrorRequest, ToolErrorResponse, Verdict } from "../src/gen/mulligan/v1/plugin.js";
import { newModelCall, newRunEnded } from "../src/occasions.js";
import { recovery } from "../src/services.js";
import { newToolError, newToolReply } from "../src/tool.js";
import { newVerdict } from "../src/verdict.js";

const until = new Date("2026-05-04T03:02:01Z");

test("verdicts that say the same are equal", () => {
  assert.deepStrictEqual(allow({ reason: undefined }), { verdict: "allow" });
  assert.deepStrictEqual(route("a/b", { reason: "cheap" }), { verdict: "route", model: "a/b", reason: "cheap" });
  assert.deepStrictEqual(hold(until), { verdict: "hold", until });
  assert.deepStrictEqual(refuse(), { verdict: "refuse" });
});

test("a verdict becomes an answer, and none an empty one", () => {
  assert.equal(BeforeCallResponse.encode(newVerdict(undefined)).finish().length, 0);
  const nothing = { model: "", until: undefined, reason: "" };
  assert.deepEqual(newVerdict(allow()), { ...nothing, verdict: Verdict.ALLOW });
  assert.deepEqual(newVerdict(route("a/b")), { ...nothing, verdict: Verdict.ROUTE, model: "a/b" });
  assert.deepEqual(newVerdict(hold(until)), { ...nothing, verdict: Verdict.HOLD, until });
  assert.deepEqual(newVerdict(refuse("names")), { ...nothing, verdict: Verdict.REFUSE, reason: "names" });
});

test("what an answer cannot hold is an error that says so", () => {
  const wrong: [string, unknown][] = [
    ["not a verdict", "refuse"], ["not a verdict", { verdict: "toString" }], ["not a verdict", { action: "retry" }],
    ["until must be a Date", { verdict: "hold", until: 7 }], ["until must be a Date", hold(new Date(NaN))],
    ["model must be", { verdict: "route", model: 7 }], ["reason must be", refuse(7 as unknown as string)],
  ];
  for (const [want, given] of wrong) {
    assert.throws(() => newVerdict(given), (error: Error) => error.message.includes(want), want);
  }
});

test("advice about a tool becomes an answer, and none an empty one", () => {
  assert.deepStrictEqual(ask(undefined), { tool: "ask" });
  assert.equal(ToolErrorResponse.encode(newToolReply(undefined)).finish().length, 0);
  const nothing = { delayMs: 0n, words: "", reason: "" };
  assert.deepEqual(newToolReply(runAgain({ after: 0.5, reason: "busy" })), { ...nothing, action: ToolAction.RETRY, delayMs: 500n, reason: "busy" });
  assert.deepEqual(newToolReply(tell("try Oslo")), { ...nothing, action: ToolAction.TELL, words: "try Oslo" });
  assert.deepEqual(newToolReply(ask("what now?")), { ...nothing, action: ToolAction.ASK, reason: "what now?" });
  const wrong: [string, unknown][] = [
    ["not advice", { action: "retry" }], ["not advice", { tool: "toString" }], ["words must be", { tool: "tell", words: 7 }], ["after must be", runAgain({ after: NaN })],
  ];
  for (const [want, given] of wrong) {
    assert.throws(() => newToolReply(given), (error: Error) => error.message.includes(want), want);
  }
});

test("a test's call, tool and end have the fields of real ones, and no others", () => {
  const call = newModelCall(BeforeCallRequest.decode(new Uint8Array()));
  assert.deepEqual(Object.keys(modelCall()).sort(), Object.keys(call).sort());
  const tool = newToolError(ToolErrorRequest.decode(new Uint8Array()));
  assert.deepEqual(Object.keys(toolError()).sort(), Object.keys(tool).sort());
  const end = newRunEnded(RunEndedRequest.decode(new Uint8Array()));
  assert.deepEqual(Object.keys(runEnded()).sort(), Object.keys(end).sort());
});

test("what belongs together is given once", () => {
  const call = modelCall({ model: "a/b", alternatives: ["c/d"] });
  assert.deepEqual([call.about.model, call.models], ["a/b", [{ model: "c/d", contextTokens: 0 }]]);
  assert.equal(runEnded({ chosenModel: "a/b" }).model, "a/b");
});

test("the plugin offers what it takes", () => {
  const offered = (options: object): unknown => {
    let said: unknown;
    (recovery(() => undefined, options).describe as Function)({}, (_error: unknown, described: { occasions: unknown }) => (said = described.occasions));
    return said;
  };
  assert.deepEqual(offered({}), []);
  assert.deepEqual(offered({ runEnded: () => {} }), ["run_ended"]);
  assert.deepEqual(offered({ beforeCall: () => {}, toolError: () => {}, runEnded: () => {} }), ["before_call", "tool_error", "run_ended"]);
});
