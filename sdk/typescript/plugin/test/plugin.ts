import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import { credentials, Metadata, type ServiceError } from "@grpc/grpc-js";

import { Failure } from "../src/gen/mulligan/v1/failure.js";
import { RecoveryPluginClient, RunErrorRequest, type RunErrorResponse } from "../src/gen/mulligan/v1/plugin.js";

/** A program beside this one that was started as a host would start it, without TLS. */
export class Plugin {
  stderr = "";
  private constructor(
    private readonly process: ChildProcess,
    private readonly client: RecoveryPluginClient,
    private readonly folder: string,
  ) {
    process.stderr!.setEncoding("utf8").on("data", (said: string) => (this.stderr += said));
  }

  static async start(program: string): Promise<Plugin> {
    const folder = mkdtempSync(join(tmpdir(), "p-"));
    const env = { MULLIGAN_PLUGIN: "4b3f6c1e-run-error", PLUGIN_UNIX_SOCKET_DIR: folder };
    const process = spawn(globalThis.process.execPath, [path(program)], { env });
    for await (const line of createInterface(process.stdout)) {
      const socket = /^1\|1\|unix\|([^|]*)\|grpc\|$/.exec(line)?.[1];
      if (socket !== `${folder}/s`) {
        throw new Error(`the handshake line is ${JSON.stringify(line)}`);
      }
      return new Plugin(process, new RecoveryPluginClient(`unix:${socket}`, credentials.createInsecure()), folder);
    }
    throw new Error(`no handshake line: ${await text(process.stderr)}`);
  }

  /** Asks about a failure with this detail; rejects with a ServiceError. */
  ask(detail: string, run = "r", deadline = 5000): Promise<RunErrorResponse> {
    const request = RunErrorRequest.decode(new Uint8Array());
    request.run = run;
    request.failure = { ...Failure.decode(new Uint8Array()), detail };
    return new Promise((resolve, reject) => {
      const options = { deadline: Date.now() + deadline };
      this.client.runError(request, new Metadata(), options, (error, reply) => (error ? reject(error) : resolve(reply)));
    });
  }

  configure(config: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.client.configure({ config: Buffer.from(config) }, (error: ServiceError | null) => (error ? reject(error) : resolve()));
    });
  }

  /** Waits until standard error says something. */
  async says(what: string): Promise<void> {
    while (!this.stderr.includes(what)) {
      await new Promise((resolve) => this.process.stderr!.once("data", resolve));
    }
  }

  /** Ends the life line, and gives the exit status. */
  async end(): Promise<number | null> {
    this.client.close();
    const status = new Promise<number | null>((resolve) => this.process.once("close", resolve));
    this.process.stdin!.end();
    try {
      return await status;
    } finally {
      rmSync(this.folder, { recursive: true });
    }
  }
}

/** Runs a program as a person would. */
export async function byHand(program: string): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const process = spawn(globalThis.process.execPath, [path(program)], { env: {}, stdio: ["ignore", "pipe", "pipe"] });
  const status = new Promise<number | null>((resolve) => process.once("close", resolve));
  const [stdout, stderr] = await Promise.all([text(process.stdout), text(process.stderr)]);
  return { status: await status, stdout, stderr };
}

function path(program: string): string {
  return fileURLToPath(new URL(program, import.meta.url));
}
