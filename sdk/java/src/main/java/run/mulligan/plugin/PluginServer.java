package run.mulligan.plugin;

import io.grpc.Server;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Base64;
import java.util.Map;

/**
 * The gRPC server on its unix socket.
 *
 * @param socket where it listens
 * @param certificate what a client must trust, as the handshake line has it; empty without TLS
 */
record PluginServer(Path socket, String certificate) {
    /** The largest request, in bytes. */
    private static final int MAX_REQUEST = 64 << 20;

    /** The longest path of a socket, in bytes. */
    private static final int MAX_PATH = 100;

    /** Serves as the environment says; the server accepts connections when this returns. */
    static PluginServer start(Map<String, String> environment, Plugin plugin)
            throws IOException, GeneralSecurityException {
        Path socket = socket(environment.get("PLUGIN_UNIX_SOCKET_DIR"));
        EventLoopGroup group = new NioEventLoopGroup(1);
        HealthStatusManager health = new HealthStatusManager();
        health.setStatus("plugin", ServingStatus.SERVING);
        Controller controller = new Controller();
        NettyServerBuilder builder = on(socket, group)
                .maxInboundMessageSize(MAX_REQUEST)
                .addService(health.getHealthService())
                .addService(new Service(plugin))
                .addService(controller)
                .addService(new Stdio());
        String certificate = "";
        String authority = environment.get("PLUGIN_CLIENT_CERT");
        if (authority != null) {
            Identity identity = Identity.create();
            Rehearsal.hold(socket.resolveSibling("r"), group, identity);
            builder.sslContext(mutualTls(identity, parse(authority)));
            certificate = Base64.getEncoder().withoutPadding().encodeToString(identity.certificate().getEncoded());
        }
        Server server = builder.build().start();
        controller.stops(server);
        return new PluginServer(socket, certificate);
    }

    /** Returns the path to listen on: in the host's folder, or in a fresh one by hand. */
    private static Path socket(String folder) throws IOException {
        Path path = (folder == null ? Files.createTempDirectory("plugin") : Path.of(folder)).resolve("s");
        if (path.toString().getBytes(StandardCharsets.UTF_8).length > MAX_PATH) {
            throw new IOException("the path of the socket has more than " + MAX_PATH + " bytes: " + path);
        }
        return path;
    }

    /** Returns what builds a server on a unix socket. */
    static NettyServerBuilder on(Path socket, EventLoopGroup group) {
        return NettyServerBuilder.forAddress(UnixDomainSocketAddress.of(socket))
                .channelType(NioServerDomainSocketChannel.class)
                .bossEventLoopGroup(group)
                .workerEventLoopGroup(group)
                .withChildOption(ChannelOption.SO_KEEPALIVE, null); // TCP's: a warning per connection
    }

    private static X509Certificate parse(String pem) throws CertificateException {
        return (X509Certificate) CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(pem.getBytes(StandardCharsets.UTF_8)));
    }

    /** Requires a client certificate by the root, and trusts no other. */
    static SslContext mutualTls(Identity identity, X509Certificate root) throws IOException {
        return GrpcSslContexts.configure(
                        SslContextBuilder.forServer(identity.key(), identity.certificate()), SslProvider.JDK)
                .trustManager(root)
                .clientAuth(ClientAuth.REQUIRE)
                .protocols("TLSv1.3")
                .build();
    }
}
