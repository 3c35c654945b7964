package run.mulligan.plugin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LogTest {
    private static final Instant AT = Instant.parse("2026-05-04T03:02:01.000001Z");

    @Test
    void aLineNamesItsCall() {
        assertEquals(
                "{\"@level\":\"info\",\"@message\":\"über <quota>\",\"@timestamp\":\"2026-05-04T03:02:01.000001Z\","
                        + "\"run\":\"r\",\"session\":\"s\",\"left\":0}",
                Log.line("info", "über <quota>", Map.of("left", 0), new Call("r", "s"), AT));
    }

    @Test
    void keysOfItsOwnAreNobodyElses() {
        String line = Log.line("warn", "x", Map.of("@level", "fatal", "run", "other"), new Call("r", ""), AT);
        assertEquals("{\"@level\":\"warn\",\"@message\":\"x\",\"@timestamp\":\"2026-05-04T03:02:01.000001Z\",\"run\":\"r\"}", line);
    }

    @Test
    void whatJsonCannotHoldIsText() {
        Map<String, Object> circle = new HashMap<>();
        circle.put("nan", Double.NaN);
        String line = Log.line("info", "x", Map.of("n", Double.NaN, "c", circle), null, AT);
        assertTrue(line.contains("\"n\":\"NaN\""), line);
        assertTrue(line.contains("\"c\":\"{nan=NaN}\""), line);
    }
}
