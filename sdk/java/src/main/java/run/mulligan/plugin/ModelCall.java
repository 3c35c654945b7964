package run.mulligan.plugin;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import mulligan.v1.Plugin.BeforeCallRequest;

/**
 * A model call that is about to begin. Apart from the {@link #transcript()}, which takes a grant, it holds no
 * prompt, no tool arguments or results, and no secret. {@link Testing#modelCall} makes one for tests.
 */
public final class ModelCall {
    private final BeforeCallRequest m;
    private final Optional<Instant> deadline;

    ModelCall(BeforeCallRequest m, Optional<Instant> deadline) {
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

    /** The model that is about to be asked, provider/model. */
    public String model() {
        return m.getModel().getModel();
    }

    /** The model with what is known about it. */
    public Alternative about() {
        return Alternative.from(m.getModel());
    }

    /** What {@link Verdict#route} may name, in order of preference. */
    public List<String> alternatives() {
        return models().stream().map(Alternative::model).toList();
    }

    /** The alternatives with what is known about them. */
    public List<Alternative> models() {
        return m.getAlternativesList().stream().map(Alternative::from).toList();
    }

    /** Which model call of the run it is, from 1: several attempts may be of one. */
    public int round() {
        return m.getRound();
    }

    /** The number of the attempt within this model call, from 0. */
    public int attempt() {
        return m.getAttempt();
    }

    /** The failed attempts of this model call. */
    public List<Tried> tried() {
        return m.getTriedList().stream().map(Tried::from).toList();
    }

    /** The call only sums up old turns of a conversation that has become too long. */
    public boolean summary() {
        return m.getSummary();
    }

    /** What is sent, in tokens, about. */
    public long inputTokens() {
        return m.getInputTokens();
    }

    /** The names of the tools that the model may use. */
    public List<String> tools() {
        return List.copyOf(m.getToolsList());
    }

    /** Whether there are pictures in the conversation. */
    public boolean images() {
        return m.getImages();
    }

    /** Whether the answer has to keep to a JSON schema. */
    public boolean schema() {
        return m.getSchema();
    }

    /** What failed in the run so far: the kind of each attempt, in order, the newest 64. */
    public List<String> failedKinds() {
        return List.copyOf(m.getFailedKindsList());
    }

    /** How the last calls of the model's entry ended, of all runs of the host, the newest last; at most 20. */
    public List<RecentCall> recentCalls() {
        return m.getRecentCallsList().stream().map(RecentCall::from).toList();
    }

    /** How often this call was held already. */
    public int holds() {
        return m.getHolds();
    }

    /** Whether the run recovers by itself. */
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

    /** When the call is about to begin, by which rules go that go by the hour; empty if the host did not say. */
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

    /** When the host stops waiting, 500 ms at most: the thread is interrupted then. Empty: it waits for ever. */
    public Optional<Instant> deadline() {
        return deadline;
    }

    @Override
    public String toString() {
        return "ModelCall of run " + run() + ", round " + round() + ", to " + model();
    }
}
