package run.mulligan.plugin;

import io.grpc.Status;

/** The host did not do what was asked of {@link Values}. */
public final class ValuesException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final Problem problem;

    /** Why not. */
    public enum Problem {
        /** The host keeps no values for the plugin, or there is no host. */
        NONE,
        /** There is no room for the value. */
        FULL,
        /** The value is no number, or the sum would not fit into 64 bits. */
        NOT_A_NUMBER,
        /** It is no key, or no value. */
        INVALID,
        /** The host's store cannot be reached now: a change may have been made or not. */
        UNREACHABLE
    }

    ValuesException(Problem problem, String message) {
        super(message);
        this.problem = problem;
    }

    static ValuesException of(Status status) {
        Problem problem =
                switch (status.getCode()) {
                    case RESOURCE_EXHAUSTED -> Problem.FULL;
                    case FAILED_PRECONDITION -> Problem.NOT_A_NUMBER;
                    case INVALID_ARGUMENT -> Problem.INVALID;
                    default -> Problem.UNREACHABLE;
                };
        String said = status.getDescription();
        return new ValuesException(problem, said == null ? status.getCode().toString() : said);
    }

    /** Why not. */
    public Problem problem() {
        return problem;
    }
}
