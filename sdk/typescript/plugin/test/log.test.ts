import assert from "node:assert/strict";
import { test } from "node:test";

import { log } from "@mulligan-run/plugin";

import { calls } from "../src/calls.js";
import { logged } from "./logged.js";

test("a line has a level, a message, a time and the author's keys", () => {
  const [line] = logged(() => log.warn("over\nquota", { left: 0, "@level": "mine" }));
  assert.deepEqual(Object.keys(line!), ["@level", "@message", "@timestamp", "left"]);
  assert.equal(line!["@level"], "warn");
  assert.equal(line!["@message"], "over\nquota");
  assert.match(String(line!["@timestamp"]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test("a line of a call has its ids", () => {
  const call = { run: "r-1", session: "s-1", fail: undefined };
  const lines = logged(() => {
    calls.run(call, () => log.info("a"));
    calls.run({ ...call, session: "" }, () => log.info("b", { run: "another" }));
    log.info("c");
  });
  assert.deepEqual(lines.map(({ run, session }) => [run, session]), [["r-1", "s-1"], ["r-1", undefined], [undefined, undefined]]);
});

test("a line is written whatever it has to hold", () => {
  const circle: Record<string, unknown> = {};
  circle["circle"] = circle;
  const [big, error, round] = logged(() => {
    log.debug("big", { n: 1n });
    log.error("error", { error: new TypeError("no") });
    log.trace("round", circle);
  });
  assert.equal(big!["n"], "1n");
  assert.match(String(error!["error"]), /^TypeError: no\n +at /);
  assert.equal(round!["@message"], "round");
  assert.match(String(round!["unreadable"]), /circular/i);
});
