package run.mulligan.plugin;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import mulligan.v1.Decision.Action;
import mulligan.v1.Decision.Adjust;
import mulligan.v1.Decision.Restrict;
import mulligan.v1.Plugin.RunErrorResponse;

/**
 * Advice about a failure; no opinion is {@code null}. It never changes: each method gives another one, and those
 * that say the same are equal. A decision that the host finds invalid counts as no opinion, and is recorded.
 *
 * <pre>{@code
 * Decision.retry().after(Duration.ofSeconds(2)).because("it was busy")
 * }</pre>
 */
public final class Decision {
    private final RunErrorResponse m;

    private Decision(RunErrorResponse m) {
        this.m = m;
    }

    /** Asks the same model again. */
    public static Decision retry() {
        return of(Action.ACTION_RETRY);
    }

    /** Asks another model, one of {@link Event#alternatives()}. */
    public static Decision switchTo(String model) {
        return of(Action.ACTION_SWITCH_MODEL).with(b -> b.setNewModel(model));
    }

    /** Gives up. */
    public static Decision fail() {
        return of(Action.ACTION_FAIL);
    }

    /** Has no opinion, and forbids what {@link #never}, {@link #maxOutputPrice} and {@link #local} say. */
    public static Decision forbid() {
        return of(Action.ACTION_UNSPECIFIED);
    }

    /** Waits first, at most 7 days. It is sent in milliseconds, rounded up. */
    public Decision after(Duration delay) {
        long ms = Wire.milliseconds(delay);
        return with(b -> b.setDelayMs(ms));
    }

    /** Gives a reason for people, of which 500 bytes are kept. */
    public Decision because(String reason) {
        return with(b -> b.setReason(reason));
    }

    /** Adds a button for a person who is asked, at most 8. */
    public Decision button(Button button) {
        return with(b -> b.addActions(button.toWire()));
    }

    /** Shortens the conversation before the next attempt. */
    public Decision compact() {
        return adjust(a -> a.setCompact(true));
    }

    /** Has the next attempt go on from the partial answer of the one that failed; where nothing can, it begins anew. */
    public Decision goOn() {
        return adjust(a -> a.setContinue(true));
    }

    /** Sets the next attempt's output limit, in tokens. */
    public Decision maxOutputTokens(int tokens) {
        return adjust(a -> a.setMaxOutputTokens(tokens));
    }

    /** Sets how much the next attempt reasons. */
    public Decision reasoningEffort(Effort effort) {
        return adjust(a -> a.setReasoningEffort(effort.onWire()));
    }

    /**
     * Forbids models by their full names, or all of an entry, as in {@code openai/*}; at most 64. What is
     * forbidden is not asked any more, whoever advises or chooses it, until the plugin answers about the run again.
     */
    public Decision never(String... names) {
        return restrict(r -> r.addAllNever(List.of(names)));
    }

    /**
     * Forbids models of which a million output tokens cost more, in millionths of a dollar, and those whose price
     * is not known.
     */
    public Decision maxOutputPrice(long microdollars) {
        return restrict(r -> r.setMaxOutputPrice(microdollars));
    }

    /** Forbids models that are not served on this machine. */
    public Decision local() {
        return restrict(r -> r.setLocal(true));
    }

    /** How long it waits first. */
    public Duration delay() {
        return Duration.ofMillis(m.getDelayMs());
    }

    /** What it says to people; may be empty. */
    public String reason() {
        return m.getReason();
    }

    RunErrorResponse toWire() {
        return m;
    }

    private static Decision of(Action action) {
        return new Decision(RunErrorResponse.newBuilder().setAction(action).build());
    }

    private Decision with(Consumer<RunErrorResponse.Builder> change) {
        RunErrorResponse.Builder builder = m.toBuilder();
        change.accept(builder);
        return new Decision(builder.build());
    }

    private Decision adjust(Consumer<Adjust.Builder> change) {
        return with(b -> change.accept(b.getAdjustBuilder()));
    }

    private Decision restrict(Consumer<Restrict.Builder> change) {
        return with(b -> change.accept(b.getRestrictBuilder()));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Decision decision && m.equals(decision.m);
    }

    @Override
    public int hashCode() {
        return m.hashCode();
    }

    @Override
    public String toString() {
        return "Decision {" + m.toString().strip().replace("\n", ", ") + "}";
    }
}
