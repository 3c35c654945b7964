package run.mulligan.conformance;

import java.util.Map;
import run.mulligan.plugin.ModelCall;
import run.mulligan.plugin.RunEnded;
import run.mulligan.plugin.ToolAdvice;
import run.mulligan.plugin.ToolError;
import run.mulligan.plugin.Verdict;

/** What the plugin says beside failures: what the label {@code do} of a call or of a run says. */
final class Occasions {
    private Occasions() {}

    static Verdict judge(ModelCall call) throws Exception {
        String[] told = told(call.labels());
        return switch (told[0]) {
            case "" -> null;
            case "allow" -> Verdict.allow();
            case "route" -> Verdict.route(told[1]).because("told so");
            case "hold" -> Verdict.hold(call.time().orElseThrow().plusSeconds(Long.parseLong(told[1])))
                    .because("told so");
            case "refuse" -> Verdict.refuse().because(told[1]);
            case "say" -> Verdict.refuse().because(Fields.say(call, told[1]));
            default -> throw new IllegalStateException(told[1]);
        };
    }

    static ToolAdvice mend(ToolError error) throws Exception {
        String[] told = told(error.labels());
        return switch (told[0]) {
            case "" -> null;
            case "again" -> ToolAdvice.runAgain(Commands.seconds(told[1])).because("told so");
            case "tell" -> ToolAdvice.tell(told[1]).because("told so");
            case "ask" -> ToolAdvice.ask().because(told[1]);
            case "say" -> ToolAdvice.ask().because(Fields.say(error, told[1]));
            default -> throw new IllegalStateException(told[1]);
        };
    }

    static void hear(RunEnded end) throws Exception {
        String[] told = told(end.labels());
        if (told[0].equals("say")) {
            throw new IllegalStateException("<" + Fields.say(end, told[1]) + ">");
        }
        if (!told[0].isEmpty()) {
            throw new IllegalStateException(told[1]);
        }
    }

    private static String[] told(Map<String, String> labels) {
        String[] told = labels.getOrDefault("do", "").split(" ", 2);
        return told.length == 2 ? told : new String[] {told[0], ""};
    }
}
