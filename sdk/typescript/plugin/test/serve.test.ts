import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { status } from "@grpc/grpc-js";

import { byHand, Plugin } from "./plugin.js";

let plugin: Plugin;
before(async () => {
  plugin = await Plugin.start("awkward.js"); // fails if a banner comes before the handshake line
});
after(async () => assert.equal(await plugin.end(), 0));

test("a banner goes to standard error", async () => {
  await plugin.says("a banner\n");
  await plugin.says("and another\n");
});

test("what is thrown outside of calls is reported", async () => {
  await plugin.says("Error: of no call");
  assert.equal((await plugin.ask("")).reason, "alive");
});

test("what a call throws where nobody catches it is its error", async () => {
  await assert.rejects(plugin.ask("throw in a timer"), { code: status.UNKNOWN, details: "from a timer" });
  await assert.rejects(plugin.ask("reject unawaited"), { code: status.UNKNOWN, details: "from a promise" });
  await plugin.says("Error: from a timer");
  await plugin.says("Error: from a promise");
});

test("what is thrown once the call is over is reported", async () => {
  assert.equal((await plugin.ask("throw when it is over")).action, 0);
  await plugin.says("Error: too late to tell");
  assert.equal((await plugin.ask("")).reason, "alive");
});

test("nothing is thrown", () => assert.rejects(plugin.ask("throw nothing"), { code: status.UNKNOWN, details: "undefined" }));

test("the deadline aborts the signal", async () => {
  await assert.rejects(plugin.ask("wait for the signal", "r", 100), { code: status.DEADLINE_EXCEEDED });
  await plugin.says("Error: aborted, and then failed");
});

test("every line of the log names its own run", async () => {
  const runs = Array.from({ length: 32 }, (_, n) => `run-${n}`);
  await Promise.all(runs.map((run) => plugin.ask("log later", run)));
  await Promise.all(runs.map((run) => plugin.says(`"run":"${run}","of":"${run}"`)));
});

test("a second serve is an error", () => assert.rejects(plugin.ask("serve again"), { details: /second time/ }));

test("a configuration is checked in its own time", async () => {
  await plugin.configure("");
  await plugin.configure("{}");
  await assert.rejects(plugin.configure(`{"refuse": "no such region"}`), { code: status.INVALID_ARGUMENT, details: "no such region" });
  await assert.rejects(plugin.configure("{"), { code: status.INVALID_ARGUMENT });
});

test("by hand, a plugin says how it is used", async () => {
  const { status, stdout, stderr } = await byHand("awkward.js");
  assert.equal(status, 1);
  assert.match(stdout, /a banner/); // it is no plugin then: what it prints is its own
  assert.match(stderr, /awkward\.js is a Mulligan recovery plugin.*mulligan\.yaml.*name: awkward\n.*command: \[node, .*awkward\.js\]/s);
});
