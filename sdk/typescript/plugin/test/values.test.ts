import assert from "node:assert/strict";
import { test } from "node:test";

import { values, ValuesError } from "@mulligan-run/plugin";

test("without a host there are no values, and that is an error that says so", async () => {
  await assert.rejects(values.get("x"), (error) => error instanceof ValuesError && error.problem === "none");
  await assert.rejects(values.keys(), { name: "ValuesError", message: /MULLIGAN_PLUGIN_VALUES/ });
});

test("what is added is a whole number", () => assert.rejects(values.add("x", 0.5), TypeError));
