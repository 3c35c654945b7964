package run.mulligan.plugin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import mulligan.v1.Decision.Action;
import mulligan.v1.Plugin.RunErrorResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DecisionTest {
    @Test
    void decisionsThatSayTheSameAreEqual() {
        Decision decision = Decision.switchTo("a/b").because("slow");
        assertEquals(Decision.switchTo("a/b").because("slow"), decision);
        assertEquals(Decision.switchTo("a/b").because("slow").hashCode(), decision.hashCode());
        assertNotEquals(Decision.switchTo("a/b"), decision);
        assertEquals(Verdict.refuse().because("no"), Verdict.refuse().because("no"));
        assertNotEquals(Verdict.route("a/b"), Verdict.route("a/c"));
        assertEquals(ToolAdvice.tell("no").because("x"), ToolAdvice.tell("no").because("x"));
        assertNotEquals(ToolAdvice.ask(), ToolAdvice.runAgain(Duration.ZERO));
    }

    @Test
    void aDecisionNeverChanges() {
        Decision retry = Decision.retry();
        retry.after(Duration.ofSeconds(1)).compact().never("openai/*");
        assertEquals(RunErrorResponse.newBuilder().setAction(Action.ACTION_RETRY).build(), retry.toWire());
        assertFalse(retry.toWire().hasAdjust());
    }

    @Test
    void everythingIsSent() {
        RunErrorResponse sent = Decision.fail()
                .because("no use")
                .button(Button.client("edit", "Edit"))
                .maxOutputTokens(4096)
                .reasoningEffort(Effort.LOW)
                .goOn()
                .never("a/b", "openai/*")
                .maxOutputPrice(5)
                .local()
                .toWire();
        assertEquals(Action.ACTION_FAIL, sent.getAction());
        assertEquals("no use", sent.getReason());
        assertEquals("client", sent.getActions(0).getEffect());
        assertEquals("low", sent.getAdjust().getReasoningEffort());
        assertEquals(4096, sent.getAdjust().getMaxOutputTokens());
        assertEquals(List.of("a/b", "openai/*"), sent.getRestrict().getNeverList());
        assertEquals(5, sent.getRestrict().getMaxOutputPrice());
    }

    @ParameterizedTest
    @CsvSource({"PT0S, 0", "PT0.000000001S, 1", "PT0.0015S, 2", "PT2.5S, 2500", "PT-0.0001S, -1", "PT-1S, -1000"})
    void aDelayIsRoundedAwayFromNothing(Duration delay, long ms) {
        assertEquals(ms, Decision.retry().after(delay).toWire().getDelayMs());
    }

    @Test
    void aDelayThatDoesNotFitIsAnError() {
        Duration ages = Duration.ofSeconds(Long.MAX_VALUE);
        assertThrows(IllegalArgumentException.class, () -> Decision.retry().after(ages));
    }

    @Test
    void aHoldHasItsTime() {
        Instant until = Instant.parse("2026-05-04T03:02:01.5Z");
        assertEquals(until, Wire.time(true, Verdict.hold(until).toWire().getUntil()).orElseThrow());
    }
}
