package run.mulligan.plugin;

/** The call that a thread answers: what its log says. */
record Call(String run, String session) {
    private static final ThreadLocal<Call> CURRENT = new ThreadLocal<>();

    /** The one of this thread; null if it answers none. */
    static Call current() {
        return CURRENT.get();
    }

    void begin() {
        CURRENT.set(this);
    }

    void end() {
        CURRENT.remove();
    }
}
