package run.mulligan.plugin;

import java.time.Instant;
import java.util.Optional;

/**
 * How a model call ended that is over.
 *
 * @param model the full name, provider/model
 * @param kind the kind of its failure, as in {@link Failure#kindName()}; empty if it was answered
 * @param at when it ended; empty if that is not known
 */
public record RecentCall(String model, String kind, Optional<Instant> at) {
    static RecentCall from(mulligan.v1.Plugin.RecentCall m) {
        return new RecentCall(m.getModel(), m.getKind(), Wire.time(m.hasAt(), m.getAt()));
    }

    mulligan.v1.Plugin.RecentCall toWire() {
        var m = mulligan.v1.Plugin.RecentCall.newBuilder().setModel(model).setKind(kind);
        at.ifPresent(time -> m.setAt(Wire.timestamp(time)));
        return m.build();
    }
}
