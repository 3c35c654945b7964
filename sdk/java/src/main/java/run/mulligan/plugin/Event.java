package run.mulligan.plugin;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import mulligan.v1.Plugin.ReplaySafety;
import mulligan.v1.Plugin.RunErrorRequest;

/**
 * A failure and what a decision may depend on. Apart from the {@link #transcript()}, which takes a grant, it
 * holds no prompt, no tool arguments or results, and no secret. Texts that are not set are empty.
 * {@link Testing#event} makes one for tests.
 */
public final class Event {
    private final RunErrorRequest m;
    private final Optional<Instant> deadline;

    Event(RunErrorRequest m, Optional<Instant> deadline) {
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

    /** All that is known about what went wrong. */
    public Failure failure() {
        return new Failure(m.getFailure());
    }

    /** What went wrong: {@link Failure#kind()}. */
    public Kind kind() {
        return failure().kind();
    }

    /** The configured entry that failed, for example {@code anthropic}: {@link Failure#provider()}. */
    public String provider() {
        return failure().provider();
    }

    /** Whether the same input may succeed later: {@link Failure#retryable()}. */
    public boolean retryable() {
        return failure().retryable();
    }

    /** How long the provider demands to wait; empty if it demands nothing: {@link Failure#retryAfter()}. */
    public Optional<Duration> retryAfter() {
        return failure().retryAfter();
    }

    /** The model that failed, provider/model. */
    public String model() {
        return m.getModel();
    }

    /** The number of the attempt within one model call, from 0. */
    public int attempt() {
        return m.getAttempt();
    }

    /** The retries of this model call so far. */
    public int retries() {
        return m.getRetries();
    }

    /** The retries that the policy allows for one model call. */
    public int maxRetries() {
        return m.getMaxRetries();
    }

    /** Whether the decision is acted on; if not, it is offered to a person. */
    public boolean autoRecover() {
        return m.getAutoRecover();
    }

    /** Since the run began, deliberate long waits left out. */
    public Duration elapsed() {
        return Duration.ofMillis(m.getElapsedMs());
    }

    /** Attempts of this model call that are left, under the limit that no policy lifts. */
    public int remainingAttempts() {
        return m.getRemainingAttempts();
    }

    /** Until the run's time is over: empty = unlimited, negative = used up. */
    public Optional<Duration> remainingTime() {
        return Wire.positive(m.getRemainingMs());
    }

    /** Tokens that are left: empty = unlimited, -1 = used up. */
    public OptionalLong remainingTokens() {
        return Wire.remaining(m.getRemaining().getTokens());
    }

    /** Millionths of a dollar that are left: empty = unlimited, -1 = used up. */
    public OptionalLong remainingMicrodollars() {
        return Wire.remaining(m.getRemaining().getMicrodollars());
    }

    /** What {@link Decision#switchTo} may name, in order of preference. */
    public List<String> alternatives() {
        return models().stream().map(Alternative::model).toList();
    }

    /** The alternatives with what is known about them. */
    public List<Alternative> models() {
        return m.getAlternativesList().stream().map(Alternative::from).toList();
    }

    /** The failed attempts of this model call. */
    public List<Tried> tried() {
        return m.getTriedList().stream().map(Tried::from).toList();
    }

    /** Whether the attempt may be repeated: {@code safe}, {@code unsafe} or {@code unknown}; empty = unknown. */
    public String replaySafety() {
        ReplaySafety known = m.getReplaySafety();
        Optional<String> name = known == ReplaySafety.UNRECOGNIZED ? Optional.empty() : Optional.of(known.name());
        return Wire.name("REPLAY_SAFETY_", m.getReplaySafetyValue(), name, "");
    }

    /** The tools that make it unsafe. */
    public List<String> unsafeTools() {
        return List.copyOf(m.getUnsafeToolsList());
    }

    /** Whether people saw text of the failed attempt. */
    public boolean partialShown() {
        return m.getPartialShown();
    }

    /** Too many idle expiries in a row: nothing is retried by itself. */
    public boolean idleBreaker() {
        return m.getIdleBreaker();
    }

    /** Idle expiries in a row without a finished step. */
    public int idleExpiries() {
        return m.getIdleExpiries();
    }

    /** The words by which the run can be listed. */
    public Map<String, String> labels() {
        return m.getLabelsMap();
    }

    /** Tokens that the run has used so far. */
    public long spentTokens() {
        return m.getSpent().getTokens();
    }

    /** Millionths of a dollar that the run has used so far. */
    public long spentMicrodollars() {
        return m.getSpent().getMicrodollars();
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

    /** The model that failed, with what is known about it. */
    public Alternative about() {
        return Alternative.from(m.getAbout());
    }

    /** Models that could be asked, and are no alternatives because they cool down. */
    public List<Alternative> cooling() {
        return m.getCoolingList().stream().map(Alternative::from).toList();
    }

    /**
     * What failed in the run so far, this failure included: the kind of each attempt, as in
     * {@link Failure#kindName()}, in order, the newest 64.
     */
    public List<String> failedKinds() {
        return List.copyOf(m.getFailedKindsList());
    }

    /** How the last calls of the model's entry ended, of all runs of the host, the newest last; at most 20. */
    public List<RecentCall> recentCalls() {
        return m.getRecentCallsList().stream().map(RecentCall::from).toList();
    }

    /** When the attempt failed, by which rules go that go by the hour; empty if the host did not say. */
    public Optional<Instant> time() {
        return Wire.time(m.hasTime(), m.getTime());
    }

    /**
     * Nothing comes of the answer, since a failure is replayed or the plugin is tested: do nothing that can be
     * felt outside.
     */
    public boolean dryRun() {
        return m.getDryRun();
    }

    /**
     * The kind of the plugin's own button that a person has pressed: what is answered now is done. Empty: it is
     * asked about the failure itself.
     */
    public String pressed() {
        return m.getPressed();
    }

    /** What the caller itself calls its conversation; may be empty. */
    public String sessionKey() {
        return m.getSessionKey();
    }

    /** What the caller itself calls its agent; may be empty. */
    public String agentId() {
        return m.getAgentId();
    }

    /** The attempt was ended from our side: a timer fired, its process died, or a person did not wait for it. */
    public boolean aborted() {
        return m.getAborted();
    }

    /** Time was over: that of one of our timers, or what the provider itself had. */
    public boolean timedOut() {
        return m.getTimedOut();
    }

    /** Why the prompt could not become a request; empty if it could. */
    public String promptError() {
        return m.getPromptError();
    }

    /**
     * What was said in the run so far, as JSON: a list of the newest messages, at most 1 MiB, each with
     * {@code role} ({@code user}, {@code assistant} or {@code tool}), {@code parts} and {@code model}. A part is
     * one of {@code text}, {@code thinking}, {@code call}, {@code result} and {@code image}. Empty without the
     * grant, for which {@code mulligan-plugin.yaml} asks with {@code transcript: messages}.
     */
    public Optional<String> transcript() {
        return m.getTranscript().isEmpty() ? Optional.empty() : Optional.of(m.getTranscript().toStringUtf8());
    }

    /** When the host stops waiting for the answer: the thread is interrupted then. Empty: it waits for ever. */
    public Optional<Instant> deadline() {
        return deadline;
    }

    @Override
    public String toString() {
        return "Event of run " + run() + ", attempt " + attempt() + ": " + failure();
    }
}
