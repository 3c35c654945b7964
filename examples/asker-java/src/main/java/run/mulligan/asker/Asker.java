package run.mulligan.asker;

import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import java.net.URI;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import mulligan.v1.AdviceGrpc;
import mulligan.v1.AdviceOuterClass;
import mulligan.v1.AdviceOuterClass.DecideRequest;
import mulligan.v1.AdviceOuterClass.Evidence;
import mulligan.v1.AdviceOuterClass.OutcomeRequest;

/**
 * A program that makes its own model calls, and asks Mulligan what to do about one that failed:
 *
 * <pre>MULLIGAN_TOKEN=… java -jar asker-java.jar http://127.0.0.1:8484</pre>
 */
public final class Asker {
  private static final String MODEL = "anthropic/claude-sonnet-4-5";
  private static final String OTHER = "openai/gpt-5.2";

  /** Who has no answer after that goes on as without Mulligan, in milliseconds. */
  private static final long PATIENCE = Long.parseLong(System.getenv().getOrDefault("MULLIGAN_TIMEOUT_MS", "250"));

  /** What a model call failed by. */
  private static final class CallFailed extends Exception {
    private final transient Evidence evidence;

    CallFailed(Evidence evidence) {
      super("status " + evidence.getStatus());
      this.evidence = evidence;
    }
  }

  private final AdviceGrpc.AdviceBlockingStub advice;

  private Asker(AdviceGrpc.AdviceBlockingStub advice) {
    this.advice = advice;
  }

  /** Stands for your own call of a model: the first one is full. */
  private static String callModel(String model) throws CallFailed {
    if (model.equals(OTHER)) {
      return "Hello";
    }
    String body = "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}";
    throw new CallFailed(Evidence.newBuilder().setStatus(529).setBody(body).build());
  }

  private String answer(String call) throws CallFailed, InterruptedException {
    String model = MODEL;
    for (int attempt = 0; ; attempt++) {
      try {
        String text = callModel(model);
        if (attempt > 0) {
          close(OutcomeRequest.newBuilder().setCall(call).setOk(true).setModel(model).build());
        }
        return model + ": " + text;
      } catch (CallFailed failed) {
        model = next(call, attempt, model, failed);
      }
    }
  }

  /** Gives the model that is to be asked next, when it is; or throws the failure, as without Mulligan. */
  private String next(String call, int attempt, String model, CallFailed failed) throws CallFailed, InterruptedException {
    AdviceOuterClass.DecideResponse reply;
    try {
      reply = within().decide(DecideRequest.newBuilder().setCall(call).setAttempt(attempt).setModel(model)
          .addAlternatives(OTHER).setAutoRecover(true).setFailure(failed.evidence).build());
    } catch (StatusRuntimeException e) {
      System.err.println("without Mulligan: " + e.getStatus());
      throw failed;
    }
    if (reply.hasRecoverySuggestion()) {
      System.err.println(reply.getRecoverySuggestion().getTitle() + ": " + reply.getRecoverySuggestion().getActionsList()
          .stream().map(button -> button.getLabel()).collect(Collectors.joining(" | ")));
      throw failed;
    }
    AdviceOuterClass.Decision decision = reply.getDecision();
    String asked = switch (decision.getAction()) {
      case ACTION_RETRY -> model;
      case ACTION_SWITCH_MODEL -> decision.getNewModel();
      default -> throw failed;
    };
    System.out.println(model + ": " + failed.getMessage() + "; now " + asked + ": " + decision.getReason());
    Thread.sleep(decision.getDelayMs());
    return asked;
  }

  /** Closes the call; a model that has answered cools down no more. */
  private void close(OutcomeRequest outcome) {
    try {
      within().outcome(outcome);
    } catch (StatusRuntimeException e) {
      System.err.println("without Mulligan: " + e.getStatus());
    }
  }

  private AdviceGrpc.AdviceBlockingStub within() {
    return advice.withDeadlineAfter(PATIENCE, TimeUnit.MILLISECONDS);
  }

  /** Connects and has gRPC's classes loaded, which would take longer than a first question may. */
  private void warmUp() {
    try {
      advice.withDeadlineAfter(5, TimeUnit.SECONDS).outcome(OutcomeRequest.getDefaultInstance());
    } catch (StatusRuntimeException e) {
      // Nobody has asked about a call without a name: that it answers is all that matters.
    }
  }

  public static void main(String[] args) throws Exception {
    String token = System.getenv("MULLIGAN_TOKEN");
    if (args.length != 1 || token == null) {
      System.err.println("usage: MULLIGAN_TOKEN=… java -jar asker-java.jar URL");
      System.exit(2);
    }
    URI url = URI.create(args[0]);
    ManagedChannel channel = ManagedChannelBuilder.forAddress(url.getHost(), url.getPort()).usePlaintext().build();
    Metadata bearer = new Metadata();
    bearer.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + token);
    var advice = AdviceGrpc.newBlockingStub(channel).withInterceptors(MetadataUtils.newAttachHeadersInterceptor(bearer));
    try {
      Asker asker = new Asker(advice);
      asker.warmUp();
      System.out.println(asker.answer("asker-" + ProcessHandle.current().pid()));
    } catch (CallFailed failed) {
      System.err.println(failed.getMessage());
      System.exit(1);
    } finally {
      channel.shutdownNow();
    }
  }
}
