package server

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	rackloomv1 "rackloom/cloud/api/rackloom/v1"
	"rackloom/cloud/internal/client"
	"rackloom/cloud/internal/config"
)

// registry is one that runs in this process.
type registry struct {
	conf config.Config
	stop context.CancelFunc
	done chan error
	log  *logged
}

// logged is a log that is read while it is written.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// find is the value of a key in the log line with that message; empty while there is none.
func (l *logged) find(message, key string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		var values map[string]any
		if json.Unmarshal([]byte(line), &values) == nil && values["msg"] == message {
			return fmt.Sprint(values[key])
		}
	}
	return ""
}

func start(t *testing.T, change func(*config.Config)) *registry {
	t.Helper()
	folder, err := os.MkdirTemp("", "registry") // t.TempDir's name may be too long for a socket.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	conf := config.Default()
	conf.Store = filepath.Join(folder, "registry.db")
	conf.Listen, conf.HTTP = "unix:"+filepath.Join(folder, "socket"), "127.0.0.1:0"
	if change != nil {
		change(&conf)
	}
	r := &registry{conf: conf, done: make(chan error, 1), log: &logged{}}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	log := slog.New(slog.NewJSONHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	go func() { r.done <- Run(ctx, conf, log) }()
	t.Cleanup(stop)
	for end := time.Now().Add(20 * time.Second); r.log.find("serving", "listen") == ""; time.Sleep(time.Millisecond) {
		select {
		case err := <-r.done:
			t.Fatal(err)
		default:
		}
		if time.Now().After(end) {
			t.Fatal("it does not begin to serve")
		}
	}
	return r
}

func (r *registry) wait(t *testing.T) {
	t.Helper()
	select {
	case err := <-r.done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it does not stop")
	}
}

func (r *registry) dial(t *testing.T) *grpc.ClientConn {
	t.Helper()
	connection, err := grpc.NewClient(r.conf.Listen, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return connection
}

func (r *registry) get(t *testing.T, path string) string {
	t.Helper()
	response, err := http.Get("http://" + r.log.find("serving metrics", "http") + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", path, response.Status, err)
	}
	return string(body)
}

// command runs a command of the client against the registry.
func (r *registry) command(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	command, known := client.Find(arguments[0])
	if !known {
		t.Fatalf("no command %s", arguments[0])
	}
	var out strings.Builder
	address := r.log.find("serving", "listen")
	if strings.HasPrefix(r.conf.Listen, "unix:") {
		address = r.conf.Listen
	}
	err := client.Run(t.Context(), command, append(arguments[1:], "--registry", address), &out, io.Discard)
	return out.String(), err
}

func TestItServesAndStopsWithWatchesOpen(t *testing.T) {
	r := start(t, nil)
	connection := r.dial(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, name := range []string{"", "rackloom.v1.DevicesService", "rackloom.v1.FunctionsService"} {
		health, err := healthv1.NewHealthClient(connection).Check(ctx, &healthv1.HealthCheckRequest{Service: name})
		if err != nil || health.Status != healthv1.HealthCheckResponse_SERVING {
			t.Fatalf("%q: %v, %v", name, health, err)
		}
	}
	watch, err := rackloomv1.NewDevicesServiceClient(connection).WatchDevices(ctx, &rackloomv1.WatchDevicesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if event, err := watch.Recv(); err != nil || !event.GetSynced() {
		t.Fatalf("%v, %v", event, err)
	}
	big := &rackloomv1.GetDeviceRequest{Id: strings.Repeat("x", messageMax)}
	_, err = rackloomv1.NewDevicesServiceClient(connection).GetDevice(ctx, big)
	if status.Code(err) != codes.ResourceExhausted {
		t.Fatalf("a large message: %v", err)
	}
	if body := r.get(t, "/healthz"); body != "ok\n" {
		t.Fatal(body)
	}
	begun := time.Now()
	r.stop()
	if _, err := watch.Recv(); status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "stops") {
		t.Fatalf("%v", err)
	}
	r.wait(t)
	if took := time.Since(begun); took > stopTime {
		t.Fatalf("it took %s to stop", took)
	}
}

func TestASecondRegistryIsRefusedTheStore(t *testing.T) {
	r := start(t, nil)
	second := r.conf
	second.Listen += "2"
	err := Run(t.Context(), second, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "another registry has it open") {
		t.Fatal(err)
	}
	if _, err := r.command(t, "devices"); err != nil {
		t.Fatalf("the first one no longer serves: %v", err)
	}
}

func TestACommandDoesWhatItSays(t *testing.T) {
	r := start(t, nil)
	devices := rackloomv1.NewDevicesServiceClient(r.dial(t))
	metrics := fmt.Sprintf("http://%s/metrics", serveBoard(t))
	for _, id := range []string{"a/0", "b/0"} {
		_, err := devices.RegisterDevice(t.Context(), &rackloomv1.RegisterDeviceRequest{
			Manager: id, Device: &rackloomv1.DeviceSpec{
				Id: id, Endpoints: []string{"tcp:127.0.0.1:1"}, Platform: "Card", Accelerator: "sobel", MetricsUrl: metrics,
			},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	run := func(want string, arguments ...string) {
		t.Helper()
		out, err := r.command(t, arguments...)
		if err != nil || !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Fatalf("%v: %v\n%s\nwant %s", arguments, err, out, want)
		}
	}
	refused := func(want string, arguments ...string) {
		t.Helper()
		if out, err := r.command(t, arguments...); err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("%v: %v\n%s", arguments, err, out)
		}
	}
	run("", "function", "edges", "--accelerator", "sobel", "--weight", "3")
	run("edges <any> <any> sobel yes 3 <any> 0", "functions")
	refused("write whole milliseconds", "function", "edges", "--longest-kernel", "1500us")
	run("", "function", "edges", "--accelerator", "sobel", "--weight", "3", "--longest-kernel", "1500ms")
	run("edges <any> <any> sobel yes 3 1.5s 0", "functions")
	run("RACKLOOM_MANAGERS=tcp:127.0.0.1:1 RACKLOOM_TOKEN=", "allocate", "edges", "e1")
	run("e1 edges a a/0 allocated", "allocations")
	run("a/0 Card sobel 1/64", "devices")
	run(`"id": "e1", "function": "edges", "node": "a", "device": "a/0"`, "allocations", "--json")
	run("e1 a/0 b/0", "drain", "--move", "a/0")
	run("e1 edges a a/0 to b/0", "allocations")
	run("online,draining", "devices")
	run("", "undrain", "a/0")
	refused("it has 1 instances", "unfunction", "edges")
	refused("1 instances are allocated on it", "forget", "b/0")
	run("", "free", "e1")
	refused("not found", "free", "e1")
	run("", "unfunction", "edges")
	run("", "forget", "b/0")
	refused("takes 1 arguments", "forget")
	refused("no such file", "devices", "--token-file", "/nowhere")
	exposed := r.get(t, "/metrics")
	for _, line := range []string{
		`rackloom_registry_devices{state="online"} 1`, `rackloom_registry_allocations_total{result="allocated"} 1`,
		`rackloom_registry_calls_total{code="NotFound",method="/rackloom.v1.FunctionsService/DeleteInstance"} 1`,
	} {
		if !strings.Contains(exposed, line) {
			t.Errorf("no %s in\n%s", line, exposed)
		}
	}
}

// serveBoard serves the metrics of a busy board, and returns the address.
func serveBoard(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "rackloom_board_queue_depth{board=\"0\"} 5\n")
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return listener.Addr().String()
}

func TestManagersAreMeasured(t *testing.T) {
	r := start(t, func(c *config.Config) {
		c.Metrics.Interval, c.Metrics.Window = config.Duration(100*time.Millisecond), config.Duration(time.Second)
	})
	devices := rackloomv1.NewDevicesServiceClient(r.dial(t))
	_, err := devices.RegisterDevice(t.Context(), &rackloomv1.RegisterDeviceRequest{
		Manager: "m", Device: &rackloomv1.DeviceSpec{
			Id: "a/0", Endpoints: []string{"tcp:127.0.0.1:1"}, MetricsUrl: "http://" + serveBoard(t) + "/metrics",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		device, err := devices.GetDevice(t.Context(), &rackloomv1.GetDeviceRequest{Id: "a/0"})
		if err != nil {
			t.Fatal(err)
		}
		if device.Metrics.GetQueueDepth() == 5 && device.Metrics.Utilisation == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%v", device)
		}
	}
}

// authority signs certificates of a test.
type authority struct {
	folder string
	cert   *x509.Certificate
	key    *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	a := &authority{folder: t.TempDir()}
	a.cert, a.key = a.issue(t, "ca", nil, nil)
	return a
}

// issue writes NAME.pem and NAME.key, signed by the parent or, without one, by itself.
func (a *authority) issue(t *testing.T, name string, parent *x509.Certificate, signer *ecdsa.PrivateKey) (
	*x509.Certificate, *ecdsa.PrivateKey,
) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: parent == nil,
		BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	a.write(t, name+".pem", "CERTIFICATE", der)
	a.write(t, name+".key", "EC PRIVATE KEY", secret)
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

func (a *authority) path(name string) string { return filepath.Join(a.folder, name) }

func (a *authority) write(t *testing.T, name, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(a.path(name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestStrangersAreKeptOut(t *testing.T) {
	ours, others := newAuthority(t), newAuthority(t)
	ours.issue(t, "server", ours.cert, ours.key)
	ours.issue(t, "client", ours.cert, ours.key)
	ours.issue(t, "named", ours.cert, ours.key)
	others.issue(t, "client", others.cert, others.key)
	tokens, token := ours.path("tokens"), ours.path("token")
	for path, text := range map[string]string{tokens: "viewer 0123456789abcdef\nviewer cert:named\n", token: "0123456789abcdef\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := start(t, func(c *config.Config) {
		c.Listen, c.Tokens = "127.0.0.1:0", tokens
		c.TLS = config.TLS{Cert: ours.path("server.pem"), Key: ours.path("server.key"), ClientCA: ours.path("ca.pem")}
	})
	call := func(arguments ...string) error {
		_, err := r.command(t, append([]string{"devices"}, arguments...)...)
		return err
	}
	ca := []string{"--tls-ca", ours.path("ca.pem")}
	cert := append(ca, "--tls-cert", ours.path("client.pem"), "--tls-key", ours.path("client.key"))
	if err := call(append(cert, "--token-file", token)...); err != nil {
		t.Fatal(err)
	}
	if err := call(append(ca, "--tls-cert", ours.path("named.pem"), "--tls-key", ours.path("named.key"))...); err != nil {
		t.Fatalf("a certificate of a known name: %v", err)
	}
	for name, refused := range map[string]error{
		"plain":          call(),
		"no certificate": call(append(ca, "--token-file", token)...),
		"no token":       call(cert...),
		"another authority's": call("--tls-ca", others.path("ca.pem"), "--tls-cert", ours.path("client.pem"),
			"--tls-key", ours.path("client.key"), "--token-file", token),
		"a stranger's certificate": call(append(ca, "--tls-cert", others.path("client.pem"),
			"--tls-key", others.path("client.key"), "--token-file", token)...),
	} {
		if refused == nil {
			t.Errorf("%s was let in", name)
		}
	}
	if _, err := r.command(t, append([]string{"free", "x", "--token-file", token}, cert...)...); status.Code(err) !=
		codes.PermissionDenied {
		t.Errorf("a viewer freed an instance: %v", err)
	}
}
