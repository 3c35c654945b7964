/** What a host tells a plugin through its environment, by docs/plugin-protocol.md. */
export const host = {
  /** Whether a host started this process, and not a person. */
  isThere: process.env["MULLIGAN_PLUGIN"] === "4b3f6c1e-run-error",
  /** The folder for the socket; undefined by hand. */
  sockets: process.env["PLUGIN_UNIX_SOCKET_DIR"] || undefined,
  /** The authority of the host's client certificate, PEM; undefined by hand, without TLS. */
  authority: process.env["PLUGIN_CLIENT_CERT"] || undefined,
  /** The plugin's own folder; undefined where the host keeps nothing. */
  state: process.env["MULLIGAN_PLUGIN_STATE"] || undefined,
  /** The socket on which the host keeps values for the plugin; undefined where it keeps none. */
  values: process.env["MULLIGAN_PLUGIN_VALUES"] || undefined,
} as const;
