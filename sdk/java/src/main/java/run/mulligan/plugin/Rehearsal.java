package run.mulligan.plugin;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import mulligan.v1.Plugin.BeforeCallRequest;
import mulligan.v1.Plugin.RunErrorRequest;
import mulligan.v1.RecoveryPluginGrpc;

/**
 * A health check and a call of this process's own, before the host's. The host's first check has a second for the
 * connection, the TLS handshake and the call, what is asked before a model call has half of one, and on a busy
 * machine a JVM takes that long to load what it needs for them; what is loaded before the handshake line has ten.
 */
final class Rehearsal {
    private Rehearsal() {}

    /** What is asked: nothing of the author's. */
    private static final Plugin NOBODYS =
            Plugin.of(event -> Decision.retry().after(Duration.ZERO)).beforeCall(call -> Verdict.allow());

    /** Serves on the socket for these calls, with the identity on both sides. */
    static void hold(Path socket, EventLoopGroup group, Identity identity) throws IOException {
        Server server = PluginServer.on(socket, group)
                .sslContext(PluginServer.mutualTls(identity, identity.certificate()))
                .addService(new HealthStatusManager().getHealthService())
                .addService(new Service(NOBODYS))
                .build()
                .start();
        ManagedChannel channel = NettyChannelBuilder.forAddress(UnixDomainSocketAddress.of(socket))
                .channelType(NioDomainSocketChannel.class)
                .eventLoopGroup(group)
                .withOption(ChannelOption.SO_KEEPALIVE, null)
                .sslContext(GrpcSslContexts.configure(SslContextBuilder.forClient(), SslProvider.JDK)
                        .keyManager(identity.key(), identity.certificate())
                        .trustManager(identity.certificate())
                        .build())
                .overrideAuthority("localhost")
                .build();
        try {
            HealthGrpc.newBlockingStub(channel).check(HealthCheckRequest.getDefaultInstance());
            RecoveryPluginGrpc.RecoveryPluginBlockingStub plugin = RecoveryPluginGrpc.newBlockingStub(channel);
            plugin.runError(RunErrorRequest.getDefaultInstance());
            plugin.beforeCall(BeforeCallRequest.getDefaultInstance());
        } finally {
            channel.shutdownNow();
            server.shutdownNow();
            Files.deleteIfExists(socket);
        }
    }
}
