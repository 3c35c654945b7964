package run.mulligan.plugin;

import com.google.protobuf.Empty;
import io.grpc.stub.StreamObserver;
import run.mulligan.goplugin.GRPCStdioGrpc.GRPCStdioImplBase;
import run.mulligan.goplugin.StdioData;

/** Has nothing to say: what this process prints goes to its own standard error. */
final class Stdio extends GRPCStdioImplBase {
    @Override
    public void streamStdio(Empty request, StreamObserver<StdioData> answer) {
        // The stream stays open until the host ends it.
    }
}
