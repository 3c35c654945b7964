import assert from "node:assert/strict";
import { test } from "node:test";

import type { Kind } from "@mulligan-run/plugin";
import { event } from "@mulligan-run/plugin/testing";

import { newEvent } from "../src/event.js";
import { Failure as WireFailure, Kind as WireKind, type Phase as WirePhase } from "../src/gen/mulligan/v1/failure.js";
import { RunErrorRequest } from "../src/gen/mulligan/v1/plugin.js";

const empty = newEvent(RunErrorRequest.decode(new Uint8Array()));

test("an empty event has every field", () => {
  assert.equal(empty.kind, "");
  assert.equal(empty.retryAfter, undefined);
  assert.equal(empty.resetsAt, undefined);
  assert.equal(empty.remainingTokens, 0);
  assert.deepEqual(empty.alternatives, []);
  assert.equal(empty.failure.limit, undefined);
});

test("what an event shares with its failure is the same", () => {
  const m = RunErrorRequest.decode(new Uint8Array());
  m.failure = { ...WireFailure.decode(new Uint8Array()), kind: WireKind.RATE_LIMIT, retryAfterMs: 2500n, retryable: true };
  const e = newEvent(m);
  assert.equal(e.kind, "rate_limit" satisfies Kind);
  assert.equal(e.retryAfter, 2.5);
  for (const key of ["kind", "code", "provider", "retryable", "retryAfter", "resetsAt"] as const) {
    assert.deepEqual(e[key], e.failure[key], key);
  }
});

test("a test's event has the fields of a real one, and no others", () => {
  assert.deepEqual(Object.keys(event()).sort(), Object.keys(empty).sort());
  assert.deepEqual(Object.keys(event().failure).sort(), Object.keys(empty.failure).sort());
});

test("what an event shares with its failure is given once", () => {
  const one = event({ kind: "quota", retryAfter: 30, model: "a/b" });
  assert.equal(one.failure.kind, "quota");
  assert.equal(one.failure.retryAfter, 30);
  assert.equal(one.failure.model, "a/b");
  const other = event({ failure: { kind: "auth", retryable: false, httpStatus: 401 } });
  assert.equal(other.kind, "auth");
  assert.equal(other.retryable, false);
  assert.equal(other.failure.httpStatus, 401);
});

test("alternatives and models are given once", () => {
  assert.deepEqual(event({ alternatives: ["a/b"] }).models, [{ model: "a/b", contextTokens: 0 }]);
  assert.deepEqual(event({ models: [{ model: "a/b", contextTokens: 4096 }] }).alternatives, ["a/b"]);
});

test("a slip in a name is found by the compiler", () => {
  // @ts-expect-error a kind of nobody's
  event({ kind: "rate_limitt" });
  // @ts-expect-error
  event({ failure: { kind: "rate_limitt" } });
  // @ts-expect-error a text that may be anything
  event({ kind: "rate_limit" as string });
  // @ts-expect-error a phase of nobody's
  event({ failure: { phase: "mid_air" } });
  // @ts-expect-error a plugin that would never answer
  assert.equal(event().kind === "rate_limitt", false);
  // @ts-expect-error
  const kinds: readonly Kind[] = ["rate_limitt"];
  assert.ok(kinds);
});

test("kinds of tomorrow are read as they are", () => {
  const m = RunErrorRequest.decode(new Uint8Array());
  m.failure = { ...WireFailure.decode(new Uint8Array()), kind: 0, kindName: "out_of_coffee", phase: 99 as WirePhase };
  const e = newEvent(m);
  assert.equal<string>(e.kind, "out_of_coffee");
  assert.equal<string>(e.failure.phase, "phase_99");
});
