package run.mulligan.plugin;

import java.time.Duration;
import mulligan.v1.Plugin.ToolAction;
import mulligan.v1.Plugin.ToolErrorResponse;

/**
 * What is done about a tool that failed; no opinion is {@code null}: the model is told what the tool said. It never
 * changes, and advice that says the same is equal.
 */
public final class ToolAdvice {
    private final ToolErrorResponse m;

    private ToolAdvice(ToolErrorResponse.Builder m) {
        this.m = m.build();
    }

    /**
     * Has the same call made again after a wait of at most 60 s, where the tool may run twice and
     * {@link ToolError#remainingTries()} allows it.
     */
    public static ToolAdvice runAgain(Duration after) {
        return new ToolAdvice(of(ToolAction.TOOL_ACTION_RETRY).setDelayMs(Wire.milliseconds(after)));
    }

    /** Has the model told these words, at most 8 KiB, in the place of what the tool said. */
    public static ToolAdvice tell(String words) {
        return new ToolAdvice(of(ToolAction.TOOL_ACTION_TELL).setWords(words));
    }

    /** Has a person asked: to tell the model, to have the call made again, or to stop. */
    public static ToolAdvice ask() {
        return new ToolAdvice(of(ToolAction.TOOL_ACTION_ASK));
    }

    /** Gives a reason for people, of which 500 bytes are kept. */
    public ToolAdvice because(String reason) {
        return new ToolAdvice(m.toBuilder().setReason(reason));
    }

    ToolErrorResponse toWire() {
        return m;
    }

    private static ToolErrorResponse.Builder of(ToolAction action) {
        return ToolErrorResponse.newBuilder().setAction(action);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ToolAdvice advice && m.equals(advice.m);
    }

    @Override
    public int hashCode() {
        return m.hashCode();
    }

    @Override
    public String toString() {
        return "ToolAdvice {" + m.toString().strip().replace("\n", ", ") + "}";
    }
}
