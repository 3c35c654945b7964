package run.mulligan.plugin;

import io.grpc.Server;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.TimeUnit;
import run.mulligan.goplugin.Empty;
import run.mulligan.goplugin.GRPCControllerGrpc.GRPCControllerImplBase;

/** Ends the process when the host asks for it. */
final class Controller extends GRPCControllerImplBase {
    /** How long the last answers may take to leave, in milliseconds; the host waits 1 s. */
    private static final long GRACE = 200;

    private volatile Server server;

    /** Names the server whose calls end with the process. */
    void stops(Server server) {
        this.server = server;
    }

    @Override
    public void shutdown(Empty request, StreamObserver<Empty> answer) {
        answer.onNext(Empty.getDefaultInstance());
        answer.onCompleted();
        try {
            server.shutdownNow().awaitTermination(GRACE, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Start.end();
    }
}
