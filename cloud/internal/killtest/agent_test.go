package killtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	rackloomv1 "rackloom/cloud/api/rackloom/v1"
)

// What tells this binary that it is a manager.
const (
	agentFolder = "KILLTEST_FOLDER"
	agentDevice = "KILLTEST_DEVICE"
)

const (
	// instancesMax is what each board takes.
	instancesMax = 6
	beat         = 150 * time.Millisecond
)

// quickly is how soon a client tries again after the registry was killed.
var quickly = grpc.ConnectParams{
	Backoff:           backoff.Config{BaseDelay: 10 * time.Millisecond, Multiplier: 1.5, MaxDelay: 50 * time.Millisecond},
	MinConnectTimeout: time.Second,
}

// agent does towards the registry what a manager does. Its board is a file, which outlives it as a board does: it holds
// the accelerator that is configured.
type agent struct {
	device  string
	folder  string
	client  rackloomv1.DevicesServiceClient
	mu      sync.Mutex
	lease   uint64
	tenants *rackloomv1.TenantList
}

// held is what the agent believes, for the test to read.
type held struct {
	Revision uint64
	// Tokens are by instance.
	Tokens map[string]string
}

func heldFile(folder, device string) string {
	return filepath.Join(folder, strings.ReplaceAll(device, "/", "-")+".tenants")
}

func (a *agent) board() string {
	return filepath.Join(a.folder, strings.ReplaceAll(a.device, "/", "-")+".board")
}

func (a *agent) configured() string {
	content, err := os.ReadFile(a.board())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		violation("read the board: %v", err)
	}
	return string(content)
}

// violation ends the agent in a way that the test takes for what it is.
func violation(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, "VIOLATION: "+format+"\n", arguments...)
	os.Exit(3)
}

func runAgent() {
	a := &agent{device: os.Getenv(agentDevice), folder: os.Getenv(agentFolder)}
	connection, err := dial(a.folder)
	if err != nil {
		violation("dial: %v", err)
	}
	a.client = rackloomv1.NewDevicesServiceClient(connection)
	ctx := context.Background()
	for {
		lease, err := a.register(ctx)
		if err != nil {
			time.Sleep(20 * time.Millisecond) // The registry is away, or another life of ours still has its lease.
			continue
		}
		serving, stop := context.WithCancel(ctx)
		go a.watch(serving, lease)
		for a.beat(ctx, lease) {
			time.Sleep(beat)
		}
		stop()
	}
}

func (a *agent) register(ctx context.Context) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	response, err := a.client.RegisterDevice(ctx, &rackloomv1.RegisterDeviceRequest{
		Manager: "manager of " + a.device,
		Device: &rackloomv1.DeviceSpec{
			Id: a.device, Endpoints: []string{"tcp:127.0.0.1:1"}, Vendor: "Acme", Platform: "Card",
			Accelerator: a.configured(), InstancesMax: instancesMax,
			Reconfiguration: rackloomv1.ReconfigurationPolicy_RECONFIGURATION_POLICY_ON_REQUEST,
		},
	})
	if err != nil {
		return 0, err
	}
	a.hold(response.Lease, response.Tenants)
	return response.Lease, nil
}

// hold takes over a list, unless it is older than what is held.
func (a *agent) hold(lease uint64, list *rackloomv1.TenantList) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if lease < a.lease || lease == a.lease && list.Revision < a.tenants.Revision {
		return
	}
	a.lease, a.tenants = lease, list
	now := held{Revision: list.Revision, Tokens: map[string]string{}}
	for _, tenant := range list.Tenants {
		if tenant.Exclusive && len(list.Tenants) > 1 {
			violation("%s holds the board exclusively among %v", tenant.Instance, list)
		}
		if _, twice := now.Tokens[tenant.Instance]; twice {
			violation("%s is twice in %v", tenant.Instance, list)
		}
		now.Tokens[tenant.Instance] = tenant.Token
	}
	if len(list.Tenants) > instancesMax {
		violation("the board has %d places, and its tenants are %v", instancesMax, list)
	}
	content, err := json.Marshal(now)
	if err != nil {
		violation("%v", err)
	}
	a.replace(heldFile(a.folder, a.device), content)
}

// replace writes a file so that nobody sees half of it.
func (a *agent) replace(path string, content []byte) {
	if err := errors.Join(os.WriteFile(path+".new", content, 0o600), os.Rename(path+".new", path)); err != nil {
		violation("%v", err)
	}
}

func (a *agent) watch(ctx context.Context, lease uint64) {
	for ctx.Err() == nil {
		stream, err := a.client.WatchTenants(ctx, &rackloomv1.WatchTenantsRequest{Id: a.device, Lease: lease})
		for err == nil {
			var list *rackloomv1.TenantList
			if list, err = stream.Recv(); err == nil {
				a.hold(lease, list)
			}
		}
		if status.Code(err) == codes.FailedPrecondition {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// beat is false if the lease is gone for good.
func (a *agent) beat(ctx context.Context, lease uint64) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	a.mu.Lock()
	revision := a.tenants.Revision
	a.mu.Unlock()
	response, err := a.client.Heartbeat(ctx, &rackloomv1.HeartbeatRequest{
		Id: a.device, Lease: lease, Accelerator: a.configured(), TenantsRevision: revision,
	})
	if err != nil {
		return status.Code(err) != codes.FailedPrecondition
	}
	if response.Tenants != nil {
		a.hold(lease, response.Tenants)
	}
	if flag := response.Reconfiguration; flag != nil {
		a.reconfigure(ctx, lease, flag)
	}
	return true
}

// reconfigure loads what the board is flagged for, as if the instance had asked for it.
func (a *agent) reconfigure(ctx context.Context, lease uint64, flag *rackloomv1.Reconfiguration) {
	verdict, err := a.client.ValidateReconfiguration(ctx, &rackloomv1.ValidateReconfigurationRequest{
		Id: a.device, Lease: lease, Instance: flag.Instance, Accelerator: flag.Accelerator,
	})
	granted := rackloomv1.ReconfigurationDecision_RECONFIGURATION_DECISION_GRANTED
	if err != nil || verdict.Decision != granted {
		return
	}
	time.Sleep(20 * time.Millisecond) // It takes its time, in which anybody may be killed.
	a.replace(a.board(), []byte(flag.Accelerator))
	// If this is lost, the next heartbeat says it.
	_, _ = a.client.ReportReconfiguration(ctx, &rackloomv1.ReportReconfigurationRequest{
		Id: a.device, Lease: lease, Accelerator: flag.Accelerator,
	})
}
