package run.mulligan.businesshours;

import java.time.Clock;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import mulligan.v1.Decision.Action;
import mulligan.v1.Decision.Alternative;
import mulligan.v1.FailureOuterClass.Kind;
import mulligan.v1.Plugin.RunErrorRequest;
import mulligan.v1.Plugin.RunErrorResponse;

/**
 * The policy. Outside business hours nobody waits for the best model: one that has no room is left for a
 * cheap one. Within them the same model is asked again, shortly after.
 */
final class BusinessHours {
    private static final Duration DELAY = Duration.ofSeconds(2);

    /** The provider is there and does not serve: another model may. */
    private static final Set<Kind> NO_ROOM =
            EnumSet.of(Kind.KIND_RATE_LIMIT, Kind.KIND_OVERLOADED, Kind.KIND_UNAVAILABLE);

    /** What passes by itself. */
    private static final Set<Kind> TRANSIENT = EnumSet.of(
            Kind.KIND_RATE_LIMIT,
            Kind.KIND_OVERLOADED,
            Kind.KIND_UNAVAILABLE,
            Kind.KIND_TIMEOUT,
            Kind.KIND_UNREACHABLE,
            Kind.KIND_STREAM_INTERRUPTED);

    private static final RunErrorResponse NO_OPINION = RunErrorResponse.getDefaultInstance();

    private final Clock clock;
    private volatile Settings settings = Settings.parse("");

    BusinessHours(Clock clock) {
        this.clock = clock;
    }

    /** Sets what later decisions go by. */
    void configure(Settings settings) {
        this.settings = settings;
    }

    /** Decides about a failure. */
    RunErrorResponse decide(RunErrorRequest event) {
        Settings now = settings;
        Kind kind = event.getFailure().getKind();
        if (now.isOpen(clock.instant())) {
            return TRANSIENT.contains(kind) ? retry() : NO_OPINION;
        }
        return NO_ROOM.contains(kind) ? switchToCheap(event, now) : NO_OPINION;
    }

    private static RunErrorResponse retry() {
        return RunErrorResponse.newBuilder()
                .setAction(Action.ACTION_RETRY)
                .setDelayMs(DELAY.toMillis())
                .setReason("it is business hours: the same model again")
                .build();
    }

    private static RunErrorResponse switchToCheap(RunErrorRequest event, Settings settings) {
        return event.getAlternativesList().stream()
                .map(Alternative::getModel)
                .filter(settings.cheap()::contains)
                .findFirst()
                .map(model -> RunErrorResponse.newBuilder()
                        .setAction(Action.ACTION_SWITCH_MODEL)
                        .setNewModel(model)
                        .setReason("it is outside business hours: " + model + " is cheaper")
                        .build())
                .orElse(NO_OPINION);
    }
}
