package run.mulligan.plugin;

import mulligan.v1.FailureOuterClass;

/**
 * What a test of a plugin's functions needs: events, calls and ends of runs, without a host.
 *
 * <pre>{@code
 * Event event = Testing.event(Kind.RATE_LIMIT).retryAfter(Duration.ofSeconds(7)).build();
 * assertEquals(Decision.retry().after(Duration.ofSeconds(7)), MyRules.advise(event));
 * }</pre>
 */
public final class Testing {
    private Testing() {}

    /**
     * Begins the first failure of a model call of this kind, as a host sends it in a run without limits. Its code and
     * whether it is retryable are those of the kind.
     */
    public static EventBuilder event(Kind kind) {
        EventBuilder event = new EventBuilder(kind);
        if (kind != Kind.NOT_SET && kind != Kind.OTHER) {
            event.failure.setKind(FailureOuterClass.Kind.valueOf("KIND_" + kind.name()));
        } else {
            event.failure.setKindName(kind.onWire());
        }
        return event.failedKinds(kind.onWire());
    }

    /** Begins the first failure of a model call, of a kind that this version does not know. */
    public static EventBuilder eventOfTomorrow(String kindName) {
        EventBuilder event = new EventBuilder(Kind.OTHER);
        event.failure.setKindName(kindName);
        return event.failedKinds(kindName);
    }

    /** Begins the first model call of a run without limits. */
    public static ModelCallBuilder modelCall() {
        return new ModelCallBuilder();
    }

    /** Begins the first failure of a tool that changes nothing, in a run without limits. */
    public static ToolErrorBuilder toolError() {
        return new ToolErrorBuilder();
    }

    /** Begins the end of a run that was completed by its first call. */
    public static RunEndedBuilder runEnded() {
        return new RunEndedBuilder();
    }
}
