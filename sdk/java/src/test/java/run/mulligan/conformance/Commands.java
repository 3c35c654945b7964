package run.mulligan.conformance;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Locale;
import run.mulligan.plugin.Button;
import run.mulligan.plugin.Decision;
import run.mulligan.plugin.Effort;
import run.mulligan.plugin.Event;
import run.mulligan.plugin.Log;
import run.mulligan.plugin.Plugin;

/** Carries commands out. */
final class Commands {
    private final Meeting meeting = new Meeting();

    /** The configuration's. */
    volatile String greeting = "";

    /** Carries one out; rest is what follows its first word. */
    Decision obey(Event event, String verb, String rest) throws Exception {
        return switch (verb) {
            case "retry" -> rest.isEmpty() ? Decision.retry() : Decision.retry().after(seconds(rest));
            case "switch", "contract" -> Decision.switchTo(rest);
            case "fail" -> Decision.fail();
            case "actions" -> buttons();
            case "adjust" -> adjust(rest);
            case "restrict" -> restrict(rest);
            case "say" -> Decision.fail().because(Fields.say(event, rest));
            case "count" -> Decision.fail().because(Integer.toString(Fields.count(event, rest)));
            case "config" -> Decision.fail().because(greeting);
            case "state" -> Decision.fail().because(Plugin.stateDir().orElseThrow().getFileName().toString());
            default -> {
                act(verb, rest);
                yield null;
            }
        };
    }

    /** Carries out what has an effect and no opinion. */
    private void act(String verb, String rest) throws Exception {
        switch (verb) {
            case "", "none" -> {}
            case "nonsense" -> throw new IllegalStateException("the type system forbids nonsense");
            case "print" -> System.out.println(rest);
            case "flood" -> System.out.println("x".repeat(Integer.parseInt(rest)));
            case "log" -> Log.info(rest);
            case "raise" -> throw new IllegalStateException(rest);
            case "panic" -> throw new StackOverflowError(rest);
            case "sleep" -> Thread.sleep(seconds(rest.replace("s", "")).toMillis());
            case "meet" -> meeting.meet(Integer.parseInt(rest));
            default -> throw new IllegalArgumentException("unknown command " + verb);
        }
    }

    private static Duration seconds(String text) {
        return Duration.ofNanos(new BigDecimal(text).movePointRight(9).longValueExact());
    }

    private static Decision buttons() {
        return Decision.retry()
                .button(Button.client("edit", "Edit the message"))
                .button(Button.runner("switch_model", "Use GPT")
                        .withModel("openai/gpt-5.2")
                        .asPrimary())
                .button(Button.client("status", "See the status")
                        .withUrl("https://status.example.com/?q=a&b=c#now"));
    }

    private static Decision adjust(String pairs) {
        Decision decision = Decision.retry();
        for (String pair : pairs.split(" ")) {
            String[] given = pair.split("=", 2);
            decision = switch (given[0]) {
                case "compact" -> decision.compact();
                case "continue" -> decision.goOn();
                case "max_output_tokens" -> decision.maxOutputTokens(Integer.parseInt(given[1]));
                case "reasoning_effort" -> decision.reasoningEffort(Effort.valueOf(given[1].toUpperCase(Locale.ROOT)));
                default -> throw new IllegalArgumentException("unknown adjustment " + pair);
            };
        }
        return decision;
    }

    private static Decision restrict(String pairs) {
        Decision decision = Decision.forbid();
        for (String pair : pairs.split(" ")) {
            String[] given = pair.split("=", 2);
            decision = switch (given[0]) {
                case "never" -> decision.never(given[1].split(","));
                case "max_output_price" -> decision.maxOutputPrice(Long.parseLong(given[1]));
                case "local" -> decision.local();
                default -> throw new IllegalArgumentException("unknown restriction " + pair);
            };
        }
        return decision;
    }

    /** Makes calls wait for each other. */
    private static final class Meeting {
        private int inside;
        private long held;

        /** Returns once n calls are inside at the same time. */
        synchronized void meet(int n) throws InterruptedException {
            long mine = held;
            inside++;
            if (inside >= n) {
                inside = 0;
                held++;
                notifyAll();
            }
            while (held == mine) {
                wait();
            }
        }
    }
}
