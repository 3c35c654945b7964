package run.mulligan.plugin;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import mulligan.v1.Plugin.ToolErrorRequest;
import mulligan.v1.Plugin.ToolSafety;

/** Makes a {@link ToolError} for a test: {@link Testing#toolError}. */
public final class ToolErrorBuilder {
    private final ToolErrorRequest.Builder error = ToolErrorRequest.newBuilder();

    ToolErrorBuilder() {
        error.setRun("run-1")
                .setTool("search")
                .setCallId("call-1")
                .setSafety(ToolSafety.TOOL_SAFETY_READ_ONLY)
                .setTries(1)
                .setRemainingTries(1)
                .setFailures(1)
                .setTookMs(1000)
                .setModel("anthropic/claude-sonnet-4-5")
                .setRound(1)
                .setAutoRecover(true);
    }

    /** Makes it. */
    public ToolError build() {
        return new ToolError(error.build(), Optional.empty());
    }

    /** Adds one of the words by which the run can be listed: see {@link ToolError#labels()}. */
    public ToolErrorBuilder label(String name, String value) {
        error.putLabels(name, value);
        return this;
    }

    /** See {@link ToolError#run()}. */
    public ToolErrorBuilder run(String run) {
        error.setRun(run);
        return this;
    }

    /** See {@link ToolError#session()}. */
    public ToolErrorBuilder session(String session) {
        error.setSession(session);
        return this;
    }

    /** See {@link ToolError#sessionKey()}. */
    public ToolErrorBuilder sessionKey(String sessionKey) {
        error.setSessionKey(sessionKey);
        return this;
    }

    /** See {@link ToolError#agentId()}. */
    public ToolErrorBuilder agentId(String agentId) {
        error.setAgentId(agentId);
        return this;
    }

    /** See {@link ToolError#tool()}. */
    public ToolErrorBuilder tool(String tool) {
        error.setTool(tool);
        return this;
    }

    /** See {@link ToolError#callId()}. */
    public ToolErrorBuilder callId(String callId) {
        error.setCallId(callId);
        return this;
    }

    /** See {@link ToolError#tries()}. */
    public ToolErrorBuilder tries(int tries) {
        error.setTries(tries);
        return this;
    }

    /** See {@link ToolError#remainingTries()}. */
    public ToolErrorBuilder remainingTries(int remainingTries) {
        error.setRemainingTries(remainingTries);
        return this;
    }

    /** See {@link ToolError#failures()}. */
    public ToolErrorBuilder failures(int failures) {
        error.setFailures(failures);
        return this;
    }

    /** See {@link ToolError#timedOut()}. */
    public ToolErrorBuilder timedOut(boolean timedOut) {
        error.setTimedOut(timedOut);
        return this;
    }

    /** See {@link ToolError#model()}. */
    public ToolErrorBuilder model(String model) {
        error.setModel(model);
        return this;
    }

    /** See {@link ToolError#round()}. */
    public ToolErrorBuilder round(int round) {
        error.setRound(round);
        return this;
    }

    /** See {@link ToolError#autoRecover()}. */
    public ToolErrorBuilder autoRecover(boolean autoRecover) {
        error.setAutoRecover(autoRecover);
        return this;
    }

    /** See {@link ToolError#dryRun()}. */
    public ToolErrorBuilder dryRun(boolean dryRun) {
        error.setDryRun(dryRun);
        return this;
    }

    /** See {@link ToolError#safety()}. */
    public ToolErrorBuilder safety(String safety) {
        error.setSafety(ToolSafety.valueOf("TOOL_SAFETY_" + safety.toUpperCase(Locale.ROOT)));
        return this;
    }

    /** See {@link ToolError#took()}. */
    public ToolErrorBuilder took(Duration took) {
        error.setTookMs(took.toMillis());
        return this;
    }

    /** See {@link ToolError#error()}. */
    public ToolErrorBuilder error(String said) {
        error.setError(said);
        return this;
    }

    /** See {@link ToolError#spentTokens()}. */
    public ToolErrorBuilder spentTokens(long spent) {
        error.getSpentBuilder().setTokens(spent);
        return this;
    }

    /** See {@link ToolError#spentMicrodollars()}. */
    public ToolErrorBuilder spentMicrodollars(long spent) {
        error.getSpentBuilder().setMicrodollars(spent);
        return this;
    }

    /** See {@link ToolError#remainingTokens()}. */
    public ToolErrorBuilder remainingTokens(long left) {
        error.getRemainingBuilder().setTokens(left);
        return this;
    }

    /** See {@link ToolError#remainingMicrodollars()}. */
    public ToolErrorBuilder remainingMicrodollars(long left) {
        error.getRemainingBuilder().setMicrodollars(left);
        return this;
    }

    /** See {@link ToolError#elapsed()}. */
    public ToolErrorBuilder elapsed(Duration elapsed) {
        error.setElapsedMs(elapsed.toMillis());
        return this;
    }

    /** See {@link ToolError#remainingTime()}. */
    public ToolErrorBuilder remainingTime(Duration left) {
        error.setRemainingMs(left.toMillis());
        return this;
    }

    /** See {@link ToolError#time()}. */
    public ToolErrorBuilder time(Instant at) {
        error.setTime(Wire.timestamp(at));
        return this;
    }

    /** See {@link ToolError#transcript()}. */
    public ToolErrorBuilder transcript(String json) {
        error.setTranscript(ByteString.copyFromUtf8(json));
        return this;
    }
}
