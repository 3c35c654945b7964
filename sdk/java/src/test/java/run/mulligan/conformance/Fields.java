package run.mulligan.conformance;

import com.google.gson.JsonParser;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import run.mulligan.plugin.Alternative;
import run.mulligan.plugin.Event;
import run.mulligan.plugin.Price;
import run.mulligan.plugin.RecentCall;
import run.mulligan.plugin.Tried;

/** The fields of what the plugin is told, as sdk/conformance/README.md names and renders them. */
final class Fields {
    /** Empty where they are not set, and 0 when they are rendered. */
    private static final Set<String> DURATIONS = Set.of("retry_after", "remaining_time", "failure.retry_after", "failure.limit");

    private static final Pattern WORD = Pattern.compile("_(.)");

    private Fields() {}

    static String say(Object told, String name) throws Exception {
        return render(name, value(told, name));
    }

    static int count(Object told, String name) throws Exception {
        Object value = value(told, name);
        if (value instanceof List<?> list) {
            return list.size();
        }
        if (value instanceof Map<?, ?> map) {
            return map.size();
        }
        throw new IllegalArgumentException(name + " is no list");
    }

    private static Object value(Object told, String name) throws Exception {
        if (told instanceof Event event) {
            switch (name) {
                case "code", "resets_at" -> {
                    return value(event, "failure." + name);
                }
                case "transcript" -> {
                    return JsonParser.parseString(event.transcript().orElse("[]")).getAsJsonArray().asList();
                }
                default -> {}
            }
            if (name.startsWith("failure.")) {
                return member(event.failure(), name.substring("failure.".length()));
            }
        }
        return member(told, name);
    }

    private static Object member(Object owner, String name) throws Exception {
        String camel = WORD.matcher(name).replaceAll(word -> word.group(1).toUpperCase());
        // A kind is told by its name: the enum does not have those of tomorrow.
        String method = camel.equals("kind") ? owner instanceof Event ? "failure" : "kindName" : camel;
        try {
            Object value = owner.getClass().getMethod(method).invoke(owner);
            return method.equals("failure") && camel.equals("kind") ? member(value, "kind") : value;
        } catch (NoSuchMethodException e) {
            throw new IllegalArgumentException("no field " + name, e);
        }
    }

    private static String render(String name, Object value) {
        if (value instanceof Optional<?> optional) {
            String unset = DURATIONS.contains(name) ? "0" : "";
            return optional.map(set -> render(name, set)).orElse(unset);
        }
        if (value instanceof OptionalLong number) {
            return Long.toString(number.orElse(0));
        }
        if (value instanceof Duration duration) {
            return BigDecimal.valueOf(duration.toMillis(), 3).stripTrailingZeros().toPlainString();
        }
        if (value instanceof Instant at) {
            return at.toString().replaceAll("(\\.\\d*?)0+Z$", "$1Z");
        }
        if (value instanceof List<?> list) {
            return list.stream().map(element -> render(name, element)).collect(Collectors.joining(","));
        }
        if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream().map(Object::toString).sorted().collect(Collectors.joining(","));
        }
        if (value instanceof Alternative model) {
            return model(model);
        }
        if (value instanceof RecentCall call) {
            return String.join(" ", call.model(), call.kind(), render("at", call.at()));
        }
        if (value instanceof Tried t) {
            return String.join(
                    " ", Integer.toString(t.attempt()), t.model(), t.code(), render("at", t.at()), render("took", t.took()));
        }
        return String.valueOf(value);
    }

    private static String model(Alternative model) {
        if (model.model().isEmpty()) {
            return "";
        }
        String price = model.price().map(Fields::price).orElse("");
        return model.model() + " " + model.contextTokens().orElse(0) + price + (model.local() ? " local" : "")
                + fact("lacks", String.join("+", model.lacks()))
                + fact("cools_until", render("cools_until", model.coolsUntil()))
                + fact("cooling_kind", model.coolingKind())
                + fact("health", model.health());
    }

    private static String fact(String name, String value) {
        return value.isEmpty() ? "" : " " + name + "=" + value;
    }

    private static String price(Price price) {
        return " " + price.input() + "/" + price.output();
    }
}
