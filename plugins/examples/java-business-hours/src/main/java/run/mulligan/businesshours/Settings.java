package run.mulligan.businesshours;

import com.google.gson.Gson;
import com.google.gson.JsonParseException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.List;

/**
 * The configuration.
 *
 * @param timezone whose clock counts
 * @param from when business begins
 * @param to when it ends, itself outside; before {@code from} it is on the next day
 * @param cheap the models that may be used outside business hours, provider/model
 */
record Settings(ZoneId timezone, LocalTime from, LocalTime to, List<String> cheap) {
    /** What {@link #parse} takes, as JSON Schema. */
    static final String SCHEMA = """
            {
              "$schema": "https://json-schema.org/draft/2020-12/schema",
              "type": "object",
              "properties": {
                "timezone": {
                  "type": "string",
                  "description": "Whose clock counts, for example Europe/Oslo; UTC by default."
                },
                "from": {"$ref": "#/$defs/time", "description": "When business begins; 08:00 by default."},
                "to": {"$ref": "#/$defs/time", "description": "When it ends; 18:00 by default."},
                "cheap": {
                  "type": "array",
                  "items": {"type": "string"},
                  "description": "The models for the other hours, provider/model; none by default."
                }
              },
              "additionalProperties": false,
              "$defs": {"time": {"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"}}
            }
            """;

    /** The configuration as it is written; what is not set stays. */
    private static final class Json {
        String timezone = "UTC";
        String from = "08:00";
        String to = "18:00";
        List<String> cheap = List.of();
    }

    /**
     * Reads one JSON value that the schema allows, or nothing; throws IllegalArgumentException with a
     * sentence for people where the schema could not tell.
     */
    static Settings parse(String config) {
        try {
            Json json = config.isEmpty() ? new Json() : new Gson().fromJson(config, Json.class);
            LocalTime from = LocalTime.parse(json.from);
            LocalTime to = LocalTime.parse(json.to);
            if (from.equals(to)) {
                throw new IllegalArgumentException("from and to are both " + from + ": no hours are left.");
            }
            return new Settings(ZoneId.of(json.timezone), from, to, List.copyOf(json.cheap));
        } catch (JsonParseException | DateTimeException e) {
            throw new IllegalArgumentException("The configuration cannot be used: " + e.getMessage() + ".", e);
        }
    }

    /** Tells whether it is business hours at that moment. */
    boolean isOpen(Instant at) {
        LocalTime time = at.atZone(timezone).toLocalTime();
        boolean begun = !time.isBefore(from);
        boolean over = !time.isBefore(to);
        return from.isBefore(to) ? begun && !over : begun || !over;
    }
}
