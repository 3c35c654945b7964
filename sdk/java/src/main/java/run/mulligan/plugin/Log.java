package run.mulligan.plugin;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.time.Instant;
import java.util.Map;

/**
 * The log for people who run plugins: one JSON object a line on standard error, from where it reaches the host's
 * log. In the thread of a call it names the call's run and session.
 */
public final class Log {
    private static final Gson JSON =
            new GsonBuilder().disableHtmlEscaping().serializeNulls().create();

    private Log() {}

    /** Writes a line of level trace. */
    public static void trace(String message) {
        write("trace", message, Map.of());
    }

    /** Writes a line of level debug. */
    public static void debug(String message) {
        write("debug", message, Map.of());
    }

    /** Writes a line of level info. */
    public static void info(String message) {
        write("info", message, Map.of());
    }

    /** Writes a line of level info with further keys. */
    public static void info(String message, Map<String, ?> fields) {
        write("info", message, fields);
    }

    /** Writes a line of level warn. */
    public static void warn(String message) {
        write("warn", message, Map.of());
    }

    /** Writes a line of level warn with further keys. */
    public static void warn(String message, Map<String, ?> fields) {
        write("warn", message, fields);
    }

    /** Writes a line of level error. */
    public static void error(String message) {
        write("error", message, Map.of());
    }

    /** Writes a line of level error with further keys. */
    public static void error(String message, Map<String, ?> fields) {
        write("error", message, fields);
    }

    private static void write(String level, String message, Map<String, ?> fields) {
        System.err.print(line(level, message, fields, Call.current(), Instant.now()) + "\n");
    }

    /** One line: the keys of its own first, and never another's in their place. */
    static String line(String level, String message, Map<String, ?> fields, Call call, Instant at) {
        JsonObject line = new JsonObject();
        line.addProperty("@level", level);
        line.addProperty("@message", String.valueOf(message));
        line.addProperty("@timestamp", at.toString());
        if (call != null && !call.run().isEmpty()) {
            line.addProperty("run", call.run());
            if (!call.session().isEmpty()) {
                line.addProperty("session", call.session());
            }
        }
        fields.forEach((name, value) -> {
            if (!line.has(name)) {
                line.add(name, plain(value));
            }
        });
        return JSON.toJson(line);
    }

    /** Makes text of what JSON cannot hold. */
    private static JsonElement plain(Object value) {
        try {
            return JSON.toJsonTree(value);
        } catch (RuntimeException | StackOverflowError e) { // a circle, a number that is none, what cannot be looked at
            return new JsonPrimitive(String.valueOf(value));
        }
    }
}
