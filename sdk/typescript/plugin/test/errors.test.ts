import assert from "node:assert/strict";
import { test } from "node:test";

import { message } from "../src/errors.js";

test("the text of what was thrown", () => {
  assert.equal(message(new RangeError("too far")), "too far");
  assert.equal(message(new RangeError()), "RangeError");
  assert.equal(message("a text"), "a text");
  assert.equal(message({ code: 7 }), "{ code: 7 }");
  assert.equal(message(undefined), "undefined");
  assert.equal(message(Object.create(null)), "[Object: null prototype] {}");
});

test("a long text is cut between characters", () => {
  for (const text of ["x".repeat(5000), "世".repeat(1000), "x" + "🏌".repeat(600)]) {
    const cut = message(new Error(text));
    assert.ok(Buffer.byteLength(cut) <= 2048 && Buffer.byteLength(cut) > 2040, String(Buffer.byteLength(cut)));
    assert.ok(text.startsWith(cut.slice(0, -1)) && cut.endsWith("…"));
  }
  assert.equal(message("x".repeat(2048)), "x".repeat(2048));
});

test("a text that UTF-8 cannot hold becomes one that it can", () => {
  assert.equal(message("half \ud83c"), "half \ufffd");
});
