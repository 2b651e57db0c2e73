package cluster

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"

	"rackloom/cloud/allocate"
	"rackloom/cloud/internal/store"
)

// unmeasured is a cluster whose boards nobody measures.
type unmeasured struct{}

func (unmeasured) Of(*Device) allocate.Metrics { return allocate.Metrics{} }

// rig is a cluster under test, which can be closed and opened again.
type rig struct {
	*Cluster
	t       *testing.T
	path    string
	options Options
}

func newRig(t *testing.T, change func(*Options)) *rig {
	options := DefaultOptions()
	if change != nil {
		change(&options)
	}
	r := &rig{t: t, path: filepath.Join(folder(t), "registry.db"), options: options}
	r.open()
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// folder is in memory where it can be: these tests make thousands of commits, and the tests of the store and of
// killed processes are about the disk.
func folder(t *testing.T) string {
	path, err := os.MkdirTemp("/dev/shm", "rackloom-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(path) })
	return path
}

func (r *rig) open() {
	r.t.Helper()
	s, err := store.Open(r.path, Upgrade)
	if err != nil {
		r.t.Fatal(err)
	}
	r.Cluster, err = Open(s, r.options, unmeasured{}, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) reopen() {
	r.t.Helper()
	if err := r.Close(); err != nil {
		r.t.Fatal(err)
	}
	r.open()
}

func spec(id, accelerator string) *Device {
	return &Device{
		ID: id, Manager: "manager-of-" + id, Endpoints: []string{"unix:/run/" + id, "tcp:10.0.0.1:7", "tls:10.0.0.1:8"}, Vendor: "Acme",
		Platform: "Card", Accelerator: accelerator, Reconfigurable: true, InstancesMax: 8,
	}
}

func (r *rig) register(device *Device) uint64 {
	r.t.Helper()
	lease, _, err := r.RegisterDevice(device)
	if err != nil {
		r.t.Fatal(err)
	}
	return lease.ID
}

func (r *rig) function(name, accelerator string) {
	r.t.Helper()
	_, err := r.RegisterFunction(&Function{Name: name, Query: allocate.Query{Accelerator: accelerator}, Weight: 1})
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) create(id, function string) View {
	r.t.Helper()
	view, err := r.CreateInstance(id, function, "")
	if err != nil {
		r.t.Fatal(err)
	}
	return view
}

func (r *rig) wantOn(id, device string) *Instance {
	r.t.Helper()
	view, err := r.GetInstance(id)
	if err != nil || view.Device != device {
		r.t.Fatalf("instance %s is on %+v, not on %s; %v", id, view, device, err)
	}
	return view.Instance
}

func (r *rig) validate(
	device string, lease uint64, instance, accelerator string, want Decision, reason string,
) Verdict {
	r.t.Helper()
	verdict, err := r.ValidateReconfiguration(device, lease, instance, accelerator)
	if err != nil || verdict.Decision != want || !strings.Contains(verdict.Reason, reason) {
		r.t.Fatalf("got %s %q, %v; want %s %q", verdict.Decision, verdict.Reason, err, want, reason)
	}
	return verdict
}

func wantCode(t *testing.T, err error, code codes.Code, text string) {
	t.Helper()
	var failed *Error
	if !errors.As(err, &failed) || failed.Code != code || !strings.Contains(err.Error(), text) {
		t.Fatalf("got %v, want %s with %q", err, code, text)
	}
}

func instancesOf(list TenantList) []string {
	var names []string
	for _, tenant := range list.Tenants {
		name := tenant.Instance.ID
		if tenant.Leaving {
			name += " leaving"
		}
		names = append(names, name)
	}
	return names
}

func TestAnAllocationSurvivesARestartAsItWas(t *testing.T) {
	r := newRig(t, nil)
	lease := r.register(spec("a/0", "sobel"))
	r.function("f", "sobel")
	given := r.create("i", "f")
	revision := r.revision
	r.reopen()
	if r.revision != revision {
		t.Fatalf("revision %d became %d", revision, r.revision)
	}
	again := r.create("i", "f")
	if again.Token != given.Token || again.Device != "a/0" || again.Generation != 1 || len(given.Token) != 64 {
		t.Fatalf("%+v became %+v", given.Instance, again.Instance)
	}
	_, err := r.CreateInstance("i", "f", "elsewhere")
	wantCode(t, err, codes.AlreadyExists, "one of function f")
	// The manager's lease is still good, and its list too if nothing has happened since.
	_, tenants, err := r.Heartbeat("a/0", lease, "sobel", 0)
	if err != nil || !slices.Equal(instancesOf(*tenants), []string{"i"}) {
		t.Fatalf("%+v, %v", tenants, err)
	}
	if _, same, err := r.Heartbeat("a/0", lease, "sobel", tenants.Revision); err != nil || same != nil {
		t.Fatalf("%+v, %v", same, err)
	}
}

func TestAManagerLearnsWhatChangedBeforeARestart(t *testing.T) {
	r := newRig(t, nil)
	lease, list, err := r.RegisterDevice(spec("a/0", ""))
	if err != nil {
		t.Fatal(err)
	}
	r.function("f", "")
	r.create("i", "f")
	r.reopen()
	_, fresh, err := r.Heartbeat("a/0", lease.ID, "", list.Revision)
	if err != nil || fresh == nil || len(fresh.Tenants) != 1 {
		t.Fatalf("the manager believes in %+v; told %+v, %v", list, fresh, err)
	}
}

func TestAProgramIsToldTheEndpointItCanReach(t *testing.T) {
	r := newRig(t, nil)
	r.register(spec("a/0", ""))
	r.function("f", "")
	near := r.create("near", "f")
	far, err := r.CreateInstance("far", "f", "b")
	if err != nil {
		t.Fatal(err)
	}
	if got := near.Environment(near.On)["RACKLOOM_MANAGERS"]; got != "unix:/run/a/0" || near.Node() != "a" {
		t.Fatalf("near: %s on %s", got, near.Node())
	}
	if got := far.Environment(far.On)["RACKLOOM_MANAGERS"]; got != "tls:10.0.0.1:8" || far.Node() != "b" {
		t.Fatalf("far: %s on %s", got, far.Node())
	}
}

func TestWhatCannotBeStoredDoesNotHappen(t *testing.T) {
	r := newRig(t, nil)
	lease := r.register(spec("a/0", ""))
	r.function("f", "")
	r.create("i", "f")
	if err := r.store.Close(); err != nil { // From now on every commit fails.
		t.Fatal(err)
	}
	_, err := r.CreateInstance("j", "f", "")
	wantCode(t, err, codes.Unavailable, "nothing has changed")
	wantCode(t, r.DeleteInstance("i"), codes.Unavailable, "nothing has changed")
	_, _, err = r.Heartbeat("a/0", lease, "other", 0)
	wantCode(t, err, codes.Unavailable, "nothing has changed")
	r.wantOn("i", "a/0")
	if _, err := r.GetInstance("j"); err == nil {
		t.Fatal("an instance exists that was not stored")
	}
	if device, _, _ := r.GetDevice("a/0"); device.Accelerator != "" {
		t.Fatal("a device changed that was not stored")
	}
	r.open()
	r.wantOn("i", "a/0")
}

func TestFunctionsWithInstancesStayWhatTheyAre(t *testing.T) {
	r := newRig(t, nil)
	lease := r.register(spec("a/0", ""))
	r.function("f", "")
	r.create("i", "f")
	wantCode(t, r.DeleteFunction("f"), codes.FailedPrecondition, "it has 1 instances")
	_, err := r.RegisterFunction(&Function{Name: "f", Exclusive: true, Weight: 1})
	wantCode(t, err, codes.FailedPrecondition, "1 instances have boards by its present query")
	before, _ := r.Tenants("a/0", lease)
	if count, err := r.RegisterFunction(&Function{Name: "f", Weight: 7}); err != nil || count != 1 {
		t.Fatalf("%d, %v", count, err)
	}
	after, _ := r.Tenants("a/0", lease)
	if after.Revision == before.Revision || after.Tenants[0].Function.Weight != 7 {
		t.Fatalf("%+v became %+v", before, after)
	}
	if _, err := r.RegisterFunction(&Function{Name: "f", Weight: 7, LongestKernelMs: 500}); err != nil {
		t.Fatal(err)
	}
	last, _ := r.Tenants("a/0", lease)
	if last.Revision == after.Revision || last.Tenants[0].Function.LongestKernelMs != 500 {
		t.Fatalf("%+v became %+v", after, last)
	}
	if err := r.DeleteInstance("i"); err != nil {
		t.Fatal(err)
	}
	wantCode(t, r.DeleteInstance("i"), codes.NotFound, "")
	if err := r.DeleteFunction("f"); err != nil {
		t.Fatal(err)
	}
	_, err = r.CreateInstance("i", "f", "")
	wantCode(t, err, codes.NotFound, "no function f")
}

func TestWatchesTellWhatHasChanged(t *testing.T) {
	r := newRig(t, nil)
	lease := r.register(spec("a/0", ""))
	r.function("f", "")
	tenants, err := r.WatchTenants("a/0")
	if err != nil {
		t.Fatal(err)
	}
	instances, err := r.WatchInstances()
	if err != nil {
		t.Fatal(err)
	}
	r.create("i", "f")
	r.create("j", "f")
	<-tenants.Wake()
	<-instances.Wake()
	if got := instances.Changed(); !slices.Equal(got, []string{"i", "j"}) || len(instances.Changed()) > 0 {
		t.Fatalf("changed: %v", got)
	}
	if err := r.DeregisterDevice("a/0", lease); err == nil || len(instances.Changed()) > 0 {
		t.Fatal("a refusal changed something")
	}
	tenants.Close()
	instances.Close()
	if r.hub.count != 0 || len(r.hub.watches) != 0 {
		t.Fatalf("watches are left: %+v", r.hub.watches)
	}
	for i := range WatchesMax + 1 {
		if _, err = r.WatchDevices(); (err != nil) != (i == WatchesMax) {
			t.Fatalf("watch %d: %v", i, err)
		}
	}
}

func TestPagesHoldEverythingOnce(t *testing.T) {
	r := newRig(t, nil)
	r.register(spec("a/0", ""))
	r.register(spec("a/1", ""))
	r.function("f", "")
	r.function("g", "")
	var want []string
	for i := range 10 {
		id := fmt.Sprintf("i%d", i)
		r.create(id, []string{"f", "g"}[i%2])
		want = append(want, id)
	}
	list := func(function, device string) (got []string) {
		for after, more := "", true; more; {
			var page []View
			page, more = r.Instances(after, 3, function, device)
			for _, view := range page {
				got = append(got, view.ID)
				after = view.ID
			}
		}
		return got
	}
	if got := list("", ""); !slices.Equal(got, want) {
		t.Fatalf("%v", got)
	}
	if got := list("g", ""); !slices.Equal(got, []string{"i1", "i3", "i5", "i7", "i9"}) {
		t.Fatalf("%v", got)
	}
	both := append(list("", "a/0"), list("", "a/1")...)
	if slices.Sort(both); !reflect.DeepEqual(both, want) {
		t.Fatalf("%v", both)
	}
}
