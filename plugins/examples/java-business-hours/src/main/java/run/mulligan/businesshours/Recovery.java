package run.mulligan.businesshours;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.function.Supplier;
import mulligan.v1.Plugin.ConfigureRequest;
import mulligan.v1.Plugin.ConfigureResponse;
import mulligan.v1.Plugin.DescribeRequest;
import mulligan.v1.Plugin.DescribeResponse;
import mulligan.v1.Plugin.RunErrorRequest;
import mulligan.v1.Plugin.RunErrorResponse;
import mulligan.v1.RecoveryPluginGrpc.RecoveryPluginImplBase;

/** Serves the policy. */
final class Recovery extends RecoveryPluginImplBase {
    /** What a message of an error may have, in bytes; a char has at most 3. */
    private static final int MAX_MESSAGE_CHARS = 2048 / 3;

    private final BusinessHours policy;

    Recovery(BusinessHours policy) {
        this.policy = policy;
    }

    @Override
    public void describe(DescribeRequest request, StreamObserver<DescribeResponse> answer) {
        String version = Recovery.class.getPackage().getImplementationVersion();
        answer(answer, Status.UNKNOWN, () -> DescribeResponse.newBuilder()
                .setName("java-business-hours")
                .setVersion(version == null ? "unpackaged" : version)
                .setConfigSchema(ByteString.copyFromUtf8(Settings.SCHEMA))
                .build());
    }

    @Override
    public void configure(ConfigureRequest request, StreamObserver<ConfigureResponse> answer) {
        answer(answer, Status.INVALID_ARGUMENT, () -> {
            policy.configure(Settings.parse(request.getConfig().toStringUtf8()));
            return ConfigureResponse.getDefaultInstance();
        });
    }

    @Override
    public void runError(RunErrorRequest request, StreamObserver<RunErrorResponse> answer) {
        answer(answer, Status.UNKNOWN, () -> policy.decide(request));
    }

    /** Answers with what the work gives, or with the status and the text of what it throws. */
    private static <T> void answer(StreamObserver<T> answer, Status failed, Supplier<T> work) {
        T value;
        try {
            value = work.get();
        } catch (RuntimeException | StackOverflowError e) {
            if (failed.getCode() == Status.Code.UNKNOWN) { // Not what somebody else did wrong.
                e.printStackTrace();
            }
            String text = String.valueOf(e.getMessage());
            String kept = text.substring(0, Math.min(text.length(), MAX_MESSAGE_CHARS));
            answer.onError(failed.withDescription(kept).asRuntimeException());
            return;
        }
        answer.onNext(value);
        answer.onCompleted();
    }
}
