package run.mulligan.businesshours;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import mulligan.v1.Decision.Action;
import mulligan.v1.Decision.Alternative;
import mulligan.v1.FailureOuterClass.Failure;
import mulligan.v1.FailureOuterClass.Kind;
import mulligan.v1.Plugin.RunErrorRequest;
import mulligan.v1.Plugin.RunErrorResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.ValueSource;

/** What is decided when; the clock of the tests is UTC and business from 08:00 to 18:00. */
class BusinessHoursTest {
    private static final String DAY = "2026-05-04T12:00:00Z";
    private static final String NIGHT = "2026-05-04T23:00:00Z";

    @ParameterizedTest
    @EnumSource(value = Kind.class, names = {"KIND_RATE_LIMIT", "KIND_OVERLOADED", "KIND_UNAVAILABLE"})
    void leavesACrowdedModelAtNight(Kind kind) {
        RunErrorResponse advice = decide(NIGHT, event(kind));
        assertEquals(Action.ACTION_SWITCH_MODEL, advice.getAction());
        assertEquals("openai/gpt-5-mini", advice.getNewModel());
        assertEquals(0, advice.getDelayMs());
    }

    @Test
    void takesTheEventsOrder() {
        RunErrorRequest event = event(Kind.KIND_OVERLOADED).toBuilder()
                .addAlternatives(0, Alternative.newBuilder().setModel("google/gemini-3-flash"))
                .build();
        assertEquals("google/gemini-3-flash", decide(NIGHT, event).getNewModel());
    }

    @Test
    void hasNoOpinionAtNightWithoutACheapAlternative() {
        RunErrorRequest event = event(Kind.KIND_OVERLOADED).toBuilder().clearAlternatives().build();
        assertEquals(RunErrorResponse.getDefaultInstance(), decide(NIGHT, event));
    }

    @ParameterizedTest
    @EnumSource(
            value = Kind.class,
            mode = Mode.EXCLUDE,
            names = {"KIND_RATE_LIMIT", "KIND_OVERLOADED", "KIND_UNAVAILABLE", "UNRECOGNIZED"})
    void hasNoOpinionAtNightOnOtherKinds(Kind kind) {
        assertEquals(RunErrorResponse.getDefaultInstance(), decide(NIGHT, event(kind)));
    }

    @ParameterizedTest
    @EnumSource(
            value = Kind.class,
            names = {
                "KIND_RATE_LIMIT",
                "KIND_OVERLOADED",
                "KIND_UNAVAILABLE",
                "KIND_TIMEOUT",
                "KIND_UNREACHABLE",
                "KIND_STREAM_INTERRUPTED"
            })
    void retriesWhatPassesByDay(Kind kind) {
        RunErrorResponse advice = decide(DAY, event(kind));
        assertEquals(Action.ACTION_RETRY, advice.getAction());
        assertEquals(2000, advice.getDelayMs());
    }

    @ParameterizedTest
    @EnumSource(value = Kind.class, names = {"KIND_AUTH", "KIND_QUOTA", "KIND_UNSPECIFIED"})
    void hasNoOpinionByDayOnWhatStays(Kind kind) {
        assertEquals(RunErrorResponse.getDefaultInstance(), decide(DAY, event(kind)));
    }

    @ParameterizedTest
    @ValueSource(strings = {DAY, NIGHT})
    void hasNoOpinionOnAKindOfLater(String now) {
        RunErrorRequest event = RunErrorRequest.newBuilder()
                .setFailure(Failure.newBuilder().setKindValue(77).setRetryable(true))
                .build();
        assertEquals(RunErrorResponse.getDefaultInstance(), decide(now, event));
    }

    private static RunErrorRequest event(Kind kind) {
        return RunErrorRequest.newBuilder()
                .setFailure(Failure.newBuilder().setKind(kind))
                .addAlternatives(Alternative.newBuilder().setModel("anthropic/claude-opus-5"))
                .addAlternatives(Alternative.newBuilder().setModel("openai/gpt-5-mini"))
                .build();
    }

    private static RunErrorResponse decide(String now, RunErrorRequest event) {
        BusinessHours policy = new BusinessHours(Clock.fixed(Instant.parse(now), ZoneOffset.UTC));
        policy.configure(Settings.parse("{\"cheap\":[\"openai/gpt-5-mini\",\"google/gemini-3-flash\"]}"));
        return policy.decide(event);
    }
}
