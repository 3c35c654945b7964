package run.mulligan.conformance;

import java.util.Objects;
import run.mulligan.plugin.Decision;
import run.mulligan.plugin.Event;
import run.mulligan.plugin.Plugin;

/** The conformance plugin of the Java SDK: it obeys the commands of sdk/conformance/README.md. */
public final class Main {
    private static final String SCHEMA =
            """
            {"type":"object","properties":{"greeting":{"type":"string"},"refuse":{"type":"string"}},\
            "additionalProperties":false}""";

    private record Config(String greeting, String refuse) {}

    private static final Commands COMMANDS = new Commands();

    private Main() {}

    /** Serves. */
    public static void main(String[] arguments) {
        Plugin.of(Main::obey)
                .name("conformance")
                .version("1.2.3")
                .configSchema(SCHEMA)
                .configure(Config.class, Main::configure)
                .beforeCall(Occasions::judge)
                .toolError(Occasions::mend)
                .runEnded(Occasions::hear)
                .serve();
    }

    private static void configure(Config config) {
        if (config.refuse() != null) {
            throw new IllegalArgumentException(config.refuse());
        }
        COMMANDS.greeting = Objects.requireNonNullElse(config.greeting(), "");
    }

    /** Does what the first line of the failure's detail says. */
    private static Decision obey(Event event) throws Exception {
        String line = event.failure().detail().split("\n", 2)[0];
        String[] parts = line.split(" because ", 2);
        String[] command = parts[0].split(" ", 2);
        Decision decision = COMMANDS.obey(event, command[0], command.length > 1 ? command[1] : "");
        return decision != null && parts.length > 1 ? decision.because(parts[1]) : decision;
    }
}
