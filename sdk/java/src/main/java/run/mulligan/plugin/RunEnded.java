package run.mulligan.plugin;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import mulligan.v1.Plugin.RunEndedRequest;

/**
 * How a run ended, and what it took. It holds no secret, no prompt and no answer. {@link Testing#runEnded}
 * makes one for tests.
 */
public final class RunEnded {
    private final RunEndedRequest m;

    RunEnded(RunEndedRequest m) {
        this.m = m;
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

    /** {@code completed}, {@code failed} or {@code cancelled}. */
    public String status() {
        return m.getStatus();
    }

    /**
     * {@code completed}, {@code failed}, {@code cancelled}, {@code timeout}, {@code step_timeout},
     * {@code max_turn_time} or {@code interrupted}.
     */
    public String stopReason() {
        return m.getStopReason();
    }

    /** The model that was asked for, provider/model. */
    public String chosenModel() {
        return m.getChosenModel();
    }

    /** The one that was asked last. */
    public String model() {
        return m.getModel();
    }

    /** The run was completed although attempts had failed. */
    public boolean recovered() {
        return m.getRecovered();
    }

    /** Attempts of model calls that were begun. */
    public int attempts() {
        return m.getAttempts();
    }

    /** Of them, those that failed. */
    public int failedAttempts() {
        return m.getFailedAttempts();
    }

    /** How often another model was asked after a failure. */
    public int switches() {
        return m.getSwitches();
    }

    /** What had failed, as in {@link Failure#kindName()}, each kind once, in order; at most 16. */
    public List<String> kinds() {
        return List.copyOf(m.getKindsList());
    }

    /** From the first failure of a model call to its answer, of all calls that were answered after all. */
    public Duration recoveryTime() {
        return Duration.ofMillis(m.getRecoveryMs());
    }

    /** Tokens that attempts that failed have used, as far as their providers said. */
    public long wastedTokens() {
        return m.getWasted().getTokens();
    }

    /** Millionths of a dollar that they have cost. */
    public long wastedMicrodollars() {
        return m.getWasted().getMicrodollars();
    }

    /** All tokens that the run has used. */
    public long spentTokens() {
        return m.getSpent().getTokens();
    }

    /** Millionths of a dollar that it has cost. */
    public long spentMicrodollars() {
        return m.getSpent().getMicrodollars();
    }

    /** From its begin to its end. */
    public Duration elapsed() {
        return Duration.ofMillis(m.getElapsedMs());
    }

    /** When it ended; empty if the host did not say. */
    public Optional<Instant> time() {
        return Wire.time(m.hasTime(), m.getTime());
    }

    /** The failure at which it ended; empty if it did not end at one. */
    public Optional<Failure> failure() {
        return m.hasFailure() ? Optional.of(new Failure(m.getFailure())) : Optional.empty();
    }

    /** The plugin is tested: do nothing that can be felt outside. */
    public boolean dryRun() {
        return m.getDryRun();
    }

    @Override
    public String toString() {
        return "RunEnded of run " + run() + ": " + status();
    }
}
