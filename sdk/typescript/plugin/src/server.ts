import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Server, ServerCredentials } from "@grpc/grpc-js";

import { selfSigned } from "./certificate.js";
import { HealthService } from "./gen/grpc/health/v1/health.js";
import { RecoveryPluginService } from "./gen/mulligan/v1/plugin.js";
import { GRPCControllerService, GRPCStdioService } from "./gen/plugin/goplugin.js";
import { host } from "./host.js";
import { printLine } from "./output.js";
import type { Advise, Options } from "./serve.js";
import { controller, health, recovery, stdio } from "./services.js";

const maxRequest = 64 << 20; // bytes
const maxPath = 100; // bytes

/** Listens, and tells the host where. */
export async function listen(advise: Advise, options: Options): Promise<void> {
  const server = new Server({ "grpc.max_receive_message_length": maxRequest, "grpc.enable_channelz": 0 });
  server.addService(RecoveryPluginService, recovery(advise, options));
  server.addService(HealthService, health);
  server.addService(GRPCControllerService, controller);
  server.addService(GRPCStdioService, stdio);

  const socket = join(host.sockets ?? byHand(), "s");
  if (Buffer.byteLength(socket) > maxPath) {
    throw new Error(`the path of the socket has more than ${maxPath} bytes: ${socket}`);
  }
  const { credentials, certificate } = identity();
  await bind(server, socket, credentials);
  // Version 1 of the service is the only one there is, whatever the host offers.
  printLine(["1", "1", "unix", socket, "grpc", certificate].join("|"));
}

/** Makes a folder for the socket where no host gave one. */
function byHand(): string {
  const folder = mkdtempSync(join(tmpdir(), "plugin-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Makes the server's credentials and its certificate as the handshake line has it. */
function identity(): { credentials: ServerCredentials; certificate: string } {
  if (host.authority === undefined) {
    return { credentials: ServerCredentials.createInsecure(), certificate: "" };
  }
  readable(host.authority);
  const own = selfSigned();
  // The last argument has every client refused that the authority does not vouch for.
  const credentials = ServerCredentials.createSsl(
    Buffer.from(host.authority), [{ private_key: Buffer.from(own.key), cert_chain: Buffer.from(own.certificate) }], true,
  );
  return { credentials, certificate: own.der.toString("base64").replace(/=+$/, "") };
}

/** Throws unless pem is a certificate: Node would serve without one, and refuse everybody. */
function readable(pem: string): void {
  try {
    new X509Certificate(pem);
  } catch (cause) {
    throw new Error("PLUGIN_CLIENT_CERT holds no certificate", { cause });
  }
}

function bind(server: Server, socket: string, credentials: ServerCredentials): Promise<void> {
  return new Promise((resolve, reject) => {
    server.bindAsync(`unix:${socket}`, credentials, (error) => (error ? reject(error) : resolve()));
  });
}
