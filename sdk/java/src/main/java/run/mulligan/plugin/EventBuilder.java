package run.mulligan.plugin;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import mulligan.v1.FailureOuterClass;
import mulligan.v1.Plugin.ReplaySafety;
import mulligan.v1.Plugin.RunErrorRequest;

/** Makes an {@link Event} for a test: {@link Testing#event}. */
public final class EventBuilder {
    final FailureOuterClass.Failure.Builder failure = FailureOuterClass.Failure.newBuilder();
    private final RunErrorRequest.Builder event = RunErrorRequest.newBuilder();

    EventBuilder(Kind kind) {
        event.setRun("run-1")
                .setMaxRetries(3)
                .setRemainingAttempts(10)
                .setAutoRecover(true)
                .setReplaySafety(ReplaySafety.REPLAY_SAFETY_SAFE);
        failure.setCode(kind.code())
                .setRetryable(kind.retryable())
                .setOrigin(FailureOuterClass.Origin.ORIGIN_MODEL)
                .setPhase(FailureOuterClass.Phase.PHASE_BEFORE_FIRST_EVENT);
        model("anthropic/claude-sonnet-4-5");
    }

    /** Makes it. */
    public Event build() {
        return new Event(event.setFailure(failure).build(), Optional.empty());
    }

    /** Says which model failed, provider/model; the provider is the first part. */
    public EventBuilder model(String model) {
        event.setModel(model).setAbout(Alternative.of(model).toWire());
        failure.setModel(model).setProvider(model.split("/", 2)[0]);
        return this;
    }

    /** See {@link Event#run()}. */
    public EventBuilder run(String run) {
        event.setRun(run);
        return this;
    }

    /** See {@link Event#session()}. */
    public EventBuilder session(String session) {
        event.setSession(session);
        return this;
    }

    /** See {@link Event#sessionKey()}. */
    public EventBuilder sessionKey(String sessionKey) {
        event.setSessionKey(sessionKey);
        return this;
    }

    /** See {@link Event#agentId()}. */
    public EventBuilder agentId(String agentId) {
        event.setAgentId(agentId);
        return this;
    }

    /** See {@link Event#attempt()}. */
    public EventBuilder attempt(int attempt) {
        event.setAttempt(attempt);
        return this;
    }

    /** See {@link Event#retries()}. */
    public EventBuilder retries(int retries) {
        event.setRetries(retries);
        return this;
    }

    /** See {@link Event#maxRetries()}. */
    public EventBuilder maxRetries(int maxRetries) {
        event.setMaxRetries(maxRetries);
        return this;
    }

    /** See {@link Event#autoRecover()}. */
    public EventBuilder autoRecover(boolean autoRecover) {
        event.setAutoRecover(autoRecover);
        return this;
    }

    /** See {@link Event#remainingAttempts()}. */
    public EventBuilder remainingAttempts(int remainingAttempts) {
        event.setRemainingAttempts(remainingAttempts);
        return this;
    }

    /** See {@link Event#partialShown()}. */
    public EventBuilder partialShown(boolean partialShown) {
        event.setPartialShown(partialShown);
        return this;
    }

    /** See {@link Event#idleBreaker()}. */
    public EventBuilder idleBreaker(boolean idleBreaker) {
        event.setIdleBreaker(idleBreaker);
        return this;
    }

    /** See {@link Event#idleExpiries()}. */
    public EventBuilder idleExpiries(int idleExpiries) {
        event.setIdleExpiries(idleExpiries);
        return this;
    }

    /** See {@link Event#dryRun()}. */
    public EventBuilder dryRun(boolean dryRun) {
        event.setDryRun(dryRun);
        return this;
    }

    /** See {@link Event#pressed()}. */
    public EventBuilder pressed(String pressed) {
        event.setPressed(pressed);
        return this;
    }

    /** See {@link Event#aborted()}. */
    public EventBuilder aborted(boolean aborted) {
        event.setAborted(aborted);
        return this;
    }

    /** See {@link Event#timedOut()}. */
    public EventBuilder timedOut(boolean timedOut) {
        event.setTimedOut(timedOut);
        return this;
    }

    /** See {@link Event#promptError()}. */
    public EventBuilder promptError(String promptError) {
        event.setPromptError(promptError);
        return this;
    }

    /** See {@link Event#elapsed()}. */
    public EventBuilder elapsed(Duration elapsed) {
        event.setElapsedMs(elapsed.toMillis());
        return this;
    }

    /** See {@link Event#remainingTime()}. */
    public EventBuilder remainingTime(Duration left) {
        event.setRemainingMs(left.toMillis());
        return this;
    }

    /** See {@link Event#remainingTokens()}. */
    public EventBuilder remainingTokens(long left) {
        event.getRemainingBuilder().setTokens(left);
        return this;
    }

    /** See {@link Event#remainingMicrodollars()}. */
    public EventBuilder remainingMicrodollars(long left) {
        event.getRemainingBuilder().setMicrodollars(left);
        return this;
    }

    /** See {@link Event#alternatives()}. */
    public EventBuilder alternatives(String... models) {
        return models(Arrays.stream(models).map(Alternative::of).toArray(Alternative[]::new));
    }

