import type { CallOptions, Metadata, ServiceError } from "@grpc/grpc-js";

import type {
  AddValueResponse, DeleteValueResponse, GetValueResponse, ListValuesResponse, SetValueResponse, ValueServiceClient,
} from "./gen/mulligan/v1/values.js";
import { host } from "./host.js";

/** Why the host did not do what was asked of {@link values}. */
export type ValuesProblem = "none" | "full" | "not_a_number" | "invalid" | "unreachable";

/** What {@link values} throws. */
export class ValuesError extends Error {
  override readonly name = "ValuesError";

  /**
   * `problem` is `none` where the host keeps no values or there is no host, `full` where there is no room, `not_a_number`
   * where there is nothing to add to, `invalid` for a key or value that is none, and `unreachable` where the host's store
   * cannot be reached: a change may have been made or not.
   */
  constructor(readonly problem: ValuesProblem, message: string) {
    super(message);
  }
}

const timeout = 5000; // ms

/**
 * What the host keeps for the plugin: bytes by key, the same for all of its processes that share the host's store, on
 * this machine or on all machines of a fleet.
 *
 * ```ts
 * if ((await values.add("paged")) === 1) await page("the first of today");
 * ```
 *
 * A key has 1 to 200 bytes of UTF-8, a value at most 64 KiB, all of a plugin 64 MiB. Every change is atomic, and durable
 * before it returns. In a dry run they are empty and thrown away. What fails throws a {@link ValuesError}.
 */
export const values = {
  /** Gives a value; undefined = there is none. */
  async get(key: string): Promise<Uint8Array | undefined> {
    return (await values.getWithVersion(key)).value;
  },

  /** Gives a value and its version for `compareAndSet`: undefined and 0 where there is none. */
  async getWithVersion(key: string): Promise<{ value: Uint8Array | undefined; version: bigint }> {
    const { value, version } = await call<GetValueResponse>((client, ...how) => client.getValue({ key }, ...how));
    return { value: version === 0n ? undefined : value, version };
  },

  /** Writes a value, whatever there is; a text is written as UTF-8. */
  async set(key: string, value: Uint8Array | string): Promise<void> {
    await call<SetValueResponse>((client, ...how) => client.setValue({ key, value: Buffer.from(value) }, ...how));
  },

  /** Writes a value only in the place of that version, 0 for none, and says whether it was written. */
  async compareAndSet(key: string, version: bigint | 0, value: Uint8Array | string): Promise<boolean> {
    const expected = BigInt(version);
    return (await call<SetValueResponse>((client, ...how) => client.setValue({ key, value: Buffer.from(value), expected }, ...how))).done;
  },

  /** Adds to a number, which is 0 where there is none, and gives the sum. Exact up to 2^53. */
  async add(key: string, amount = 1): Promise<number> {
    if (!Number.isSafeInteger(amount)) {
      throw new TypeError("amount must be a whole number");
    }
    return Number((await call<AddValueResponse>((client, ...how) => client.addValue({ key, amount: BigInt(amount) }, ...how))).sum);
  },

  /** Removes a value, if there is one. */
  async delete(key: string): Promise<void> {
    await call<DeleteValueResponse>((client, ...how) => client.deleteValue({ key }, ...how));
  },

  /** Lists the keys that begin with prefix, in the order of their bytes. */
  async keys(prefix = ""): Promise<string[]> {
    const found: string[] = [];
    for (;;) {
      const after = found.at(-1) ?? "";
      const page = await call<ListValuesResponse>((client, ...how) => client.listValues({ prefix, after }, ...how));
      found.push(...page.keys);
      if (!page.more || page.keys.length === 0) {
        return found;
      }
    }
  },
};

interface Connection {
  readonly client: ValueServiceClient;
  readonly newMetadata: () => Metadata;
}

let opened: Promise<Connection> | undefined;

/** Makes the one connection of the process, when it is first needed: a test does not load gRPC. */
function open(): Promise<Connection> {
  if (host.values === undefined) {
    throw new ValuesError("none", "the host keeps no values for the plugin (MULLIGAN_PLUGIN_VALUES is not set)");
  }
  const address = `unix:${host.values}`;
  opened ??= Promise.all([import("@grpc/grpc-js"), import("./gen/mulligan/v1/values.js")]).then(([grpc, { ValueServiceClient }]) => ({
    client: new ValueServiceClient(address, grpc.credentials.createInsecure()), newMetadata: () => new grpc.Metadata(),
  }));
  return opened;
}

/** The last arguments of a call. */
type How<A> = [metadata: Metadata, options: Partial<CallOptions>, done: (error: ServiceError | null, answer: A) => void];

/** Has one call answered. */
async function call<A>(ask: (client: ValueServiceClient, ...how: How<A>) => void): Promise<A> {
  const { client, newMetadata } = await open();
  return await new Promise((resolve, reject) => {
    ask(client, newMetadata(), { deadline: Date.now() + timeout }, (error, answer) =>
      error ? reject(new ValuesError(problems.get(error.code) ?? "unreachable", error.details)) : resolve(answer));
  });
}

/** What gRPC's codes mean here. */
const problems = new Map<number, ValuesProblem>([[3, "invalid"], [8, "full"], [9, "not_a_number"]]);
