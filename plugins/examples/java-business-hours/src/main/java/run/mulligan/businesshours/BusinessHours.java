package run.mulligan.businesshours;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;
import run.mulligan.plugin.Decision;
import run.mulligan.plugin.Event;
import run.mulligan.plugin.Kind;

/**
 * The policy. Outside business hours nobody waits for the best model: one that has no room is left for a
 * cheap one. Within them the same model is asked again, shortly after.
 */
final class BusinessHours {
    private static final Duration DELAY = Duration.ofSeconds(2);

    /** The provider is there and does not serve: another model may. */
    private static final Set<Kind> NO_ROOM = EnumSet.of(Kind.RATE_LIMIT, Kind.OVERLOADED, Kind.UNAVAILABLE);

    /** What passes by itself. */
    private static final Set<Kind> TRANSIENT = EnumSet.of(
            Kind.RATE_LIMIT,
            Kind.OVERLOADED,
            Kind.UNAVAILABLE,
            Kind.TIMEOUT,
            Kind.UNREACHABLE,
            Kind.STREAM_INTERRUPTED);

    private final Clock clock;
    private volatile Settings settings = Settings.parse("{}");

    BusinessHours(Clock clock) {
        this.clock = clock;
    }

    /** Sets what later decisions go by. */
    void configure(Settings settings) {
        this.settings = settings;
    }

    /** Decides about a failure, by the hour at which it happened; null is no opinion. */
    Decision decide(Event event) {
        Settings now = settings;
        Instant at = event.time().orElseGet(clock::instant);
        if (now.isOpen(at)) {
            return TRANSIENT.contains(event.kind())
                    ? Decision.retry().after(DELAY).because("it is business hours: the same model again")
                    : null;
        }
        return NO_ROOM.contains(event.kind()) ? switchToCheap(event, now) : null;
    }

    private static Decision switchToCheap(Event event, Settings settings) {
        return event.alternatives().stream()
                .filter(settings.cheap()::contains)
                .findFirst()
                .map(model -> Decision.switchTo(model)
                        .because("it is outside business hours: " + model + " is cheaper"))
                .orElse(null);
    }
}
