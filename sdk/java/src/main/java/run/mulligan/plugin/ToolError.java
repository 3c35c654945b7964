package run.mulligan.plugin;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import mulligan.v1.Plugin.ToolErrorRequest;
import mulligan.v1.Plugin.ToolSafety;

/**
 * A tool call that failed, before the model is told. Apart from {@link #error()} and {@link #transcript()}, which
 * take a grant, it holds no prompt, no tool arguments or results, and no secret. {@link Testing#toolError} makes one
 * for tests.
 */
public final class ToolError {
    private final ToolErrorRequest m;
    private final Optional<Instant> deadline;

    ToolError(ToolErrorRequest m, Optional<Instant> deadline) {
        this.m = m;
        this.deadline = deadline;
    }

    /** The run. */
    public String run() {
        return m.getRun();
    }

    /** Its session; may be empty. */
    public String session() {
        return m.getSession();
    }

    /** What the caller itself calls its conversation; may be empty. */
    public String sessionKey() {
        return m.getSessionKey();
    }

    /** What the caller itself calls its agent; may be empty. */
    public String agentId() {
        return m.getAgentId();
    }

    /** The words by which the run can be listed. */
    public Map<String, String> labels() {
        return m.getLabelsMap();
    }

    /** The tool that failed. */
    public String tool() {
        return m.getTool();
    }

    /** The id that the model gave the call. */
    public String callId() {
        return m.getCallId();
    }

    /** Whether the tool may run twice: {@code unsafe}, {@code idempotent} or {@code read_only}; empty = unsafe. */
    public String safety() {
        ToolSafety known = m.getSafety();
        Optional<String> name = known == ToolSafety.UNRECOGNIZED ? Optional.empty() : Optional.of(known.name());
        return Wire.name("TOOL_SAFETY_", m.getSafetyValue(), name, "");
    }

    /** How often the call was made. */
    public int tries() {
        return m.getTries();
    }

    /** How often it may still be made; 0 = it is never repeated. */
    public int remainingTries() {
        return m.getRemainingTries();
    }

    /** How many calls of this tool have failed in this run, this one included. */
    public int failures() {
        return m.getFailures();
    }

    /** Time was over for it. */
    public boolean timedOut() {
        return m.getTimedOut();
    }

    /** How long it took. */
    public Duration took() {
        return Duration.ofMillis(m.getTookMs());
    }

    /** What the tool said, at most 8 KiB; empty unless the transcript was granted. */
    public String error() {
        return m.getError();
    }

    /** The model that asked for the call, provider/model. */
    public String model() {
        return m.getModel();
    }

    /** Which model call of the run asked for it, from 1. */
    public int round() {
        return m.getRound();
    }

    /** Whether the run recovers by itself; if not, a person is asked in the place of a retry. */
    public boolean autoRecover() {
        return m.getAutoRecover();
    }

    /** Tokens that the run has used so far. */
    public long spentTokens() {
        return m.getSpent().getTokens();
    }

    /** Millionths of a dollar that the run has used so far. */
    public long spentMicrodollars() {
        return m.getSpent().getMicrodollars();
    }

    /** Tokens that are left: empty = unlimited, -1 = used up. */
    public OptionalLong remainingTokens() {
        return Wire.remaining(m.getRemaining().getTokens());
    }

    /** Millionths of a dollar that are left: empty = unlimited, -1 = used up. */
    public OptionalLong remainingMicrodollars() {
        return Wire.remaining(m.getRemaining().getMicrodollars());
    }

    /** Since the run began, deliberate long waits left out. */
    public Duration elapsed() {
        return Duration.ofMillis(m.getElapsedMs());
    }

    /** Until the run's time is over: empty = unlimited, negative = used up. */
    public Optional<Duration> remainingTime() {
        return Wire.positive(m.getRemainingMs());
    }

    /** When it failed; empty if the host did not say. */
    public Optional<Instant> time() {
        return Wire.time(m.hasTime(), m.getTime());
    }

    /** Nothing comes of the answer: do nothing that can be felt outside. */
    public boolean dryRun() {
        return m.getDryRun();
    }

    /** As in {@link Event#transcript()}. */
    public Optional<String> transcript() {
        return m.getTranscript().isEmpty() ? Optional.empty() : Optional.of(m.getTranscript().toStringUtf8());
    }

    /** When the host stops waiting for the answer: the thread is interrupted then. Empty: it waits for ever. */
    public Optional<Instant> deadline() {
        return deadline;
    }

    @Override
    public String toString() {
        return "ToolError of run " + run() + ": " + tool() + " failed";
    }
}
