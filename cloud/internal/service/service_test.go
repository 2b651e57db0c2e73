package service

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"rackloom/cloud/allocate"
	rackloomv1 "rackloom/cloud/api/rackloom/v1"
	"rackloom/cloud/internal/cluster"
	"rackloom/cloud/internal/store"
)

const tokens = `# Who may what.
manager      manager-token-0000000 a
orchestrator orchestrator-token-00
viewer       viewer-token-00000000
admin        admin-token-000000000
`

type halfBusy struct{}

func (halfBusy) Of(*cluster.Device) allocate.Metrics {
	return allocate.Metrics{Utilisation: allocate.Known(0.5)}
}

// clients are those of a registry in this process.
type clients struct {
	devices   rackloomv1.DevicesServiceClient
	functions rackloomv1.FunctionsServiceClient
}

func start(t *testing.T) clients {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(file, []byte(tokens), 0o600); err != nil {
		t.Fatal(err)
	}
	return startWith(t, file)
}

// startWith has its tokens in a file that the test may change.
func startWith(t *testing.T, file string) clients {
	t.Helper()
	s, err := store.Open(filepath.Join(t.TempDir(), "registry.db"), cluster.Upgrade)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	c, err := cluster.Open(s, cluster.DefaultOptions(), halfBusy{}, prometheus.NewRegistry(), log)
	if err != nil {
		t.Fatal(err)
	}
	auth, err := NewAuth(file)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go auth.Run(ctx, log)
	server := grpc.NewServer(grpc.UnaryInterceptor(auth.Unary), grpc.StreamInterceptor(auth.Stream))
	rackloomv1.RegisterDevicesServiceServer(server, &Devices{Cluster: c, Metrics: halfBusy{}})
	rackloomv1.RegisterFunctionsServiceServer(server, &Functions{Cluster: c})
	listener := bufconn.Listen(1 << 20)
	go func() { _ = server.Serve(listener) }()
	connection, err := grpc.NewClient("passthrough:///registry", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = connection.Close()
		server.Stop()
		_ = c.Close()
	})
	return clients{rackloomv1.NewDevicesServiceClient(connection), rackloomv1.NewFunctionsServiceClient(connection)}
}

func as(t *testing.T, role string) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	token := "of-a-stranger-0000000"
	for line := range strings.Lines(tokens) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == role {
			token = fields[1]
		}
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
}

func wantCode(t *testing.T, err error, code codes.Code, text string) {
	t.Helper()
	if status.Code(err) != code || !strings.Contains(status.Convert(err).Message(), text) {
		t.Fatalf("got %v, want %s with %q", err, code, text)
	}
}

