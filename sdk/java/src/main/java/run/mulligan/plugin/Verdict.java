package run.mulligan.plugin;

import java.time.Instant;
import mulligan.v1.Plugin.BeforeCallResponse;

/**
 * What is said of a model call that is about to begin; no opinion is {@code null}. It never changes, and those
 * that say the same are equal. Of several plugins' verdicts the strictest counts.
 */
public final class Verdict {
    private final BeforeCallResponse m;

    private Verdict(BeforeCallResponse.Builder m) {
        this.m = m.build();
    }

    /** Lets the call begin. */
    public static Verdict allow() {
        return new Verdict(of(mulligan.v1.Plugin.Verdict.VERDICT_ALLOW));
    }

    /** Has another model asked, one of {@link ModelCall#alternatives()}; all plugins are asked about that one then. */
    public static Verdict route(String model) {
        return new Verdict(of(mulligan.v1.Plugin.Verdict.VERDICT_ROUTE).setModel(model));
    }

    /** Has the call wait until a time within 7 days; the plugins are asked again then. */
    public static Verdict hold(Instant until) {
        return new Verdict(of(mulligan.v1.Plugin.Verdict.VERDICT_HOLD).setUntil(Wire.timestamp(until)));
    }

    /** Keeps the model from being asked for this call, whoever wants it. */
    public static Verdict refuse() {
        return new Verdict(of(mulligan.v1.Plugin.Verdict.VERDICT_REFUSE));
    }

    /** Gives a reason for people, of which 500 bytes are kept. */
    public Verdict because(String reason) {
        return new Verdict(m.toBuilder().setReason(reason));
    }

    BeforeCallResponse toWire() {
        return m;
    }

    private static BeforeCallResponse.Builder of(mulligan.v1.Plugin.Verdict verdict) {
        return BeforeCallResponse.newBuilder().setVerdict(verdict);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Verdict verdict && m.equals(verdict.m);
    }

    @Override
    public int hashCode() {
        return m.hashCode();
    }

    @Override
    public String toString() {
        return "Verdict {" + m.toString().strip().replace("\n", ", ") + "}";
    }
}
