package run.mulligan.plugin;

import java.util.Locale;

/** How much a model reasons before it answers. */
public enum Effort {
    LOW,
    MEDIUM,
    HIGH;

    String onWire() {
        return name().toLowerCase(Locale.ROOT);
    }
}
