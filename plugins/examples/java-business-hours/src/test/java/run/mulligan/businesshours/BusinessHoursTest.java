package run.mulligan.businesshours;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.ValueSource;
import run.mulligan.plugin.Decision;
import run.mulligan.plugin.EventBuilder;
import run.mulligan.plugin.Kind;
import run.mulligan.plugin.Testing;

/** What is decided when; the clock of the tests is UTC and business from 08:00 to 18:00. */
class BusinessHoursTest {
    private static final String DAY = "2026-05-04T12:00:00Z";
    private static final String NIGHT = "2026-05-04T23:00:00Z";

    private static final Decision AGAIN =
            Decision.retry().after(Duration.ofSeconds(2)).because("it is business hours: the same model again");

    @ParameterizedTest
    @EnumSource(names = {"RATE_LIMIT", "OVERLOADED", "UNAVAILABLE"})
    void leavesACrowdedModelAtNight(Kind kind) {
        assertEquals(cheaper("openai/gpt-5-mini"), decide(NIGHT, event(kind)));
    }

    @Test
    void takesTheEventsOrder() {
        EventBuilder event = event(Kind.OVERLOADED).alternatives("google/gemini-3-flash", "openai/gpt-5-mini");
        assertEquals(cheaper("google/gemini-3-flash"), decide(NIGHT, event));
    }

    @Test
    void hasNoOpinionAtNightWithoutACheapAlternative() {
        assertNull(decide(NIGHT, event(Kind.OVERLOADED).alternatives()));
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = {"RATE_LIMIT", "OVERLOADED", "UNAVAILABLE"})
    void hasNoOpinionAtNightOnOtherKinds(Kind kind) {
        assertNull(decide(NIGHT, event(kind)));
    }

    @ParameterizedTest
    @EnumSource(names = {"RATE_LIMIT", "OVERLOADED", "UNAVAILABLE", "TIMEOUT", "UNREACHABLE", "STREAM_INTERRUPTED"})
    void retriesWhatPassesByDay(Kind kind) {
        assertEquals(AGAIN, decide(DAY, event(kind)));
    }

    @ParameterizedTest
    @EnumSource(names = {"AUTH", "QUOTA", "NOT_SET"})
    void hasNoOpinionByDayOnWhatStays(Kind kind) {
        assertNull(decide(DAY, event(kind)));
    }

    @ParameterizedTest
    @ValueSource(strings = {DAY, NIGHT})
    void hasNoOpinionOnAKindOfLater(String now) {
        assertNull(decide(now, Testing.eventOfTomorrow("out_of_coffee")));
    }

    @Test
    void goesByTheHourOfTheFailure() {
        EventBuilder replayed = event(Kind.OVERLOADED).time(Instant.parse(DAY));
        assertEquals(AGAIN, decide(NIGHT, replayed));
    }

    private static EventBuilder event(Kind kind) {
        return Testing.event(kind).alternatives("anthropic/claude-opus-5", "openai/gpt-5-mini");
    }

    private static Decision cheaper(String model) {
        return Decision.switchTo(model).because("it is outside business hours: " + model + " is cheaper");
    }

    private static Decision decide(String now, EventBuilder event) {
        BusinessHours policy = new BusinessHours(Clock.fixed(Instant.parse(now), ZoneOffset.UTC));
        policy.configure(Settings.parse("{\"cheap\":[\"openai/gpt-5-mini\",\"google/gemini-3-flash\"]}"));
        return policy.decide(event.build());
    }
}
