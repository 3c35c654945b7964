import assert from "node:assert/strict";
import { test } from "node:test";

import { type Contract, type Decision, fail, forbid, retry, switchTo } from "@mulligan-run/plugin";

import { Action } from "../src/gen/mulligan/v1/decision.js";
import { RunErrorResponse } from "../src/gen/mulligan/v1/plugin.js";
import { newReply } from "../src/reply.js";

const nothing = { action: 0, delayMs: 0n, newModel: "", reason: "", actions: [], adjust: undefined, restrict: undefined };

test("decisions that say the same are equal", () => {
  assert.deepStrictEqual(retry(), { action: "retry" });
  assert.deepStrictEqual(retry({ after: undefined }), retry());
  assert.deepStrictEqual(switchTo("a/b", { reason: "slow" }), { action: "switch_model", model: "a/b", reason: "slow" });
  assert.deepStrictEqual(fail({ reason: undefined }), { action: "fail" });
});

test("no opinion is an empty reply", () => {
  for (const none of [undefined, null]) {
    assert.equal(RunErrorResponse.encode(newReply(none)).finish().length, 0);
  }
});

test("a decision becomes a reply", () => {
  assert.deepEqual(newReply(retry({ after: 2.5, reason: "slow" })), { ...nothing, action: Action.RETRY, delayMs: 2500n, reason: "slow" });
  assert.deepEqual(newReply(switchTo("a/b", { after: 1 })), { ...nothing, action: Action.SWITCH_MODEL, newModel: "a/b", delayMs: 1000n });
  assert.deepEqual(newReply(fail()), { ...nothing, action: Action.FAIL });
  const actions = [{ kind: "edit", effect: "client" }, { kind: "status", label: "Status", effect: "client", url: "https://x.test" }] as const;
  assert.deepEqual(newReply(fail({ actions })).actions, [
    { id: "", kind: "edit", label: "", effect: "client", model: "", primary: false, url: "" },
    { id: "", kind: "status", label: "Status", effect: "client", model: "", primary: false, url: "https://x.test" },
  ]);
  assert.deepEqual(newReply(forbid({ never: ["openai/*"], local: true }, { reason: "after hours" })), {
    ...nothing, reason: "after hours", restrict: { never: ["openai/*"], maxOutputPrice: 0n, local: true },
  });
  assert.deepEqual(newReply(retry({ adjust: { compact: true } })).adjust, { compact: true, maxOutputTokens: 0, reasoningEffort: "", continue: false });
});

test("the original contract is taken as it is", () => {
  const want = { ...nothing, action: Action.SWITCH_MODEL, newModel: "a/b", delayMs: 1500n, reason: "slow" };
  const said: Contract[] = [
    { action: "switch", newModel: "a/b", delayMs: 1500, reason: "slow" },
    { action: "switch", new_model: "a/b", delayMs: 1500, reason: "slow" },
  ];
  for (const contract of said) {
    assert.deepEqual(newReply(contract), want);
  }
  assert.deepEqual(newReply({ action: "retry" } satisfies Contract), { ...nothing, action: Action.RETRY });
});

test("a delay is rounded up, and only where it has to be", () => {
  const delays = { 0: 0n, 1e-9: 1n, 0.0011: 2n, 0.07: 70n, 1.001: 1001n, 4.35: 4350n, 604800: 604800000n, [-0.0001]: -1n };
  for (const [after, want] of Object.entries(delays)) {
    assert.equal(newReply(retry({ after: Number(after) })).delayMs, want, after);
  }
});

test("what a reply cannot hold is an error that says so", () => {
  const wrong: Record<string, unknown> = {
    "not a decision": "retry",
    "not a decision ": { action: "toString" },
    "not a decision  ": false,
    "after must be": retry({ after: NaN }),
    "after must be ": retry({ after: 1e300 }),
    "after must be  ": { action: "retry", after: "2" },
    "model must be": { action: "switch_model", model: 7 },
    "reason must be": { action: "fail", reason: new Error("no") },
    "actions must be": { action: "fail", actions: "edit" },
    "actions[0].kind must be": { action: "fail", actions: [{ kind: 1 }] },
    "restrict.maxOutputPrice must be": forbid({ maxOutputPrice: 1.5 }),
    "restrict.never must be": { restrict: { never: "openai/*" } },
    "adjust.compact must be": { action: "retry", adjust: { compact: "yes" } },
    "adjust.maxOutputTokens must be": retry({ adjust: { maxOutputTokens: 1.5 } }),
    "adjust.maxOutputTokens must be ": retry({ adjust: { maxOutputTokens: 2 ** 31 } }),
  };
  for (const [want, given] of Object.entries(wrong)) {
    assert.throws(() => newReply(given), (error: Error) => error.message.includes(want.trim()), want);
  }
});

test("what the types forbid", () => {
  // @ts-expect-error an action of nobody's
  const nobodys: Decision = { action: "nonsense" };
  // @ts-expect-error an effort of nobody's
  const effort = retry({ adjust: { reasoningEffort: "maximal" } });
  assert.ok(nobodys && effort);
});
