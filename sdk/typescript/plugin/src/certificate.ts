import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** A certificate and its key. */
export interface Identity {
  /** PEM */
  readonly key: string;
  /** PEM */
  readonly certificate: string;
  readonly der: Buffer;
}

const minute = 60_000; // ms
const year = 365 * 24 * 60 * minute;

/**
 * Makes a P-256 key and a self-signed certificate of it for localhost. Node has no
 * function for the latter, so it is written in DER, by RFC 5280.
 */
export function selfSigned(now = Date.now()): Identity {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const name = sequence(der(0x31, sequence(oid.commonName, der(0x0c, Buffer.from("localhost")))));
  const toSign = sequence(
    der(0xa0, integer(2)), // version 3
    integer(1, randomBytes(15)), // the serial number, positive
    sequence(oid.ecdsaWithSHA256),
    name, // of the issuer
    sequence(time(now - minute), time(now + year)),
    name, // of the subject
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(
      extension(oid.subjectAltName, sequence(der(0x82, Buffer.from("localhost")))),
      extension(oid.extKeyUsage, sequence(oid.serverAuth)),
    )),
  );
  const signature = der(0x03, Buffer.of(0), sign("sha256", toSign, privateKey));
  const certificate = sequence(toSign, sequence(oid.ecdsaWithSHA256), signature);
  const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return { key, certificate: pem(certificate), der: certificate };
}

const oid = {
  ecdsaWithSHA256: der(0x06, Buffer.from("2a8648ce3d040302", "hex")), // 1.2.840.10045.4.3.2
  commonName: der(0x06, Buffer.from("550403", "hex")), // 2.5.4.3
  subjectAltName: der(0x06, Buffer.from("551d11", "hex")), // 2.5.29.17
  extKeyUsage: der(0x06, Buffer.from("551d25", "hex")), // 2.5.29.37
  serverAuth: der(0x06, Buffer.from("2b06010505070301", "hex")), // 1.3.6.1.5.5.7.3.1
};

/** Encodes one value: tag, length, content. */
function der(tag: number, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.of(tag, ...length(body.length)), body]);
}

/** Encodes a length below 2^16 in as few bytes as it takes. */
function length(n: number): number[] {
  if (n < 0x80) {
    return [n];
  }
  return n < 0x100 ? [0x81, n] : [0x82, n >> 8, n & 0xff];
}

function sequence(...content: readonly Buffer[]): Buffer {
  return der(0x30, ...content);
}

/** Encodes a positive number: a first byte of 1 to 127 and what follows it. */
function integer(first: number, rest: Buffer = Buffer.alloc(0)): Buffer {
  return der(0x02, Buffer.of(first), rest);
}

function extension(id: Buffer, value: Buffer): Buffer {
  return sequence(id, der(0x04, value));
}

/** Encodes a time as UTCTime, which RFC 5280 wants until 2049, and as GeneralizedTime from then on. */
function time(at: number): Buffer {
  const text = new Date(at).toISOString().replace(/[-:T]|\.\d+/g, ""); // YYYYMMDDHHMMSSZ
  return text < "2050" ? der(0x17, Buffer.from(text.slice(2))) : der(0x18, Buffer.from(text));
}

function pem(certificate: Buffer): string {
  const lines = certificate.toString("base64").match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}
