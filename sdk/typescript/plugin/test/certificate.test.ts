import assert from "node:assert/strict";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { test } from "node:test";

import { selfSigned } from "../src/certificate.js";

test("a certificate is what a host demands", () => {
  const now = Date.parse("2026-05-04T03:02:01Z");
  const own = selfSigned(now);
  const certificate = new X509Certificate(own.certificate);
  assert.deepEqual(certificate.raw, own.der);
  assert.equal(certificate.subjectAltName, "DNS:localhost");
  assert.deepEqual(certificate.keyUsage, ["1.3.6.1.5.5.7.3.1"]); // Node's name for the extended one
  assert.equal(certificate.publicKey.asymmetricKeyDetails?.namedCurve, "prime256v1");
  assert.equal(certificate.ca, false);
  assert.equal(Date.parse(certificate.validFrom), now - 60_000);
  assert.equal(Date.parse(certificate.validTo), Date.parse("2027-05-04T03:02:01Z"));
  assert.ok(certificate.verify(certificate.publicKey));
  assert.ok(certificate.checkPrivateKey(createPrivateKey(own.key)));
});

test("a certificate is valid beyond 2049", () => {
  const certificate = new X509Certificate(selfSigned(Date.parse("2049-12-31T23:59:59Z")).certificate);
  assert.equal(new Date(certificate.validFrom).toISOString(), "2049-12-31T23:58:59.000Z");
  assert.equal(new Date(certificate.validTo).toISOString(), "2050-12-31T23:59:59.000Z");
});

test("every certificate is another", () => {
  const [one, other] = [selfSigned(), selfSigned()].map((own) => new X509Certificate(own.certificate));
  assert.notEqual(one?.serialNumber, other?.serialNumber);
  assert.notEqual(one?.fingerprint256, other?.fingerprint256);
});
