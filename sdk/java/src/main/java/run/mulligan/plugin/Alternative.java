package run.mulligan.plugin;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A model that could be asked.
 *
 * @param model its full name, provider/model
 * @param contextTokens the size of its context in tokens; empty if that is not known
 * @param price what it costs; empty if that is not known, and some cost nothing
 * @param local whether it is served on this machine
 * @param lacks what it cannot take: {@code images}, {@code tools}, {@code schema}
 * @param coolsUntil it cools down until then, and is not asked by itself; empty if it does not
 * @param coolingKind because of a failure of that kind; may be empty
 * @param health how its last call ended, of all runs of the host: {@code well} or {@code failing}; empty if that is
 *     not known
 */
public record Alternative(
        String model,
        OptionalLong contextTokens,
        Optional<Price> price,
        boolean local,
        List<String> lacks,
        Optional<Instant> coolsUntil,
        String coolingKind,
        String health) {
    /** A model of which only the name is known. */
    public static Alternative of(String model) {
        return new Alternative(
                model, OptionalLong.empty(), Optional.empty(), false, List.of(), Optional.empty(), "", "");
    }

    static Alternative from(mulligan.v1.Decision.Alternative m) {
        return new Alternative(
                m.getModel(),
                m.getContextTokens() == 0 ? OptionalLong.empty() : OptionalLong.of(m.getContextTokens()),
                m.hasPrice() ? Optional.of(Price.from(m.getPrice())) : Optional.empty(),
                m.getLocal(),
                List.copyOf(m.getLacksList()),
                Wire.time(m.hasCoolsUntil(), m.getCoolsUntil()),
                m.getCoolingKind(),
                m.getHealth());
    }

    mulligan.v1.Decision.Alternative toWire() {
        var m = mulligan.v1.Decision.Alternative.newBuilder()
                .setModel(model)
                .setContextTokens(contextTokens.orElse(0))
                .setLocal(local)
                .addAllLacks(lacks)
                .setCoolingKind(coolingKind)
                .setHealth(health);
        coolsUntil.ifPresent(time -> m.setCoolsUntil(Wire.timestamp(time)));
        price.ifPresent(p -> m.setPrice(p.toWire()));
        return m.build();
    }
}
