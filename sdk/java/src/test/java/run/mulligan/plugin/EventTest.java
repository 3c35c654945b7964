package run.mulligan.plugin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import mulligan.v1.FailureOuterClass;
import mulligan.v1.Plugin.RunErrorRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class EventTest {
    @ParameterizedTest
    @EnumSource(
            value = FailureOuterClass.Kind.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = {"KIND_UNSPECIFIED", "UNRECOGNIZED"})
    void everyKindOfTheWireIsKnown(FailureOuterClass.Kind onWire) {
        Failure failure = new Failure(
                FailureOuterClass.Failure.newBuilder().setKind(onWire).build());
        assertEquals(onWire.name(), "KIND_" + failure.kind());
        assertEquals(failure.kindName(), failure.kind().onWire());
    }

    @Test
    void kindsOfTomorrowAreKept() {
        var numbered = FailureOuterClass.Failure.newBuilder().setKindValue(77).setPhaseValue(99);
        assertEquals("kind_77", new Failure(numbered.build()).kindName());
        assertEquals("phase_99", new Failure(numbered.build()).phase());
        assertEquals(Kind.OTHER, new Failure(numbered.build()).kind());
        Event named = Testing.eventOfTomorrow("out_of_coffee").build();
        assertEquals("out_of_coffee", named.failure().kindName());
        assertEquals(Kind.OTHER, named.kind());
        assertEquals(Kind.NOT_SET, Testing.event(Kind.NOT_SET).build().kind());
        assertEquals(Kind.OTHER, Testing.eventOfTomorrow("other").build().kind());
    }

    @Test
    void whatIsNotSetIsEmpty() {
        Event event = new Event(RunErrorRequest.getDefaultInstance(), Optional.empty());
        assertEquals(Kind.NOT_SET, event.kind());
        assertEquals("", event.replaySafety());
        assertEquals(Optional.empty(), event.retryAfter());
        assertEquals(Optional.empty(), event.time());
        assertEquals(Optional.empty(), event.transcript());
        assertEquals(OptionalLong.empty(), event.remainingTokens());
        assertEquals(List.of(), event.alternatives());
    }

    @Test
    void aTestsEventSaysWhatItIsTold() {
        Instant at = Instant.parse("2026-05-04T03:02:01Z");
        Event event = Testing.event(Kind.RATE_LIMIT)
                .model("openai/gpt-5.2")
                .retryAfter(Duration.ofSeconds(7))
                .alternatives("a/b", "c/d")
                .remainingMicrodollars(-1)
                .replaySafety("unsafe")
                .label("team", "ops")
                .cooling(Alternative.of("e/f"))
                .recentCalls(new RecentCall("openai/gpt-5.2", "timeout", Optional.of(at)))
                .time(at)
                .transcript("[]")
                .build();
        assertTrue(event.retryable());
        assertEquals("MODEL_PROVIDER_RATE_LIMITED", event.failure().code());
        assertEquals("openai", event.provider());
        assertEquals(Optional.of(Duration.ofSeconds(7)), event.retryAfter());
        assertEquals(List.of("a/b", "c/d"), event.alternatives());
        assertEquals(OptionalLong.of(-1), event.remainingMicrodollars());
        assertEquals("ops", event.labels().get("team"));
        assertEquals(List.of(Alternative.of("e/f")), event.cooling());
        assertEquals(List.of(new RecentCall("openai/gpt-5.2", "timeout", Optional.of(at))), event.recentCalls());
        assertEquals(List.of("rate_limit"), event.failedKinds());
        assertEquals("openai/gpt-5.2", event.about().model());
        assertEquals("unsafe", event.replaySafety());
        assertEquals(Optional.of(at), event.time());
        assertEquals(Optional.of("[]"), event.transcript());
        assertFalse(Testing.event(Kind.AUTH).build().retryable());
    }

    @Test
    void aTestsCallAndEndSayWhatTheyAreTold() {
        ModelCall call = Testing.modelCall()
                .label("data", "personal")
                .about(new Alternative("a/b", OptionalLong.of(7), Optional.of(new Price(1, 2, 0, 0)), true, List.of("images"), Optional.empty(), "", "well"))
                .spentMicrodollars(9)
                .build();
        assertEquals("personal", call.labels().get("data"));
        assertEquals("a/b", call.model());
        assertEquals(new Price(1, 2, 0, 0), call.about().price().orElseThrow());
        assertTrue(call.about().local());
        assertEquals(9, call.spentMicrodollars());
        assertEquals(List.of("images"), call.about().lacks());
        ToolError error = Testing.toolError().safety("idempotent").error("busy").remainingMicrodollars(-1).build();
        assertEquals("idempotent", error.safety());
        assertEquals("busy", error.error());
        assertEquals(OptionalLong.of(-1), error.remainingMicrodollars());
        RunEnded end = Testing.runEnded().status("failed").failure(Testing.event(Kind.AUTH)).build();
        assertEquals(Kind.AUTH, end.failure().orElseThrow().kind());
        assertEquals(Optional.empty(), Testing.runEnded().build().failure());
    }
}