func must[T any](t *testing.T) func(value T, err error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func registration(id string) *rackloomv1.RegisterDeviceRequest {
	return &rackloomv1.RegisterDeviceRequest{Manager: "m-" + id, Device: &rackloomv1.DeviceSpec{
		Id: id, Endpoints: []string{"unix:/run/rackloom/manager.sock", "tls:[::1]:7#sha256:" + strings.Repeat("a5", 32)}, Vendor: "Acme", Platform: "Card",
		Accelerator: "sobel", Reconfiguration: rackloomv1.ReconfigurationPolicy_RECONFIGURATION_POLICY_ON_REQUEST,
	}}
}

func TestAFunctionGetsABoardAndItsManagerHearsOfIt(t *testing.T) {
	c := start(t)
	manager, orchestrator, viewer := as(t, "manager"), as(t, "orchestrator"), as(t, "viewer")
	lease := must[*rackloomv1.RegisterDeviceResponse](t)(c.devices.RegisterDevice(manager, registration("a/0")))
	if lease.LeaseMs != 15000 || lease.Tenants.Revision == 0 {
		t.Fatalf("%v", lease)
	}
	watch, err := c.devices.WatchTenants(manager, &rackloomv1.WatchTenantsRequest{Id: "a/0", Lease: lease.Lease})
	if err != nil {
		t.Fatal(err)
	}
	if first := must[*rackloomv1.TenantList](t)(watch.Recv()); len(first.Tenants) != 0 {
		t.Fatalf("%v", first)
	}
	function := &rackloomv1.Function{Name: "edges", Query: &rackloomv1.DeviceQuery{Accelerator: "sobel"}}
	must[*rackloomv1.Function](t)(c.functions.RegisterFunction(
		orchestrator, &rackloomv1.RegisterFunctionRequest{Function: function}))
	instance := must[*rackloomv1.Instance](t)(c.functions.CreateInstance(
		orchestrator, &rackloomv1.CreateInstanceRequest{Id: "edges-1", Function: "edges"}))
	token := instance.Environment["RACKLOOM_TOKEN"]
	if instance.Device != "a/0" || instance.Node != "a" || len(token) != 64 ||
		instance.Environment["RACKLOOM_MANAGERS"] != "unix:/run/rackloom/manager.sock" {
		t.Fatalf("%v", instance)
	}
	second := must[*rackloomv1.TenantList](t)(watch.Recv())
	if len(second.Tenants) != 1 || second.Tenants[0].Token != token || second.Tenants[0].Accelerator != "sobel" {
		t.Fatalf("%v", second)
	}
	// A viewer sees all but the token.
	seen := must[*rackloomv1.Instance](t)(c.functions.GetInstance(viewer, &rackloomv1.GetInstanceRequest{Id: "edges-1"}))
	if seen.Device != "a/0" || len(seen.Environment) != 0 {
		t.Fatalf("%v", seen)
	}
	_, err = c.functions.ListInstances(viewer, &rackloomv1.ListInstancesRequest{Environment: true})
	wantCode(t, err, codes.PermissionDenied, "environments hold tokens")
	device := must[*rackloomv1.Device](t)(c.devices.GetDevice(viewer, &rackloomv1.GetDeviceRequest{Id: "a/0"}))
	if device.Instances != 1 || device.Metrics.GetUtilisation() != 0.5 || device.Metrics.QueueDepth != nil {
		t.Fatalf("%v", device)
	}
	// A second lease ends the watch of the first.
	if _, err := c.devices.RegisterDevice(manager, registration("a/0")); err != nil {
		t.Fatal(err)
	}
	_, err = watch.Recv()
	wantCode(t, err, codes.FailedPrecondition, "superseded")
}

func TestWatchesBeginWithEverything(t *testing.T) {
	c := start(t)
	manager, orchestrator := as(t, "manager"), as(t, "orchestrator")
	for i := range 3 {
		must[*rackloomv1.RegisterDeviceResponse](t)(c.devices.RegisterDevice(manager, registration(fmt.Sprintf("a/%d", i))))
	}
	for _, name := range []string{"f", "g"} {
		function := &rackloomv1.Function{Name: name}
		must[*rackloomv1.Function](t)(c.functions.RegisterFunction(
			orchestrator, &rackloomv1.RegisterFunctionRequest{Function: function}))
	}
	create := func(id, function string) {
		t.Helper()
		request := &rackloomv1.CreateInstanceRequest{Id: id, Function: function}
		must[*rackloomv1.Instance](t)(c.functions.CreateInstance(orchestrator, request))
	}
	create("f1", "f")
	create("g1", "g")
	devices, err := c.devices.WatchDevices(as(t, "viewer"), &rackloomv1.WatchDevicesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		event := must[*rackloomv1.DeviceEvent](t)(devices.Recv())
		if event.GetChanged().GetSpec().GetId() != fmt.Sprintf("a/%d", i) {
			t.Fatalf("%v", event)
		}
	}
	if event := must[*rackloomv1.DeviceEvent](t)(devices.Recv()); !event.GetSynced() {
		t.Fatalf("%v", event)
	}
	instances, err := c.functions.WatchInstances(orchestrator, &rackloomv1.WatchInstancesRequest{Function: "f"})
	if err != nil {
		t.Fatal(err)
	}
	next := func() string {
		t.Helper()
		event := must[*rackloomv1.InstanceEvent](t)(instances.Recv())
		changed := event.GetChanged()
		return fmt.Sprint(changed.GetId(), " ", event.GetDeleted(), " ", event.GetSynced(), " ", len(changed.GetEnvironment()))
	}
	if got := next() + "," + next(); got != "f1  false 2,  true 0" {
		t.Fatalf("%q", got)
	}
	create("g2", "g")
	if _, err := c.functions.DeleteInstance(orchestrator, &rackloomv1.DeleteInstanceRequest{Id: "g1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.functions.DeleteInstance(orchestrator, &rackloomv1.DeleteInstanceRequest{Id: "f1"}); err != nil {
		t.Fatal(err)
	}
	if got := next(); got != " f1 false 0" {
		t.Fatalf("%q", got)
	}
	if _, err := c.functions.DeleteInstance(orchestrator, &rackloomv1.DeleteInstanceRequest{Id: "g2"}); err != nil {
		t.Fatal(err)
	}
	drained := &rackloomv1.DrainDeviceRequest{Id: "a/2", Drain: true}
	if _, err := c.devices.DrainDevice(as(t, "admin"), drained); err != nil {
		t.Fatal(err)
	}
	if event := must[*rackloomv1.DeviceEvent](t)(devices.Recv()); !event.GetChanged().GetDraining() {
		t.Fatalf("%v", event)
	}
	if _, err := c.devices.DeregisterDevice(as(t, "admin"), &rackloomv1.DeregisterDeviceRequest{Id: "a/2"}); err != nil {
		t.Fatal(err)
	}
	if event := must[*rackloomv1.DeviceEvent](t)(devices.Recv()); event.GetDeleted() != "a/2" {
		t.Fatalf("%v", event)
	}
}

func TestWhoMayWhat(t *testing.T) {
	c := start(t)
	calls := map[string]func(context.Context) error{
		"manager": func(ctx context.Context) error {
			_, err := c.devices.Heartbeat(ctx, &rackloomv1.HeartbeatRequest{Id: "a/0"})
			return err
		},
		"orchestrator": func(ctx context.Context) error {
			_, err := c.functions.DeleteInstance(ctx, &rackloomv1.DeleteInstanceRequest{Id: "i"})
			return err
		},
		"admin": func(ctx context.Context) error {
			_, err := c.devices.DrainDevice(ctx, &rackloomv1.DrainDeviceRequest{Id: "a/0"})
			return err
		},
		"viewer": func(ctx context.Context) error {
			watch, err := c.devices.WatchDevices(ctx, &rackloomv1.WatchDevicesRequest{})
			if err == nil {
				_, err = watch.Recv()
			}
			return err
		},
	}
	for needed, call := range calls {
		for _, role := range []string{"viewer", "manager", "orchestrator", "admin"} {
			err := call(as(t, role))
			denied := status.Code(err) == codes.PermissionDenied
			if allowed := role == needed || role == "admin" || needed == "viewer"; allowed == denied {
				t.Errorf("a %s does what a %s may: %v", role, needed, err)
			}
		}
		wantCode(t, call(t.Context()), codes.Unauthenticated, "there is no token")
		wantCode(t, call(as(t, "stranger")), codes.Unauthenticated, "the token is not known")
	}
	_, err := c.devices.DeregisterDevice(as(t, "manager"), &rackloomv1.DeregisterDeviceRequest{Id: "a/0"})
	wantCode(t, err, codes.InvalidArgument, "there is no lease")
}

// TestEveryMethodHasItsRole finds a method that was added and forgotten in the table of roles.
func TestEveryMethodHasItsRole(t *testing.T) {
	server := grpc.NewServer()
	rackloomv1.RegisterDevicesServiceServer(server, &Devices{})
	rackloomv1.RegisterFunctionsServiceServer(server, &Functions{})
	healthv1.RegisterHealthServer(server, health.NewServer())
	count := 0
	for service, info := range server.GetServiceInfo() {
		for _, method := range info.Methods {
			if Open("/" + service + "/" + method.Name) {
				continue
			}
			count++
			if _, known := needs["/"+service+"/"+method.Name]; !known {
				t.Errorf("%s of %s has no role", method.Name, service)
			}
		}
	}
	if count != len(needs) {
		t.Errorf("%d methods and %d roles", count, len(needs))
	}
}

func TestBadRequestsAreRefused(t *testing.T) {
	c := start(t)
	ctx := as(t, "admin")
	long, many := strings.Repeat("x", 300), make([]string, 65)
	for i := range many {
		many[i] = "x"
	}
	device := func(want string, change func(*rackloomv1.RegisterDeviceRequest)) {
		t.Helper()
		request := registration("a/0")
		change(request)
		_, err := c.devices.RegisterDevice(ctx, request)
		wantCode(t, err, codes.InvalidArgument, want)
	}
	for _, id := range []string{"", "a", "a/", "/b", "A/b", "a/b/c", "a/" + strings.Repeat("b", 64), "a/b\n", "a b/c"} {
		device("is no id of a device", func(r *rackloomv1.RegisterDeviceRequest) { r.Device.Id = id })
	}
	pin := "#sha256:" + strings.Repeat("a5", 32)
	for _, endpoint := range []string{
		"", "x", "unix:", "unix:rel", "tcp:a", "tcp:a:", "unix:/a,tcp:b:1", "tls:a", "tls:a:", "tls:a:1#", "tls:a:1#sha256:a5",
		"tls:a:1#" + strings.Repeat("a5", 32), "tls:a:1" + pin + "a5", "tcp:a:1" + pin, "tls:a:1" + pin + ",tcp:b:1",
	} {
		device("invalid endpoint", func(r *rackloomv1.RegisterDeviceRequest) { r.Device.Endpoints = []string{endpoint} })
	}
	device("0 endpoints", func(r *rackloomv1.RegisterDeviceRequest) { r.Device.Endpoints = nil })
	device("9 endpoints", func(r *rackloomv1.RegisterDeviceRequest) {
		r.Device.Endpoints = strings.Split(strings.Repeat("tcp:a:1 ", 8)+"tcp:a:1", " ")
	})
	device("\"\" is no id of a device", func(r *rackloomv1.RegisterDeviceRequest) { r.Device = nil })
	device("manager is empty", func(r *rackloomv1.RegisterDeviceRequest) { r.Manager = "" })
	device("vendor has 300 bytes", func(r *rackloomv1.RegisterDeviceRequest) { r.Device.Vendor = long })
	device("control characters", func(r *rackloomv1.RegisterDeviceRequest) { r.Device.Accelerator = "a\x1b[31m" })
	device("65 capabilities", func(r *rackloomv1.RegisterDeviceRequest) { r.Device.Capabilities = many })
	device("loadable has an empty name", func(r *rackloomv1.RegisterDeviceRequest) { r.Device.Loadable = []string{""} })
	device("instances_max is 5000", func(r *rackloomv1.RegisterDeviceRequest) { r.Device.InstancesMax = 5000 })
	device("memory_bytes is", func(r *rackloomv1.RegisterDeviceRequest) { r.Device.MemoryBytes = 1 << 60 })
	device("policy 7 is unknown", func(r *rackloomv1.RegisterDeviceRequest) { r.Device.Reconfiguration = 7 })
	for _, url := range []string{"x", "https://a/metrics", "http:///metrics", "http://[::1/"} {
		device("is no URL of metrics", func(r *rackloomv1.RegisterDeviceRequest) { r.Device.MetricsUrl = url })
	}
	for _, name := range []string{"", "-a", "a-", "A", "a/b", strings.Repeat("a", 254)} {
		_, err := c.functions.RegisterFunction(ctx, &rackloomv1.RegisterFunctionRequest{
			Function: &rackloomv1.Function{Name: name},
		})
		wantCode(t, err, codes.InvalidArgument, "is no name")
	}
	_, err := c.functions.RegisterFunction(ctx, &rackloomv1.RegisterFunctionRequest{
		Function: &rackloomv1.Function{Name: "f", Weight: 1001},
	})
	wantCode(t, err, codes.InvalidArgument, "weight is 1001")
	_, err = c.functions.RegisterFunction(ctx, &rackloomv1.RegisterFunctionRequest{
		Function: &rackloomv1.Function{Name: "f", LongestKernelMs: 86_400_001},
	})
	wantCode(t, err, codes.InvalidArgument, "longest_kernel_ms is 86400001")
	_, err = c.functions.CreateInstance(ctx, &rackloomv1.CreateInstanceRequest{Id: "i", Function: "f", Node: "a/b"})
	wantCode(t, err, codes.InvalidArgument, "node \"a/b\" is no name")
	_, err = c.devices.ListDevices(ctx, &rackloomv1.ListDevicesRequest{PageSize: 101})
	wantCode(t, err, codes.InvalidArgument, "page_size is 101")
	_, err = c.devices.DrainDevice(ctx, &rackloomv1.DrainDeviceRequest{Id: "a/0", Move: true})
	wantCode(t, err, codes.InvalidArgument, "move is set")
	_, err = c.devices.ValidateReconfiguration(ctx, &rackloomv1.ValidateReconfigurationRequest{Id: "a/0", Instance: "i"})
	wantCode(t, err, codes.InvalidArgument, "accelerator is empty")
	_, err = c.devices.ReportReconfiguration(ctx, &rackloomv1.ReportReconfigurationRequest{
		Id: "a/0", Error: strings.Repeat(long, 4),
	})
	wantCode(t, err, codes.InvalidArgument, "error has 1200 bytes")
}

func TestPagesOfLists(t *testing.T) {
	c := start(t)
	ctx := as(t, "admin")
	for i := range 5 {
		must[*rackloomv1.RegisterDeviceResponse](t)(c.devices.RegisterDevice(ctx, registration(fmt.Sprintf("a/%d", i))))
		function := &rackloomv1.Function{Name: fmt.Sprintf("f%d", i)}
		must[*rackloomv1.Function](t)(c.functions.RegisterFunction(
			ctx, &rackloomv1.RegisterFunctionRequest{Function: function}))
	}
	var devices, functions []string
	for token := ""; ; {
		page := must[*rackloomv1.ListDevicesResponse](t)(c.devices.ListDevices(
			ctx, &rackloomv1.ListDevicesRequest{PageSize: 2, PageToken: token}))
		for _, device := range page.Devices {
			devices = append(devices, device.Spec.Id)
		}
		if token = page.NextPageToken; token == "" {
			break
		}
	}
	for token := ""; ; {
		page := must[*rackloomv1.ListFunctionsResponse](t)(c.functions.ListFunctions(
			ctx, &rackloomv1.ListFunctionsRequest{PageSize: 5, PageToken: token}))
		for _, function := range page.Functions {
			functions = append(functions, function.Name)
		}
		if token = page.NextPageToken; token == "" {
			break
		}
	}
	if got := fmt.Sprint(devices, functions); got != "[a/0 a/1 a/2 a/3 a/4] [f0 f1 f2 f3 f4]" {
		t.Fatal(got)
	}
}

func TestAWatchThatIsLeftEnds(t *testing.T) {
	c := start(t)
	ctx, cancel := context.WithCancel(as(t, "viewer"))
	watch, err := c.functions.WatchInstances(ctx, &rackloomv1.WatchInstancesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	must[*rackloomv1.InstanceEvent](t)(watch.Recv())
	cancel()
	if _, err := watch.Recv(); status.Code(err) != codes.Canceled && err != io.EOF {
		t.Fatalf("%v", err)
	}
}
