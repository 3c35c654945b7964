/**
 * A recovery plugin for Mulligan in plain Java, without an SDK: the protocol is that of
 * docs/plugin-protocol.md.
 *
 * <p>{@link run.mulligan.businesshours.BusinessHours} decides, by its
 * {@link run.mulligan.businesshours.Settings}. The rest is what any plugin needs:
 * {@link run.mulligan.businesshours.Main} is the start and the end,
 * {@link run.mulligan.businesshours.PluginServer} the socket, TLS and the services,
 * {@link run.mulligan.businesshours.Identity} the certificate,
 * {@link run.mulligan.businesshours.Rehearsal} what makes the first call quick and
 * {@link run.mulligan.businesshours.LifeLine} what tells that the host is gone.
 */
package run.mulligan.businesshours;
