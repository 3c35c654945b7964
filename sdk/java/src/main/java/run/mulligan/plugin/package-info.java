/**
 * A recovery plugin for Mulligan is one function. It gets a failure of a model call and gives advice:
 *
 * <pre>{@code
 * Plugin.serve(event -> event.retryable() ? Decision.retry() : null);
 * }</pre>
 *
 * <p>{@link run.mulligan.plugin.Plugin} is what is served, {@link run.mulligan.plugin.Event} what a function gets,
 * {@link run.mulligan.plugin.Decision} what it gives, and {@link run.mulligan.plugin.Testing} makes events for
 * tests. Before calls they are {@link run.mulligan.plugin.ModelCall} and {@link run.mulligan.plugin.Verdict}, and
 * after a run {@link run.mulligan.plugin.RunEnded}. {@link run.mulligan.plugin.Log} writes to the host's log.
 *
 * <p>Standard output belongs to the protocol from the moment that Plugin is first named: what is printed then goes
 * to standard error. Standard input, and the signal SIGINT, are the protocol's too. The process ends with its host.
 */
package run.mulligan.plugin;
