package run.mulligan.plugin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import mulligan.v1.Plugin.BeforeCallRequest;
import mulligan.v1.Plugin.BeforeCallResponse;
import mulligan.v1.Plugin.ConfigureRequest;
import mulligan.v1.Plugin.ConfigureResponse;
import mulligan.v1.Plugin.DescribeRequest;
import mulligan.v1.Plugin.DescribeResponse;
import mulligan.v1.Plugin.RunEndedRequest;
import mulligan.v1.Plugin.RunEndedResponse;
import mulligan.v1.Plugin.RunErrorRequest;
import mulligan.v1.Plugin.RunErrorResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class ServiceTest {
    private static final Plugin.Advise NONE = event -> null;

    @Test
    void aPluginOffersWhatItTakes() {
        assertEquals(List.of(), offered(Plugin.of(NONE)));
        assertEquals(List.of("run_ended"), offered(Plugin.of(NONE).runEnded(end -> {})));
        Plugin both = Plugin.of(NONE).runEnded(end -> {}).toolError(error -> null).beforeCall(call -> null);
        assertEquals(List.of("before_call", "tool_error", "run_ended"), offered(both));
    }

    @Test
    void whatIsNotTakenIsUnimplemented() {
        Answer<BeforeCallResponse> asked = new Answer<>();
        new Service(Plugin.of(NONE)).beforeCall(BeforeCallRequest.getDefaultInstance(), asked);
        assertEquals(Status.Code.UNIMPLEMENTED, asked.status.getCode());
        Answer<RunEndedResponse> told = new Answer<>();
        new Service(Plugin.of(NONE)).runEnded(RunEndedRequest.getDefaultInstance(), told);
        assertEquals(Status.Code.UNIMPLEMENTED, told.status.getCode());
    }

    @Test
    void noOpinionIsAnEmptyMessage() {
        assertEquals(RunErrorResponse.getDefaultInstance(), ask(NONE).given);
    }

    @Test
    void whatIsThrownIsTheCallsError() {
        Answer<RunErrorResponse> raised = ask(event -> {
            throw new java.io.IOException("no such region");
        });
        assertEquals(Status.Code.UNKNOWN, raised.status.getCode());
        assertEquals("no such region", raised.status.getDescription());
        Answer<RunErrorResponse> overflown = ask(event -> {
            throw new StackOverflowError();
        });
        assertEquals("StackOverflowError", overflown.status.getDescription());
    }

    @Test
    void aConfigurationIsTakenOrRefused() {
        record Config(String region) {}
        AtomicReference<Config> taken = new AtomicReference<>();
        Plugin plugin = Plugin.of(NONE).configure(Config.class, config -> {
            taken.set(config);
            if ("atlantis".equals(config.region())) {
                throw new IllegalArgumentException("no such region");
            }
        });
        assertNull(configure(plugin, "").status);
        assertEquals(new Config(null), taken.get());
        assertNull(configure(plugin, "{\"region\":\"oslo\"}").status);
        assertEquals(new Config("oslo"), taken.get());
        Status refused = configure(plugin, "{\"region\":\"atlantis\"}").status;
        assertEquals(Status.Code.INVALID_ARGUMENT, refused.getCode());
        assertEquals("no such region", refused.getDescription());
        assertEquals(Status.Code.INVALID_ARGUMENT, configure(plugin, "{").status.getCode());
    }

    @Test
    @Timeout(30)
    void aCallThatNobodyWaitsForIsInterrupted() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        Context.CancellableContext context = Context.current().withCancellation();
        Answer<RunErrorResponse> answer = new Answer<>();
        Service service = new Service(Plugin.of(event -> {
            asked.countDown();
            Thread.sleep(60_000);
            return Decision.fail();
        }));
        AtomicReference<Boolean> leftOver = new AtomicReference<>();
        Thread thread = new Thread(context.wrap(() -> {
            service.runError(RunErrorRequest.getDefaultInstance(), answer);
            leftOver.set(Thread.currentThread().isInterrupted());
        }));
        thread.start();
        asked.await();
        context.cancel(null);
        thread.join();
        assertEquals(Status.Code.UNKNOWN, answer.status.getCode());
        assertFalse(leftOver.get(), "the next call of the thread would be interrupted");
        assertNull(Call.current());
    }

    private static List<String> offered(Plugin plugin) {
        Answer<DescribeResponse> answer = new Answer<>();
        new Service(plugin).describe(DescribeRequest.getDefaultInstance(), answer);
        assertTrue(answer.isDone);
        return List.copyOf(answer.given.getOccasionsList());
    }

    private static Answer<RunErrorResponse> ask(Plugin.Advise advise) {
        Answer<RunErrorResponse> answer = new Answer<>();
        new Service(Plugin.of(advise)).runError(RunErrorRequest.getDefaultInstance(), answer);
        return answer;
    }

    private static Answer<ConfigureResponse> configure(Plugin plugin, String json) {
        Answer<ConfigureResponse> answer = new Answer<>();
        ConfigureRequest request = ConfigureRequest.newBuilder()
                .setConfig(ByteString.copyFromUtf8(json))
                .build();
        new Service(plugin).configure(request, answer);
        return answer;
    }

    /** Keeps what is answered. */
    private static final class Answer<T> extends ServerCallStreamObserver<T> {
        T given;
        Status status;
        boolean isDone;

        @Override
        public void onNext(T value) {
            given = value;
        }

        @Override
        public void onError(Throwable thrown) {
            status = Status.fromThrowable(thrown);
        }

        @Override
        public void onCompleted() {
            isDone = true;
        }

        @Override
        public boolean isCancelled() {
            return false;
        }

        @Override
        public void setOnCancelHandler(Runnable handler) {}

        @Override
        public void setCompression(String compression) {}

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void setOnReadyHandler(Runnable handler) {}

        @Override
        public void request(int count) {}

        @Override
        public void setMessageCompression(boolean enable) {}

        @Override
        public void disableAutoInboundFlowControl() {}
    }
}
