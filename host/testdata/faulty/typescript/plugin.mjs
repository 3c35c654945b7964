// A plugin that misbehaves as FAULT says; ../README.md lists how. SDK is the compiled SDK.
import { spawn } from "node:child_process";
import { writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";

const fault = process.env.FAULT ?? "";
const forever = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); // the event loop too

function leaveTrace(pid) {
  if (process.env.TRACE) writeFileSync(join(process.env.TRACE, String(pid)), "");
}

leaveTrace(process.pid);
const lines = {
  garbage: "Welcome to my plugin!",
  version: `1|99|unix|${process.env.PLUGIN_UNIX_SOCKET_DIR}/s|grpc|${"A".repeat(60)}`,
};
if (lines[fault]) writeSync(1, lines[fault] + "\n");
if (lines[fault] || fault === "silent") forever();

const { retry, serve } = await import(process.env.SDK);

const stop = () => { process.kill(process.pid, "SIGSTOP"); forever(); };

async function advise() {
  switch (fault) {
    case "crash":
      process.abort();
    case "exit":
      writeSync(2, "last words\n");
      process.exit(3);
    case "hang":
      await new Promise(() => {});
    case "stop":
      stop();
    case "deaf":
      setTimeout(stop, 50);
      break;
    case "slow":
      await new Promise((done) => setTimeout(done, 200));
      break;
    case "print":
      console.log("x".repeat(1 << 20));
      break;
    case "grandchild":
      leaveTrace(spawn("sleep", ["300"], { stdio: "inherit" }).pid);
      process.kill(process.pid, "SIGKILL");
      forever();
    case "nonsense":
      return { action: "dance" };
  }
  return retry({ after: 1 });
}

serve(advise, { name: "faulty", version: "1.2.3" });
