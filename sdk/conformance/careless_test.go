package conformance

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/mulligan-run/mulligan/plugins/rules"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
)

// TestMain lets the test binary play a careless plugin, a flawed one, or rules in YAML.
func TestMain(m *testing.M) {
	if os.Getenv("SERVE_RULES") != "" {
		rules.Serve()
		os.Exit(0)
	}
	if flaw := os.Getenv("FLAWED"); flaw != "" {
		serveFlawed(flaw)
		os.Exit(0)
	}
	switch os.Getenv("CARELESS") {
	case "":
		slack = 3
		os.Exit(m.Run())
	case "with anybody":
		serveCarelessly(tls.RequestClientCert)
	case "with any certificate":
		serveCarelessly(tls.RequireAnyClientCert)
	}
}

// careless accepts any configuration, has no opinion and does not end when it is asked to.
type careless struct {
	mulliganv1.UnimplementedRecoveryPluginServer
}

func (careless) Configure(context.Context, *mulliganv1.ConfigureRequest) (*mulliganv1.ConfigureResponse, error) {
	return &mulliganv1.ConfigureResponse{}, nil
}

func serveCarelessly(clients tls.ClientAuthType) {
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	der, _ := x509.CreateCertificate(rand.Reader, newLeaf(), newLeaf(), key.Public(), key)
	server := grpc.NewServer(grpc.Creds(credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, ClientAuth: clients,
	})), grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		if method, _ := grpc.MethodFromServerStream(stream); strings.HasPrefix(method, "/plugin.GRPCStdio") {
			<-stream.Context().Done()
		}
		return stream.SendMsg(&emptypb.Empty{})
	}))
	healthy := health.NewServer()
	healthy.SetServingStatus("plugin", healthpb.HealthCheckResponse_SERVING)
	healthpb.RegisterHealthServer(server, healthy)
	mulliganv1.RegisterRecoveryPluginServer(server, careless{})
	socket := os.Getenv("PLUGIN_UNIX_SOCKET_DIR") + "/s"
	listener, err := net.Listen("unix", socket)
	if err != nil {
		fmt.Println(err)
		os.Exit(0)
	}
	fmt.Println("1|" + os.Getenv("PLUGIN_PROTOCOL_VERSIONS") + "|unix|" + socket + "|grpc|" + base64.RawStdEncoding.EncodeToString(der))
	_ = server.Serve(listener)
}

// Every check can fail: a careless plugin passes only what it is named for.
func TestChecksFail(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	passes := map[string][]string{ // all but the last step of these, Close
		"with anybody":         {"plaintext is refused"},
		"with any certificate": {"no client certificate is refused", "plaintext is refused"},
	}
	for fault, passed := range passes {
		for _, check := range Checks {
			t.Run(fault+"/"+check.Name, func(t *testing.T) {
				t.Parallel()
				err := check.Run(t.Context(), Command{Args: []string{os.Args[0]}, Env: []string{"CARELESS=" + fault}}, true)
				if err == nil {
					t.Fatal("passed")
				}
				if slices.Contains(passed, check.Name) && !strings.Contains(err.Error(), "after Shutdown") {
					t.Errorf("failed before its end: %v", err)
				}
				t.Log(err)
			})
		}
	}
}

