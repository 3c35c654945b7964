package run.mulligan.plugin;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import mulligan.v1.Plugin.RunEndedRequest;

/** Makes a {@link RunEnded} for a test: {@link Testing#runEnded}. */
public final class RunEndedBuilder {
    private final RunEndedRequest.Builder end = RunEndedRequest.newBuilder();

    RunEndedBuilder() {
        end.setRun("run-1")
                .setStatus("completed")
                .setStopReason("completed")
                .setChosenModel("anthropic/claude-sonnet-4-5")
                .setModel("anthropic/claude-sonnet-4-5")
                .setAttempts(1);
    }

    /** Makes it. */
    public RunEnded build() {
        return new RunEnded(end.build());
    }

    /** Adds one of the words by which the run can be listed: see {@link RunEnded#labels()}. */
    public RunEndedBuilder label(String name, String value) {
        end.putLabels(name, value);
        return this;
    }

    /** Takes the failure of an event, at which the run ended: see {@link RunEnded#failure()}. */
    public RunEndedBuilder failure(EventBuilder event) {
        end.setFailure(event.failure);
        return this;
    }

    /** See {@link RunEnded#run()}. */
    public RunEndedBuilder run(String run) {
        end.setRun(run);
        return this;
    }

    /** See {@link RunEnded#session()}. */
    public RunEndedBuilder session(String session) {
        end.setSession(session);
        return this;
    }

    /** See {@link RunEnded#sessionKey()}. */
    public RunEndedBuilder sessionKey(String sessionKey) {
        end.setSessionKey(sessionKey);
        return this;
    }

    /** See {@link RunEnded#agentId()}. */
    public RunEndedBuilder agentId(String agentId) {
        end.setAgentId(agentId);
        return this;
    }

    /** See {@link RunEnded#status()}. */
    public RunEndedBuilder status(String status) {
        end.setStatus(status);
        return this;
    }

    /** See {@link RunEnded#stopReason()}. */
    public RunEndedBuilder stopReason(String stopReason) {
        end.setStopReason(stopReason);
        return this;
    }

    /** See {@link RunEnded#chosenModel()}. */
    public RunEndedBuilder chosenModel(String chosenModel) {
        end.setChosenModel(chosenModel);
        return this;
    }

    /** See {@link RunEnded#model()}. */
    public RunEndedBuilder model(String model) {
        end.setModel(model);
        return this;
    }

    /** See {@link RunEnded#recovered()}. */
    public RunEndedBuilder recovered(boolean recovered) {
        end.setRecovered(recovered);
        return this;
    }

    /** See {@link RunEnded#attempts()}. */
    public RunEndedBuilder attempts(int attempts) {
        end.setAttempts(attempts);
        return this;
    }

    /** See {@link RunEnded#failedAttempts()}. */
    public RunEndedBuilder failedAttempts(int failedAttempts) {
        end.setFailedAttempts(failedAttempts);
        return this;
    }

    /** See {@link RunEnded#switches()}. */
    public RunEndedBuilder switches(int switches) {
        end.setSwitches(switches);
        return this;
    }

    /** See {@link RunEnded#dryRun()}. */
    public RunEndedBuilder dryRun(boolean dryRun) {
        end.setDryRun(dryRun);
        return this;
    }

    /** See {@link RunEnded#kinds()}. */
    public RunEndedBuilder kinds(String... names) {
        end.clearKinds().addAllKinds(List.of(names));
        return this;
    }

    /** See {@link RunEnded#recoveryTime()}. */
    public RunEndedBuilder recoveryTime(Duration time) {
        end.setRecoveryMs(time.toMillis());
        return this;
    }

    /** See {@link RunEnded#wastedTokens()}. */
    public RunEndedBuilder wastedTokens(long tokens) {
        end.getWastedBuilder().setTokens(tokens);
        return this;
    }

    /** See {@link RunEnded#wastedMicrodollars()}. */
    public RunEndedBuilder wastedMicrodollars(long microdollars) {
        end.getWastedBuilder().setMicrodollars(microdollars);
        return this;
    }

    /** See {@link RunEnded#spentTokens()}. */
    public RunEndedBuilder spentTokens(long tokens) {
        end.getSpentBuilder().setTokens(tokens);
        return this;
    }

    /** See {@link RunEnded#spentMicrodollars()}. */
    public RunEndedBuilder spentMicrodollars(long microdollars) {
        end.getSpentBuilder().setMicrodollars(microdollars);
        return this;
    }

    /** See {@link RunEnded#elapsed()}. */
    public RunEndedBuilder elapsed(Duration elapsed) {
        end.setElapsedMs(elapsed.toMillis());
        return this;
    }

    /** See {@link RunEnded#time()}. */
    public RunEndedBuilder time(Instant at) {
        end.setTime(Wire.timestamp(at));
        return this;
    }
}
