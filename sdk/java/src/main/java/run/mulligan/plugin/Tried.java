package run.mulligan.plugin;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * One failed attempt of a model call.
 *
 * @param attempt its number within the model call, from 0
 * @param model the full name, provider/model
 * @param code the code of its failure
 * @param at when it began; empty if that is not known
 * @param took how long it took
 */
public record Tried(int attempt, String model, String code, Optional<Instant> at, Duration took) {
    static Tried from(mulligan.v1.Decision.Tried m) {
        return new Tried(
                m.getAttempt(),
                m.getModel(),
                m.getCode(),
                Wire.time(m.hasAt(), m.getAt()),
                Duration.ofMillis(m.getMs()));
    }

    mulligan.v1.Decision.Tried toWire() {
        var m = mulligan.v1.Decision.Tried.newBuilder()
                .setAttempt(attempt)
                .setModel(model)
                .setCode(code)
                .setMs(took.toMillis());
        at.ifPresent(time -> m.setAt(Wire.timestamp(time)));
        return m.build();
    }
}