// What a shell puts around a good plugin makes it a bad one.
func TestWrappersAreSeen(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	good := languages()[0].command(t)
	for _, c := range []struct{ name, script, want string }{
		{"banner", `echo Welcome; exec "$@"`, "not 1|VERSION"},
		{"status", `"$@"; exit 3`, "exit status 3 after Shutdown"},
		{"farewell", `"$@"; echo bye`, `standard output after the handshake line: "bye\n"`},
		{"left over", `sleep 60 & exec "$@"`, "alive " + (slack * shutdownWithin).String() + " after Shutdown"},
		{"no TLS", `unset PLUGIN_CLIENT_CERT; exec "$@"`, "no server certificate"},
		{"elsewhere", `mkdir "$PLUGIN_UNIX_SOCKET_DIR/x"; PLUGIN_UNIX_SOCKET_DIR="$PLUGIN_UNIX_SOCKET_DIR/x" exec "$@"`, "is not in"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			wrapped := Command{Args: append([]string{"sh", "-c", c.script, "sh"}, good.Args...)}
			if err := endsByShutdown(t.Context(), wrapped, true); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	t.Run("no life line", func(t *testing.T) {
		wrapped := Command{Args: append([]string{"sh", "-c", `exec "$@" </dev/null`, "sh"}, good.Args...)}
		if err := endsWithStdin(t.Context(), wrapped, true); err == nil || !strings.Contains(err.Error(), "alive "+(slack*lifeWithin).String()) {
			t.Error(err)
		}
	})
}

func TestTalksAreJudged(t *testing.T) {
	retry := &mulliganv1.RunErrorResponse{Action: mulliganv1.Action_ACTION_RETRY, DelayMs: 1}
	boom := status.Error(codes.Unknown, "it went boom")
	for _, c := range []struct {
		name, talk string
		reply      *mulliganv1.RunErrorResponse
		err        error
		want       string // "" = well answered
	}{
		{"same", `{"reply":{"action":"ACTION_RETRY","delayMs":"1"}}`, retry, nil, ""},
		{"empty adjust", `{"reply":{}}`, &mulliganv1.RunErrorResponse{Adjust: &mulliganv1.Adjust{}}, nil, ""},
		{"another delay", `{"reply":{"action":"ACTION_RETRY","delayMs":"2"}}`, retry, nil, "want"},
		{"an error", `{"reply":{}}`, nil, boom, "boom"},
		{"numbered", `{"times":9,"reply":{"reason":"call #"}}`, &mulliganv1.RunErrorResponse{Reason: "call 7"}, nil, ""},
		{"wanted error", `{"error":{"codes":["INTERNAL","UNKNOWN"],"message":"boom"}}`, nil, boom, ""},
		{"another code", `{"error":{"codes":["INTERNAL"]}}`, nil, boom, "status Unknown"},
		{"another message", `{"error":{"codes":["UNKNOWN"],"message":"bang"}}`, nil, boom, "status Unknown"},
		{"a long message", `{"error":{"codes":["UNKNOWN"]}}`, nil, status.Error(codes.Unknown, strings.Repeat("x", maxError+1)), "2049 bytes"},
		{"no error", `{"error":{"codes":["UNKNOWN"]}}`, retry, nil, "want the status"},
		{"invalid", `{"noOpinion":true}`, &mulliganv1.RunErrorResponse{Action: -1}, nil, ""},
		{"no opinion by error", `{"noOpinion":true}`, nil, boom, ""},
		{"any", `{"any":true}`, retry, nil, ""},
		{"any but invalid", `{"any":true}`, &mulliganv1.RunErrorResponse{DelayMs: -1}, nil, "delay"},
		{"any but an error", `{"any":true}`, nil, boom, "boom"},
		{"an opinion", `{"noOpinion":true}`, retry, nil, "an answer that counts"},
	} {
		var talk Talk
		if err := json.Unmarshal([]byte(c.talk), &talk); err != nil {
			t.Fatal(err)
		}
		err := talk.judge(7, c.reply, c.err)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestLogsAreHeard(t *testing.T) {
	talk := Talk{Stderr: "boo", Log: json.RawMessage(`{"@message":"m","run":"r"}`)}
	at := `"@timestamp":"` + time.Now().Format(time.RFC3339Nano) + `"`
	for said, want := range map[string]bool{
		"boo\n{\"@message\":\"m\",\"run\":\"r\",\"x\":1," + at + "}\n": true,
		"{\"@message\":\"m\",\"run\":\"r\"," + at + "}\n":              false,
		"boo\n{\"@message\":\"m\",\"run\":\"q\"," + at + "}\n":         false,
		"boo\n{\"@message\":\"m\",\"run\":\"r\"}\n":                    false,
	} {
		if err := talk.heard(said); (err == nil) != want {
			t.Errorf("%s: %v", said, err)
		}
	}
}

func FuzzParseHandshake(f *testing.F) {
	for _, line := range []string{
		"1|1|unix|/s/x|grpc|\n", "1|1|unix|/s/x|grpc\n", "1|1|tcp|127.0.0.1:1|grpc|\n", "1|1|unix|/t/x|grpc|\n",
		"1|1|unix|/s/x|grpc|AAAA\n", "1|1|unix|/s/x|netrpc|\n", "2|1|unix|/s/x|grpc|\n", "1|1|unix|/s/x|grpc|", "", "\n",
	} {
		f.Add(line, false)
		f.Add(line, true)
	}
	f.Fuzz(func(t *testing.T, line string, mutualTLS bool) {
		h, err := parseHandshake(line, "/s", mutualTLS)
		if err == nil && (!strings.HasPrefix(h.socket, "/s/") || mutualTLS != (h.server != nil)) {
			t.Errorf("%q gives %+v", line, h)
		}
	})
}
