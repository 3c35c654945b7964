import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { type Kind, switchTo } from "@mulligan-run/plugin";
import { event, type EventFields } from "@mulligan-run/plugin/testing";

import { type Config, configure, siblingAccount } from "./sibling.js";

const work: EventFields = { kind: "rate_limit", model: "anthropic-work/claude-opus-4-5", provider: "anthropic-work" };

/** The model that is switched to, of those given. */
function chosen(...alternatives: string[]): string | undefined {
  return siblingAccount(event({ ...work, alternatives }))?.model;
}

beforeEach(() => configure(undefined));

test("another account has the same model", () => {
  assert.deepEqual(
    siblingAccount(event({ ...work, alternatives: ["openai/gpt-5.2", "anthropic-home/claude-opus-4-5"] })),
    switchTo("anthropic-home/claude-opus-4-5", { reason: "anthropic-work: rate_limit. anthropic-home has the same model" }),
  );
});

test("another model is another matter", () => {
  assert.equal(chosen("anthropic-home/claude-haiku-4-5", "anthropic-work/claude-haiku-4-5", "openai/claude-opus-4-5"), undefined);
  assert.equal(chosen(), undefined);
});

test("the bare name is of the family", () => {
  assert.equal(chosen("anthropic/claude-opus-4-5"), "anthropic/claude-opus-4-5");
});

test("the first in the order of preference", () => {
  assert.equal(chosen("anthropic-b/claude-opus-4-5", "anthropic-a/claude-opus-4-5"), "anthropic-b/claude-opus-4-5");
});

test("a model's name may have slashes", () => {
  const e = event({ kind: "quota", model: "router-a/meta/llama", alternatives: ["router-b/other/llama", "router-b/meta/llama"] });
  assert.equal(siblingAccount(e)?.model, "router-b/meta/llama");
});

test("only what is the account's", () => {
  const alternatives = ["anthropic-home/claude-opus-4-5"];
  const kinds: Kind[] = ["rate_limit", "quota", "billing", "auth", "overloaded", "timeout"];
  const speaks = (kind: Kind) => siblingAccount(event({ ...work, kind, alternatives })) !== undefined;
  assert.deepEqual(kinds.filter(speaks), ["rate_limit", "quota", "billing"]);
  configure({ kinds: ["auth"] } satisfies Config);
  assert.deepEqual(kinds.filter(speaks), ["auth"]);
});

test("siblings by configuration, and then no others", () => {
  configure({ siblings: [["anthropic-work", "claude"], ["openai", "azure"]] } satisfies Config);
  assert.equal(chosen("azure/claude-opus-4-5", "anthropic-home/claude-opus-4-5"), undefined);
  assert.equal(chosen("azure/claude-opus-4-5", "claude/claude-opus-4-5"), "claude/claude-opus-4-5");
});
