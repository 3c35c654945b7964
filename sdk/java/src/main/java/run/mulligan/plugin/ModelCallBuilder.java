package run.mulligan.plugin;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import mulligan.v1.Plugin.BeforeCallRequest;

/** Makes a {@link ModelCall} for a test: {@link Testing#modelCall}. */
public final class ModelCallBuilder {
    private final BeforeCallRequest.Builder call = BeforeCallRequest.newBuilder();

    ModelCallBuilder() {
        call.setRun("run-1").setRound(1).setAutoRecover(true);
        model("anthropic/claude-sonnet-4-5");
    }

    /** Makes it. */
    public ModelCall build() {
        return new ModelCall(call.build(), Optional.empty());
    }

    /** Adds one of the words by which the run can be listed: see {@link ModelCall#labels()}. */
    public ModelCallBuilder label(String name, String value) {
        call.putLabels(name, value);
        return this;
    }

    /** See {@link ModelCall#model()}. */
    public ModelCallBuilder model(String model) {
        return about(Alternative.of(model));
    }

    /** See {@link ModelCall#about()}. */
    public ModelCallBuilder about(Alternative model) {
        call.setModel(model.toWire());
        return this;
    }

    /** See {@link ModelCall#run()}. */
    public ModelCallBuilder run(String run) {
        call.setRun(run);
        return this;
    }

    /** See {@link ModelCall#session()}. */
    public ModelCallBuilder session(String session) {
        call.setSession(session);
        return this;
    }

    /** See {@link ModelCall#sessionKey()}. */
    public ModelCallBuilder sessionKey(String sessionKey) {
        call.setSessionKey(sessionKey);
        return this;
    }

    /** See {@link ModelCall#agentId()}. */
    public ModelCallBuilder agentId(String agentId) {
        call.setAgentId(agentId);
        return this;
    }

    /** See {@link ModelCall#round()}. */
    public ModelCallBuilder round(int round) {
        call.setRound(round);
        return this;
    }

    /** See {@link ModelCall#attempt()}. */
    public ModelCallBuilder attempt(int attempt) {
        call.setAttempt(attempt);
        return this;
    }

    /** See {@link ModelCall#summary()}. */
    public ModelCallBuilder summary(boolean summary) {
        call.setSummary(summary);
        return this;
    }

    /** See {@link ModelCall#inputTokens()}. */
    public ModelCallBuilder inputTokens(long inputTokens) {
        call.setInputTokens(inputTokens);
        return this;
    }

    /** See {@link ModelCall#images()}. */
    public ModelCallBuilder images(boolean images) {
        call.setImages(images);
        return this;
    }

    /** See {@link ModelCall#holds()}. */
    public ModelCallBuilder holds(int holds) {
        call.setHolds(holds);
        return this;
    }

    /** See {@link ModelCall#autoRecover()}. */
    public ModelCallBuilder autoRecover(boolean autoRecover) {
        call.setAutoRecover(autoRecover);
        return this;
    }

    /** See {@link ModelCall#dryRun()}. */
    public ModelCallBuilder dryRun(boolean dryRun) {
        call.setDryRun(dryRun);
        return this;
    }

    /** See {@link ModelCall#alternatives()}. */
    public ModelCallBuilder alternatives(String... models) {
        return models(Arrays.stream(models).map(Alternative::of).toArray(Alternative[]::new));
    }

    /** See {@link ModelCall#models()}. */
    public ModelCallBuilder models(Alternative... models) {
        call.clearAlternatives();
        for (Alternative model : models) {
            call.addAlternatives(model.toWire());
        }
        return this;
    }

    /** See {@link ModelCall#tried()}. */
    public ModelCallBuilder tried(Tried... tried) {
        call.clearTried();
        for (Tried attempt : tried) {
            call.addTried(attempt.toWire());
        }
        return this;
    }

    /** See {@link ModelCall#tools()}. */
    public ModelCallBuilder tools(String... tools) {
        call.clearTools().addAllTools(List.of(tools));
        return this;
    }

    /** See {@link ModelCall#spentTokens()}. */
    public ModelCallBuilder spentTokens(long spent) {
        call.getSpentBuilder().setTokens(spent);
        return this;
    }

    /** See {@link ModelCall#spentMicrodollars()}. */
    public ModelCallBuilder spentMicrodollars(long spent) {
        call.getSpentBuilder().setMicrodollars(spent);
        return this;
    }

    /** See {@link ModelCall#remainingTokens()}. */
    public ModelCallBuilder remainingTokens(long left) {
        call.getRemainingBuilder().setTokens(left);
        return this;
    }

    /** See {@link ModelCall#remainingMicrodollars()}. */
    public ModelCallBuilder remainingMicrodollars(long left) {
        call.getRemainingBuilder().setMicrodollars(left);
        return this;
    }

    /** See {@link ModelCall#elapsed()}. */
    public ModelCallBuilder elapsed(Duration elapsed) {
        call.setElapsedMs(elapsed.toMillis());
        return this;
    }

    /** See {@link ModelCall#remainingTime()}. */
    public ModelCallBuilder remainingTime(Duration left) {
        call.setRemainingMs(left.toMillis());
        return this;
    }

    /** See {@link ModelCall#time()}. */
    public ModelCallBuilder time(Instant at) {
        call.setTime(Wire.timestamp(at));
        return this;
    }

    /** See {@link ModelCall#transcript()}. */
    public ModelCallBuilder transcript(String json) {
        call.setTranscript(ByteString.copyFromUtf8(json));
        return this;
    }

    /** See {@link ModelCall#schema()}. */
    public ModelCallBuilder schema(boolean schema) {
        call.setSchema(schema);
        return this;
    }

    /** See {@link ModelCall#failedKinds()}. */
    public ModelCallBuilder failedKinds(String... names) {
        call.clearFailedKinds().addAllFailedKinds(List.of(names));
        return this;
    }

    /** See {@link ModelCall#recentCalls()}. */
    public ModelCallBuilder recentCalls(RecentCall... calls) {
        call.clearRecentCalls();
        for (RecentCall recent : calls) {
            call.addRecentCalls(recent.toWire());
        }
        return this;
    }
}
