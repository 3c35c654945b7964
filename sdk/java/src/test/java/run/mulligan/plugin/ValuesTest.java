package run.mulligan.plugin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.grpc.Status;
import org.junit.jupiter.api.Test;

class ValuesTest {
    @Test
    void withoutAHostThereAreNone() {
        ValuesException none = assertThrows(ValuesException.class, () -> Values.get("x"));
        assertEquals(ValuesException.Problem.NONE, none.problem());
    }

    @Test
    void whatIsNotKnownMayHaveHappened() {
        assertEquals(ValuesException.Problem.FULL, ValuesException.of(Status.RESOURCE_EXHAUSTED).problem());
        assertEquals(ValuesException.Problem.UNREACHABLE, ValuesException.of(Status.DEADLINE_EXCEEDED).problem());
    }
}
