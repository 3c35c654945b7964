package run.mulligan.businesshours;

import static java.time.format.DateTimeFormatter.ISO_LOCAL_TIME;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SettingsTest {
    @Test
    void readsEverything() {
        assertEquals(
                new Settings(
                        ZoneId.of("Europe/Oslo"),
                        LocalTime.of(9, 30),
                        LocalTime.of(17, 0),
                        List.of("openai/gpt-5-mini")),
                Settings.parse(
                        """
                        {"timezone":"Europe/Oslo","from":"09:30","to":"17:00","cheap":["openai/gpt-5-mini"]}"""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}"})
    void hasDefaults(String config) {
        assertEquals(
                new Settings(ZoneId.of("UTC"), LocalTime.of(8, 0), LocalTime.of(18, 0), List.of()),
                Settings.parse(config));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"timezone\":\"Europe/Atlantis\"}",
                "{\"timezone\":\"a b\"}",
                "{\"from\":\"24:30\"}",
                "{\"from\":\"08:00\",\"to\":\"08:00\"}",
                "{\"cheap\":\"openai/gpt-5-mini\"}",
                "[]",
                "{"
            })
    void refuses(String config) {
        assertThrows(IllegalArgumentException.class, () -> Settings.parse(config));
    }

    @ParameterizedTest
    @CsvSource({
        "08:00, 18:00, 07:59:59, false",
        "08:00, 18:00, 08:00:00, true",
        "08:00, 18:00, 17:59:59, true",
        "08:00, 18:00, 18:00:00, false",
        "22:00, 06:00, 23:00:00, true",
        "22:00, 06:00, 05:59:59, true",
        "22:00, 06:00, 06:00:00, false",
        "22:00, 06:00, 12:00:00, false",
    })
    void knowsTheHours(LocalTime from, LocalTime to, LocalTime now, boolean open) {
        Settings settings = new Settings(ZoneId.of("UTC"), from, to, List.of());
        Instant at = Instant.parse("2026-05-04T" + now.format(ISO_LOCAL_TIME) + "Z");
        assertEquals(open, settings.isOpen(at));
    }

    @Test
    void goesByTheClockOfTheTimezone() {
        Settings oslo = Settings.parse("{\"timezone\":\"Europe/Oslo\"}");
        assertTrue(oslo.isOpen(Instant.parse("2026-07-01T06:00:00Z"))); // Summer: two hours ahead.
        assertFalse(oslo.isOpen(Instant.parse("2026-12-01T06:00:00Z"))); // Winter: one.
    }
}
