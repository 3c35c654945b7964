package run.mulligan.conformance;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import run.mulligan.plugin.Button;
import run.mulligan.plugin.Decision;
import run.mulligan.plugin.Effort;
import run.mulligan.plugin.Event;
import run.mulligan.plugin.Log;
import run.mulligan.plugin.Plugin;
import run.mulligan.plugin.Values;
import run.mulligan.plugin.ValuesException;

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
            case "values" -> Decision.fail().because(playValues(rest));
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

    static Duration seconds(String text) {
        return Duration.ofNanos(new BigDecimal(text).movePointRight(9).longValueExact());
    }

    /** Does with the host's values what the grammar says. */
    private static String playValues(String key) {
        long first = Values.add(key, 2);
        Values.Versioned read = Values.getWithVersion(key);
        byte[] longer = (new String(read.value().orElseThrow(), StandardCharsets.UTF_8) + "5").getBytes(StandardCharsets.UTF_8);
        boolean done = Values.compareAndSet(key, read.version(), longer);
        boolean late = Values.compareAndSet(key, read.version(), new byte[0]);
        Values.set(key + "/x", new byte[0]);
        String keys = String.join(",", Values.keys(key));
        boolean wrong = false;
        try {
            Values.add(key + "/x", 1);
        } catch (ValuesException e) {
            wrong = e.problem() == ValuesException.Problem.NOT_A_NUMBER;
        }
        Values.delete(key + "/x");
        return first + " " + done + " " + late + " " + keys + " " + wrong + " " + Values.add(key, -1);
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