    /** See {@link Event#models()}. */
    public EventBuilder models(Alternative... models) {
        event.clearAlternatives();
        for (Alternative model : models) {
            event.addAlternatives(model.toWire());
        }
        return this;
    }

    /** See {@link Event#tried()}. */
    public EventBuilder tried(Tried... tried) {
        event.clearTried();
        for (Tried attempt : tried) {
            event.addTried(attempt.toWire());
        }
        return this;
    }

    /** See {@link Event#replaySafety()}. */
    public EventBuilder replaySafety(String safety) {
        event.setReplaySafety(ReplaySafety.valueOf("REPLAY_SAFETY_" + safety.toUpperCase(Locale.ROOT)));
        return this;
    }

    /** See {@link Event#unsafeTools()}. */
    public EventBuilder unsafeTools(String... tools) {
        event.clearUnsafeTools().addAllUnsafeTools(List.of(tools));
        return this;
    }

    /** See {@link Event#time()}. */
    public EventBuilder time(Instant at) {
        event.setTime(Wire.timestamp(at));
        return this;
    }

    /** See {@link Event#transcript()}. */
    public EventBuilder transcript(String json) {
        event.setTranscript(ByteString.copyFromUtf8(json));
        return this;
    }

    /** See {@link Failure#code()}. */
    public EventBuilder code(String code) {
        failure.setCode(code);
        return this;
    }

    /** See {@link Failure#variant()}. */
    public EventBuilder variant(String variant) {
        failure.setVariant(variant);
        return this;
    }

    /** See {@link Failure#retryable()}. */
    public EventBuilder retryable(boolean retryable) {
        failure.setRetryable(retryable);
        return this;
    }

    /** See {@link Failure#provider()}. */
    public EventBuilder provider(String provider) {
        failure.setProvider(provider);
        return this;
    }

    /** See {@link Failure#httpStatus()}. */
    public EventBuilder httpStatus(int httpStatus) {
        failure.setHttpStatus(httpStatus);
        return this;
    }

    /** See {@link Failure#providerCode()}. */
    public EventBuilder providerCode(String providerCode) {
        failure.setProviderCode(providerCode);
        return this;
    }

    /** See {@link Failure#requestId()}. */
    public EventBuilder requestId(String requestId) {
        failure.setRequestId(requestId);
        return this;
    }

    /** See {@link Failure#tool()}. */
    public EventBuilder tool(String tool) {
        failure.setTool(tool);
        return this;
    }

    /** See {@link Failure#lastStep()}. */
    public EventBuilder lastStep(String lastStep) {
        failure.setLastStep(lastStep);
        return this;
    }

    /** See {@link Failure#title()}. */
    public EventBuilder title(String title) {
        failure.setTitle(title);
        return this;
    }

    /** See {@link Failure#message()}. */
    public EventBuilder message(String message) {
        failure.setMessage(message);
        return this;
    }

    /** See {@link Failure#detail()}. */
    public EventBuilder detail(String detail) {
        failure.setDetail(detail);
        return this;
    }

    /** See {@link Failure#retryAfter()}. */
    public EventBuilder retryAfter(Duration wait) {
        failure.setRetryAfterMs(wait.toMillis());
        return this;
    }

    /** See {@link Failure#resetsAt()}. */
    public EventBuilder resetsAt(Instant at) {
        failure.setResetsAt(Wire.timestamp(at));
        return this;
    }

    /** Adds one of the words by which the run can be listed: see {@link Event#labels()}. */
    public EventBuilder label(String name, String value) {
        event.putLabels(name, value);
        return this;
    }

    /** See {@link Event#inputTokens()}. */
    public EventBuilder inputTokens(long inputTokens) {
        event.setInputTokens(inputTokens);
        return this;
    }

    /** See {@link Event#images()}. */
    public EventBuilder images(boolean images) {
        event.setImages(images);
        return this;
    }

    /** See {@link Event#schema()}. */
    public EventBuilder schema(boolean schema) {
        event.setSchema(schema);
        return this;
    }

    /** See {@link Event#spentTokens()}. */
    public EventBuilder spentTokens(long spent) {
        event.getSpentBuilder().setTokens(spent);
        return this;
    }

    /** See {@link Event#spentMicrodollars()}. */
    public EventBuilder spentMicrodollars(long spent) {
        event.getSpentBuilder().setMicrodollars(spent);
        return this;
    }

    /** See {@link Event#tools()}. */
    public EventBuilder tools(String... tools) {
        event.clearTools().addAllTools(List.of(tools));
        return this;
    }

    /** See {@link Event#about()}. */
    public EventBuilder about(Alternative model) {
        event.setAbout(model.toWire());
        return this;
    }

    /** See {@link Event#cooling()}. */
    public EventBuilder cooling(Alternative... models) {
        event.clearCooling();
        for (Alternative model : models) {
            event.addCooling(model.toWire());
        }
        return this;
    }

    /** See {@link Event#failedKinds()}. */
    public EventBuilder failedKinds(String... names) {
        event.clearFailedKinds().addAllFailedKinds(List.of(names));
        return this;
    }

    /** See {@link Event#recentCalls()}. */
    public EventBuilder recentCalls(RecentCall... calls) {
        event.clearRecentCalls();
        for (RecentCall call : calls) {
            event.addRecentCalls(call.toWire());
        }
        return this;
    }
}
