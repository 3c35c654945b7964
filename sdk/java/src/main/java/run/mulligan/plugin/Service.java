package run.mulligan.plugin;

import com.google.protobuf.ByteString;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
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
import mulligan.v1.Plugin.ToolErrorRequest;
import mulligan.v1.Plugin.ToolErrorResponse;
import mulligan.v1.RecoveryPluginGrpc.RecoveryPluginImplBase;

/** Puts the author's functions behind the service. */
final class Service extends RecoveryPluginImplBase {
    private static final String BEFORE_CALL = "before_call";
    private static final String TOOL_ERROR = "tool_error";
    private static final String RUN_ENDED = "run_ended";

    private final Plugin plugin;

    Service(Plugin plugin) {
        this.plugin = plugin;
    }

    @Override
    public void describe(DescribeRequest request, StreamObserver<DescribeResponse> answer) {
        DescribeResponse.Builder described = DescribeResponse.newBuilder()
                .setName(plugin.name)
                .setVersion(plugin.version)
                .setConfigSchema(ByteString.copyFromUtf8(plugin.configSchema));
        plugin.beforeCall.ifPresent(judge -> described.addOccasions(BEFORE_CALL));
        plugin.toolError.ifPresent(mend -> described.addOccasions(TOOL_ERROR));
        plugin.runEnded.ifPresent(hear -> described.addOccasions(RUN_ENDED));
        answer.onNext(described.build());
        answer.onCompleted();
    }

    @Override
    public void configure(ConfigureRequest request, StreamObserver<ConfigureResponse> answer) {
        String json = request.getConfig().isEmpty() ? "{}" : request.getConfig().toStringUtf8();
        answer(new Call("", ""), Status.INVALID_ARGUMENT, answer, () -> {
            plugin.configure.configure(json);
            return ConfigureResponse.getDefaultInstance();
        });
    }

    @Override
    public void runError(RunErrorRequest request, StreamObserver<RunErrorResponse> answer) {
        answer(new Call(request.getRun(), request.getSession()), Status.UNKNOWN, answer, () -> {
            Decision decision = plugin.advise.advise(new Event(request, deadline()));
            return decision == null ? RunErrorResponse.getDefaultInstance() : decision.toWire();
        });
    }

    @Override
    public void beforeCall(BeforeCallRequest request, StreamObserver<BeforeCallResponse> answer) {
        if (plugin.beforeCall.isEmpty()) {
            notTaken(BEFORE_CALL, answer);
            return;
        }
        answer(new Call(request.getRun(), request.getSession()), Status.UNKNOWN, answer, () -> {
            Verdict verdict = plugin.beforeCall.get().judge(new ModelCall(request, deadline()));
            return verdict == null ? BeforeCallResponse.getDefaultInstance() : verdict.toWire();
        });
    }

    @Override
    public void toolError(ToolErrorRequest request, StreamObserver<ToolErrorResponse> answer) {
        if (plugin.toolError.isEmpty()) {
            notTaken(TOOL_ERROR, answer);
            return;
        }
        answer(new Call(request.getRun(), request.getSession()), Status.UNKNOWN, answer, () -> {
            ToolAdvice advice = plugin.toolError.get().mend(new ToolError(request, deadline()));
            return advice == null ? ToolErrorResponse.getDefaultInstance() : advice.toWire();
        });
    }

    @Override
    public void runEnded(RunEndedRequest request, StreamObserver<RunEndedResponse> answer) {
        if (plugin.runEnded.isEmpty()) {
            notTaken(RUN_ENDED, answer);
            return;
        }
        answer(new Call(request.getRun(), request.getSession()), Status.UNKNOWN, answer, () -> {
            plugin.runEnded.get().hear(new RunEnded(request));
            return RunEndedResponse.getDefaultInstance();
        });
    }

    private static void notTaken(String occasion, StreamObserver<?> answer) {
        answer.onError(Status.UNIMPLEMENTED
                .withDescription("the plugin does not take " + occasion)
                .asRuntimeException());
    }

    /** When the host stops waiting for the call that this thread answers. */
    private static Optional<Instant> deadline() {
        Deadline deadline = Context.current().getDeadline();
        return Optional.ofNullable(deadline).map(d -> Instant.now().plusNanos(d.timeRemaining(TimeUnit.NANOSECONDS)));
    }

    /**
     * Answers with what the author's function gives, or with the status and the text of what it throws. The thread
     * is interrupted if the call is cancelled or its deadline passes meanwhile.
     */
    private static <T> void answer(Call call, Status failed, StreamObserver<T> answer, Callable<T> function) {
        Context context = Context.current();
        Interruption interruption = new Interruption(Thread.currentThread());
        ((ServerCallStreamObserver<T>) answer).setOnCancelHandler(() -> {}); // or answering too late would throw
        T given;
        call.begin();
        context.addListener(interruption, Runnable::run);
        try {
            given = function.call();
        } catch (Throwable thrown) { // errors too: the process lives on
            if (failed.getCode() == Status.Code.UNKNOWN && !context.isCancelled()) {
                thrown.printStackTrace();
            }
            answer.onError(failed.withDescription(Wire.message(thrown)).asRuntimeException());
            return;
        } finally {
            context.removeListener(interruption);
            interruption.end();
            call.end();
        }
        answer.onNext(given);
        answer.onCompleted();
    }

    /** Interrupts a thread for as long as it answers a call, and not once it answers another. */
    private static final class Interruption implements Context.CancellationListener {
        private final Thread thread;
        private boolean over;

        Interruption(Thread thread) {
            this.thread = thread;
        }

        @Override
        public synchronized void cancelled(Context context) {
            if (!over) {
                thread.interrupt();
            }
        }

        synchronized void end() {
            over = true;
            Thread.interrupted(); // forgets an interruption that the function has not noticed
        }
    }
}
