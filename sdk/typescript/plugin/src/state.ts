import { host } from "./host.js";

/**
 * The plugin's own folder, of mode 0700. Restarts, reloads and pinning keep what is in it; other
 * processes of the same plugin on this machine have the same one. In a dry run it is an empty one
 * that is thrown away. Undefined means that the host keeps nothing, or that there is none, as in a test.
 */
export function stateDir(): string | undefined {
  return host.state;
}
