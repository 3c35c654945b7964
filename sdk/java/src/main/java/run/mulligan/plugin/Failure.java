package run.mulligan.plugin;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import mulligan.v1.FailureOuterClass;

/** All that is known about what went wrong. It never holds a secret. Texts that are not set are empty. */
public final class Failure {
    private final FailureOuterClass.Failure m;

    Failure(FailureOuterClass.Failure m) {
        this.m = m;
    }

    /** What went wrong; {@link Kind#OTHER} stands for a kind that this version does not know. */
    public Kind kind() {
        return Kind.of(kindName());
    }

    /** The kind as its name on the wire, such as {@code rate_limit}; newer hosts may send new ones. */
    public String kindName() {
        FailureOuterClass.Kind known = m.getKind();
        return name("KIND_", m.getKindValue(), known == FailureOuterClass.Kind.UNRECOGNIZED, known, m.getKindName());
    }

    /** The stable upper-case name, for example {@code MODEL_PROVIDER_TIMEOUT}; several kinds share one. */
    public String code() {
        return m.getCode();
    }

    /** A finer word for people, for example {@code missing} or {@code stalled}; may be empty. */
    public String variant() {
        return m.getVariant();
    }

    /** Whose failure it is: {@code model}, {@code tool}, {@code prompt}, {@code hook} or {@code runner}. */
    public String origin() {
        var known = m.getOrigin();
        return name(
                "ORIGIN_",
                m.getOriginValue(),
                known == FailureOuterClass.Origin.UNRECOGNIZED,
                known,
                m.getOriginName());
    }

    /**
     * How far the attempt had come: {@code prompt}, {@code before_connect}, {@code before_first_event},
     * {@code mid_stream}, {@code end_of_stream} or {@code tool}.
     */
    public String phase() {
        var known = m.getPhase();
        return name(
                "PHASE_", m.getPhaseValue(), known == FailureOuterClass.Phase.UNRECOGNIZED, known, m.getPhaseName());
    }

    /** Whether the same input may succeed later. */
    public boolean retryable() {
        return m.getRetryable();
    }

    /** The configured entry, for example {@code anthropic}. */
    public String provider() {
        return m.getProvider();
    }

    /** The model's full name, provider/model. */
    public String model() {
        return m.getModel();
    }

    /** The HTTP status; 0 if there was none. */
    public int httpStatus() {
        return m.getHttpStatus();
    }

    /** The code in the provider's body. */
    public String providerCode() {
        return m.getProviderCode();
    }

    /** The provider's id of the request. */
    public String requestId() {
        return m.getRequestId();
    }

    /** The tool, where one failed. */
    public String tool() {
        return m.getTool();
    }

    /** How long the provider demands to wait; empty if it demands nothing. */
    public Optional<Duration> retryAfter() {
        return Wire.positive(m.getRetryAfterMs());
    }

    /** When the quota starts anew; empty if that is not known. */
    public Optional<Instant> resetsAt() {
        return Wire.time(m.hasResetsAt(), m.getResetsAt());
    }

    /** The clock that fired, for example {@code idle}; empty if none did. */
    public String timer() {
        var known = m.getTimer();
        return name(
                "TIMER_", m.getTimerValue(), known == FailureOuterClass.Timer.UNRECOGNIZED, known, m.getTimerName());
    }

    /** What that clock was set to; empty if none fired. */
    public Optional<Duration> limit() {
        return Wire.positive(m.getLimitMs());
    }

    /** How long the attempt, step or run had taken. */
    public Duration elapsed() {
        return Duration.ofMillis(m.getElapsedMs());
    }

    /** What finished last: a tool's name, {@code answer}, or nothing. */
    public String lastStep() {
        return m.getLastStep();
    }

    /** How long the last step took, or has been going on. */
    public Duration lastStepElapsed() {
        return Duration.ofMillis(m.getLastStepElapsedMs());
    }

    /** For people: the headline. */
    public String title() {
        return m.getTitle();
    }

    /** For people: what follows the headline; never repeats it. */
    public String message() {
        return m.getMessage();
    }

    /** The provider's own words: at most 8 KiB, secrets removed. */
    public String detail() {
        return m.getDetail();
    }

    @Override
    public String toString() {
        return "Failure " + kindName() + " of " + model() + (title().isEmpty() ? "" : ": " + title());
    }

    private static String name(String prefix, int number, boolean isUnknown, Enum<?> known, String companion) {
        return Wire.name(prefix, number, isUnknown ? Optional.empty() : Optional.of(known.name()), companion);
    }
}
