package attend

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	rackloomv1 "rackloom/cloud/api/rackloom/v1"
	"rackloom/cloud/internal/config"
	"rackloom/cloud/internal/server"
)

// registry runs one on a folder until the returned function is called.
func registry(t *testing.T, folder string) (stop func()) {
	t.Helper()
	conf := config.Default()
	conf.Listen, conf.HTTP = "unix:"+filepath.Join(folder, "socket"), ""
	conf.Store = filepath.Join(folder, "registry.db")
	conf.Leases.Lease = config.Duration(300 * time.Millisecond)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx, conf, slog.New(slog.DiscardHandler)) }()
	return func() {
		t.Helper()
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
}

// eventually waits for what has to come true.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it does not come true: %s", what)
		}
	}
}

func TestABoardIsAttendedTo(t *testing.T) {
	folder, err := os.MkdirTemp("", "attend") // t.TempDir's name may be too long for a socket.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	stop := registry(t, folder)
	connection, err := grpc.NewClient("unix:"+filepath.Join(folder, "socket"),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{
			BaseDelay: 10 * time.Millisecond, Multiplier: 1, MaxDelay: 10 * time.Millisecond,
		}}))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	devices, functions := rackloomv1.NewDevicesServiceClient(connection), rackloomv1.NewFunctionsServiceClient(connection)
	tokens := filepath.Join(folder, "tokens")
	var dead atomic.Bool
	attendant := &Attendant{
		Client: devices, Manager: "m", Tokens: tokens, Log: slog.New(slog.DiscardHandler),
		Device: &rackloomv1.DeviceSpec{Id: "a/0", Endpoints: []string{"unix:/run/manager.sock"}},
		Alive: func(context.Context) error {
			if dead.Load() {
				return errors.New("dead")
			}
			return nil
		},
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- attendant.Run(ctx) }()
	state := func() rackloomv1.DeviceState {
		device, err := devices.GetDevice(t.Context(), &rackloomv1.GetDeviceRequest{Id: "a/0"})
		if err != nil {
			return rackloomv1.DeviceState_DEVICE_STATE_UNSPECIFIED
		}
		return device.State
	}
	isOnline := func() bool { return state() == rackloomv1.DeviceState_DEVICE_STATE_ONLINE }
	eventually(t, "registered", isOnline)
	create := func(id string) string {
		t.Helper()
		request := &rackloomv1.RegisterFunctionRequest{Function: &rackloomv1.Function{Name: "f", Weight: 3}}
		if _, err := functions.RegisterFunction(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		instance, err := functions.CreateInstance(t.Context(), &rackloomv1.CreateInstanceRequest{Id: id, Function: "f"})
		if err != nil {
			t.Fatal(err)
		}
		return instance.Environment["RACKLOOM_TOKEN"]
	}
	admits := func(token string) bool {
		content, err := os.ReadFile(tokens)
		return err == nil && strings.Contains(string(content), "\n"+token+" name=")
	}
	first := create("i1")
	eventually(t, "the token is there", func() bool { return admits(first) })
	content, err := os.ReadFile(tokens)
	if line := "\n" + first + " name=i1 weight=3\n"; err != nil || !strings.Contains(string(content), line) {
		t.Fatalf("%v: %s", err, content)
	}
	if info, err := os.Stat(tokens); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}

	// A manager that does not serve loses the board, and has it back.
	dead.Store(true)
	eventually(t, "lost", func() bool { return state() == rackloomv1.DeviceState_DEVICE_STATE_LOST })
	dead.Store(false)
	eventually(t, "online again", isOnline)

	// The registry restarts, and forgets nobody; what changed is told.
	stop()
	stop = registry(t, folder)
	eventually(t, "online after a restart", isOnline)
	second := create("i2")
	eventually(t, "the second token is there", func() bool { return admits(first) && admits(second) })
	if _, err := functions.DeleteInstance(t.Context(), &rackloomv1.DeleteInstanceRequest{Id: "i1"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the first token is gone", func() bool { return !admits(first) && admits(second) })

	// Superseded, it registers again.
	if _, err := devices.RegisterDevice(t.Context(), &rackloomv1.RegisterDeviceRequest{
		Manager: "m", Device: attendant.Device,
	}); err != nil {
		t.Fatal(err)
	}
	third := create("i3")
	eventually(t, "the third token is there", func() bool { return admits(third) })
	cancel()
	if err := <-ended; err != nil || !admits(third) {
		t.Fatalf("%v", err)
	}
	stop()
}

func TestARefusalForGoodIsAnError(t *testing.T) {
	folder := t.TempDir()
	stop := registry(t, folder)
	defer stop()
	connection, err := grpc.NewClient("unix:"+filepath.Join(folder, "socket"),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	attendant := &Attendant{
		Client: rackloomv1.NewDevicesServiceClient(connection), Manager: "m", Log: slog.New(slog.DiscardHandler),
		Device: &rackloomv1.DeviceSpec{Id: "no id"}, Alive: func(context.Context) error { return nil },
	}
	if err := attendant.Run(t.Context()); status.Code(err) != codes.InvalidArgument {
		t.Fatalf("%v", err)
	}
}

func TestProbesTellTheLivingFromTheDead(t *testing.T) {
	good := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	bad := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }))
	defer bad.Close()
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	for name, probe := range map[string]struct {
		metrics, endpoint string
		alive             bool
	}{
		"metrics":           {good.URL, "unix:/nowhere", true},
		"failing metrics":   {bad.URL, "unix:" + socket, false},
		"socket":            {"", "unix:" + socket, true},
		"no socket":         {"", "unix:/nowhere", false},
		"network":           {"", "tcp:" + good.Listener.Addr().String(), true},
		"nobody listens":    {"", "tcp:127.0.0.1:1", false},
		"no metrics at all": {"http://127.0.0.1:1/metrics", "unix:" + socket, false},
	} {
		if err := Probe(probe.metrics, probe.endpoint)(t.Context()); (err == nil) != probe.alive {
			t.Errorf("%s: %v", name, err)
		}
	}
	good.Close()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
}
