import assert from "node:assert/strict";
import { test } from "node:test";

import type { Message } from "@mulligan-run/plugin";
import { event } from "@mulligan-run/plugin/testing";

import { calls } from "../src/calls.js";
import { newEvent } from "../src/event.js";
import { RunErrorRequest } from "../src/gen/mulligan/v1/plugin.js";
import { logged } from "./logged.js";

const said: Message[] = [
  { role: "user", parts: [{ text: "Was ist das – 鳥?" }, { image: { mediaType: "image/png" } }] },
  {
    role: "assistant", model: "a/b",
    parts: [{ thinking: { text: "Hm." } }, { thinking: {} }, { call: { id: "c1", name: "look", args: { at: ["it"] } } }],
  },
  { role: "tool", parts: [{ result: { callId: "c1", name: "look", text: "too dark", isError: true } }] },
];

/** Gives what an event's transcript becomes on the plugin's side of the wire. */
function received(json: string | Buffer): readonly Message[] | undefined {
  const m = RunErrorRequest.decode(new Uint8Array());
  m.transcript = typeof json === "string" ? Buffer.from(json) : json;
  return newEvent(RunErrorRequest.decode(RunErrorRequest.encode(m).finish())).transcript;
}

test("a transcript that was granted arrives", () => {
  assert.deepEqual(logged(() => assert.deepEqual(received(JSON.stringify(said)), said)), []);
});

test("without a grant there is none, which is nothing to warn of", () => {
  assert.deepEqual(logged(() => assert.equal(received(""), undefined)), []);
});

test("a run in which nothing was said is not a run without a grant", () => assert.deepEqual(received("[]"), []));

test("what is not a JSON list is left out, with a warning that does not quote it", () => {
  const bad = [`secret`, `[{"role": "secret"`, `{"secret": []}`, `"secret"`, `null`, `7`, Buffer.from([0xff, 0xfe])];
  for (const json of bad) {
    const lines = logged(() => calls.run({ run: "r-1", session: "", fail: undefined }, () => assert.equal(received(json), undefined)));
    assert.equal(lines.length, 1);
    assert.equal(lines[0]!["@level"], "warn");
    assert.equal(lines[0]!["run"], "r-1");
    assert.equal(lines[0]!["bytes"], json.length);
    assert.doesNotMatch(JSON.stringify(lines), /secret/);
  }
});

test("a test's event has a transcript if it is given one", () => {
  assert.equal(event().transcript, undefined);
  assert.equal(event({ transcript: said }).transcript, said);
});
