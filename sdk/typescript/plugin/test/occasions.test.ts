import assert from "node:assert/strict";
import { test } from "node:test";

import { allow, hold, refuse, route } from "@mulligan-run/plugin";
import { modelCall, runEnded } from "@mulligan-run/plugin/testing";

import { BeforeCallRequest, BeforeCallResponse, RunEndedRequest, Verdict } from "../src/gen/mulligan/v1/plugin.js";
import { newModelCall, newRunEnded } from "../src/occasions.js";
import { recovery } from "../src/services.js";
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

test("a test's call and end have the fields of real ones, and no others", () => {
  const call = newModelCall(BeforeCallRequest.decode(new Uint8Array()));
  assert.deepEqual(Object.keys(modelCall()).sort(), Object.keys(call).sort());
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
  assert.deepEqual(offered({ beforeCall: () => {}, runEnded: () => {} }), ["before_call", "run_ended"]);
});
