package run.mulligan.plugin;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * A model that could be asked.
 *
 * @param model its full name, provider/model
 * @param contextTokens the size of its context in tokens; empty if that is not known
 * @param price what it costs; empty if that is not known, and some cost nothing
 * @param local whether it is served on this machine
 */
public record Alternative(String model, OptionalLong contextTokens, Optional<Price> price, boolean local) {
    /** A model of which only the name is known. */
    public static Alternative of(String model) {
        return new Alternative(model, OptionalLong.empty(), Optional.empty(), false);
    }

    static Alternative from(mulligan.v1.Decision.Alternative m) {
        return new Alternative(
                m.getModel(),
                m.getContextTokens() == 0 ? OptionalLong.empty() : OptionalLong.of(m.getContextTokens()),
                m.hasPrice() ? Optional.of(Price.from(m.getPrice())) : Optional.empty(),
                m.getLocal());
    }

    mulligan.v1.Decision.Alternative toWire() {
        var m = mulligan.v1.Decision.Alternative.newBuilder()
                .setModel(model)
                .setContextTokens(contextTokens.orElse(0))
                .setLocal(local);
        price.ifPresent(p -> m.setPrice(p.toWire()));
        return m.build();
    }
}
