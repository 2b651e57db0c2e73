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
	"testing/synctest"
	"time"

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
	s, err := store.Open(r.path)
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
		ID: id, Manager: "manager-of-" + id, Endpoints: []string{"unix:/run/" + id, "tcp:10.0.0.1:7"}, Vendor: "Acme",
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
	if got := far.Environment(far.On)["RACKLOOM_MANAGERS"]; got != "tcp:10.0.0.1:7" || far.Node() != "b" {
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

func TestLeasesOfManagers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		first := r.register(spec("a/0", ""))
		r.function("f", "")
		r.create("i", "f")
		// Another manager cannot have it while the first lives; the first one restarted can.
		other := spec("a/0", "")
		other.Manager = "other"
		_, _, err := r.RegisterDevice(other)
		wantCode(t, err, codes.AlreadyExists, "manager-of-a/0 has it")
		second := r.register(spec("a/0", ""))
		if first == second {
			t.Fatal("two leases are the same")
		}
		_, _, err = r.Heartbeat("a/0", first, "", 0)
		wantCode(t, err, codes.FailedPrecondition, "superseded")
		_, err = r.Tenants("a/0", first)
		wantCode(t, err, codes.FailedPrecondition, "superseded")

		// Silence loses the board, and not the allocation.
		time.Sleep(r.options.Lease + time.Second)
		r.Sweep(time.Now())
		view, _ := r.GetInstance("i")
		if view.Device != "a/0" || view.On.LostSince.IsZero() {
			t.Fatalf("after the lease: %+v on %+v", view.Instance, view.On)
		}
		_, err = r.CreateInstance("j", "f", "")
		wantCode(t, err, codes.ResourceExhausted, "1 lost")
		// It is lost for good only when somebody says so.
		time.Sleep(24 * time.Hour)
		r.reopen()
		r.Sweep(time.Now())
		r.wantOn("i", "a/0")

		// The same manager is back with the next heartbeat, and no other needs to wait for it.
		if _, _, err := r.Heartbeat("a/0", second, "", 0); err != nil {
			t.Fatal(err)
		}
		r.create("j", "f")
		time.Sleep(r.options.Lease + time.Second)
		r.Sweep(time.Now())
		r.register(other)
		if list, err := r.Tenants("a/0", r.devices.get("a/0").Lease); err != nil || len(list.Tenants) != 2 {
			t.Fatalf("%+v, %v", list, err)
		}
		// Another kind of board is not the board that was allocated.
		kind := *other
		kind.Vendor = "Other"
		_, _, err = r.RegisterDevice(&kind)
		wantCode(t, err, codes.FailedPrecondition, "2 instances are allocated on it as a Acme Card")
	})
}

func TestARestartOfTheRegistryIsNoSilenceOfManagers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.LostGrace = time.Minute })
		lease := r.register(spec("a/0", ""))
		lost := r.register(spec("b/0", ""))
		r.function("f", "")
		r.create("i", "f")
		r.wantOn("i", "a/0")
		time.Sleep(r.options.Lease / 2)
		if _, _, err := r.Heartbeat("b/0", lost, "", 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(r.options.Lease * 2 / 3)
		r.Sweep(time.Now()) // a/0 is lost, and b/0 is not.
		time.Sleep(time.Hour)
		r.reopen()
		r.Sweep(time.Now())
		if device, _, _ := r.GetDevice("b/0"); !device.LostSince.IsZero() {
			t.Fatal("a manager had no time to come back")
		}
		r.wantOn("i", "a/0") // Though the grace is long over: its manager may be about to come back.
		if _, _, err := r.Heartbeat("a/0", lease, "", 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(r.options.Lease / 2)
		r.Sweep(time.Now())
		r.wantOn("i", "a/0")
	})
}

func TestTheGraceRuleMovesWhatALostBoardHad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.LostGrace = time.Minute })
		lost := r.register(spec("a/0", "sobel"))
		r.function("f", "sobel")
		r.function("g", "")
		token := r.create("i", "f").Token
		r.create("j", "g")
		alive := r.register(spec("b/0", "mm"))
		for range 12 {
			time.Sleep(10 * time.Second)
			if _, _, err := r.Heartbeat("b/0", alive, "mm", 0); err != nil {
				t.Fatal(err)
			}
			r.Sweep(time.Now())
		}
		moved := r.wantOn("j", "b/0")
		if moved.Generation != 2 || moved.Move != nil {
			t.Fatalf("moved as %+v", moved)
		}
		r.wantOn("i", "a/0") // Nobody else has its accelerator.
		_, tenants, err := r.Heartbeat("a/0", lost, "sobel", 0)
		if err != nil || !slices.Equal(instancesOf(*tenants), []string{"i"}) || tenants.Tenants[0].Instance.Token != token {
			t.Fatalf("the board came back to %+v, %v", tenants, err)
		}
	})
}

func TestANetworkThatFailsTakesManyBoardsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const boards = 100
		r := newRig(t, func(o *Options) { o.LostGrace = time.Minute })
		r.function("f", "")
		for i := range boards {
			r.register(spec(fmt.Sprintf("n%02d/0", i), ""))
		}
		for i := range boards {
			r.create(fmt.Sprintf("i%02d", i), "f")
		}
		before := r.revision
		time.Sleep(r.options.Lease + r.options.LostGrace + time.Second)
		r.Sweep(time.Now())
		if r.revision != before+1 || len(r.leases) != 0 {
			t.Fatalf("%d commits, %d leases are left", r.revision-before, len(r.leases))
		}
		time.Sleep(r.options.LostGrace + time.Second)
		for range 3 * boards / evacuationsMax {
			r.Sweep(time.Now())
		}
		if r.revision != before+1 || len(r.rescued) != boards {
			t.Fatalf("%d commits, %d of %d boards were looked after", r.revision-before, len(r.rescued), boards)
		}
		// One with room for all comes back: everybody's turn comes.
		back := spec("n00/0", "")
		back.InstancesMax = boards
		lease := r.register(back)
		for range 3 * boards / evacuationsMax {
			r.Sweep(time.Now())
		}
		if list, err := r.Tenants("n00/0", lease); err != nil || len(list.Tenants) != boards {
			t.Fatalf("%d instances came to the board, %v", len(list.Tenants), err)
		}
	})
}

func TestDrainingMovesWithTimeToLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.Lease = time.Hour })
		r.register(spec("a/0", "sobel"))
		r.function("f", "sobel")
		r.create("i", "f")
		r.create("j", "f")
		r.register(spec("b/0", "sobel"))
		if _, err := r.DrainDevice("a/0", true, false); err != nil {
			t.Fatal(err)
		}
		lease := r.register(spec("a/0", "sobel"))
		if device, _, _ := r.GetDevice("a/0"); !device.Draining {
			t.Fatal("a restart of the manager ended the draining")
		}
		plan, err := r.DrainDevice("a/0", true, true)
		if err != nil || len(plan.Moves) != 2 || len(plan.Stuck) != 0 {
			t.Fatalf("%+v, %v", plan, err)
		}
		list, _ := r.Tenants("a/0", lease)
		if !slices.Equal(instancesOf(list), []string{"i leaving", "j leaving"}) {
			t.Fatalf("on the old board: %v", instancesOf(list))
		}
		view, _ := r.GetInstance("i")
		if view.NextNode() != "b" || view.Environment(view.To)["RACKLOOM_MANAGERS"] != "unix:/run/b/0" {
			t.Fatalf("%+v", view)
		}
		_, err = r.ConfirmMove("i", "c/0")
		wantCode(t, err, codes.FailedPrecondition, "not on its way to c/0")
		for range 2 { // The second time because the first answer may be lost.
			if view, err := r.ConfirmMove("i", "b/0"); err != nil || view.Generation != 2 {
				t.Fatalf("%+v, %v", view, err)
			}
		}
		wantCode(t, r.DeregisterDevice("a/0", 0), codes.FailedPrecondition, "1 instances are allocated")
		r.reopen()
		r.wantOn("j", "a/0")
		time.Sleep(r.options.MoveGrace + time.Second)
		r.Sweep(time.Now())
		r.wantOn("j", "b/0")
		if err := r.DeregisterDevice("a/0", lease); err != nil {
			t.Fatal(err)
		}
		_, _, err = r.Heartbeat("a/0", lease, "sobel", 0)
		wantCode(t, err, codes.FailedPrecondition, "register it")
	})
}

func TestAMoveToABoardThatIsLostIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		from := r.register(spec("a/0", ""))
		r.function("f", "")
		r.create("i", "f")
		r.register(spec("b/0", ""))
		if _, err := r.DrainDevice("a/0", true, true); err != nil {
			t.Fatal(err)
		}
		for range 8 {
			time.Sleep(5 * time.Second)
			if _, _, err := r.Heartbeat("a/0", from, "", 0); err != nil {
				t.Fatal(err)
			}
			r.Sweep(time.Now())
		}
		if r.wantOn("i", "a/0").Move != nil {
			t.Fatal("it still goes to a lost board")
		}
	})
}

func TestAReconfigurationMakesWayFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.Lease = time.Hour })
		lease := r.register(spec("a/0", "mm"))
		r.function("matrix", "mm")
		r.function("sobel", "sobel")
		r.function("any", "")
		r.create("m1", "matrix")
		r.create("m2", "matrix")
		r.create("x", "any")
		_, err := r.CreateInstance("s", "sobel", "")
		wantCode(t, err, codes.ResourceExhausted, "1 needed by others as configured")
		fixed := spec("b/0", "mm")
		fixed.Reconfigurable = false
		r.register(fixed)
		if r.create("s", "sobel").Device != "a/0" {
			t.Fatal("the board that can be loaded was not chosen")
		}
		// Others already see what it is to become.
		r.create("s2", "sobel")
		r.wantOn("s2", "a/0")
		r.create("m3", "matrix")
		r.wantOn("m3", "b/0")

		r.validate("a/0", lease, "m1", "mm", Refused, "on its way to b/0")
		r.validate("a/0", lease, "x", "sobel", Refused, "registered for no accelerator")
		r.validate("a/0", lease, "s", "cnn", Refused, "registered for accelerator sobel")
		r.validate("a/0", lease, "m3", "mm", Refused, "not allocated on this board")
		_, err = r.ValidateReconfiguration("a/0", lease+1, "s", "sobel")
		wantCode(t, err, codes.FailedPrecondition, "superseded")
		if waits := r.validate("a/0", lease, "s", "sobel", Wait, "2 instances"); len(waits.Moves) != 2 {
			t.Fatalf("%+v", waits)
		}
		if device, _, _ := r.GetDevice("a/0"); device.Flag == nil || !device.Flag.GrantedAt.IsZero() {
			t.Fatalf("while others are there: %+v", device)
		}
		if _, err := r.ConfirmMove("m1", "b/0"); err != nil {
			t.Fatal(err)
		}
		r.reopen()
		r.validate("a/0", lease, "s", "sobel", Wait, "1 instances")
		time.Sleep(r.options.MoveGrace + time.Second)
		r.Sweep(time.Now())
		r.wantOn("m2", "b/0")
		r.validate("a/0", lease, "s", "sobel", Granted, "")
		r.reopen()
		r.validate("a/0", lease, "s", "sobel", Granted, "") // The first answer may be lost.
		if err := r.ReportReconfiguration("a/0", lease, "sobel", ""); err != nil {
			t.Fatal(err)
		}
		r.validate("a/0", lease, "s", "sobel", Unneeded, "")
		device, instances, _ := r.GetDevice("a/0")
		if device.Flag != nil || device.Accelerator != "sobel" || instances != 3 {
			t.Fatalf("%+v with %d instances", device, instances)
		}
	})
}

func TestAReconfigurationThatFailsLeavesTheBoardAsItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.Lease = 24 * time.Hour })
		lease := r.register(spec("a/0", "mm"))
		r.function("sobel", "sobel")
		r.create("s", "sobel")
		r.validate("a/0", lease, "s", "sobel", Granted, "")
		if err := r.ReportReconfiguration("a/0", lease, "mm", "bad bitstream"); err != nil {
			t.Fatal(err)
		}
		if device, _, _ := r.GetDevice("a/0"); device.Flag != nil || device.Accelerator != "mm" {
			t.Fatalf("%+v", device)
		}
		// It may try again; a manager that never reports does not block the board for ever.
		r.validate("a/0", lease, "s", "sobel", Granted, "")
		time.Sleep(r.options.ReconfigureTimeout + time.Second)
		r.Sweep(time.Now())
		if device, _, _ := r.GetDevice("a/0"); device.Flag != nil {
			t.Fatalf("%+v", device)
		}
		// A manager that restarts in the middle has its grant taken back, and the flag kept.
		r.validate("a/0", lease, "s", "sobel", Granted, "")
		lease = r.register(spec("a/0", "mm"))
		if device, _, _ := r.GetDevice("a/0"); device.Flag == nil || !device.Flag.GrantedAt.IsZero() {
			t.Fatalf("%+v", device)
		}
		if _, _, err := r.Heartbeat("a/0", lease, "sobel", 0); err != nil { // It had been loaded.
			t.Fatal(err)
		}
		if device, _, _ := r.GetDevice("a/0"); device.Flag != nil || device.Accelerator != "sobel" {
			t.Fatalf("%+v", device)
		}
	})
}

func TestWhoGoesTakesItsFlagAlong(t *testing.T) {
	r := newRig(t, nil)
	r.register(spec("a/0", "mm"))
	r.function("matrix", "mm")
	r.function("sobel", "sobel")
	r.create("m", "matrix")
	fixed := spec("b/0", "mm")
	fixed.Reconfigurable = false
	r.register(fixed)
	r.create("s", "sobel")
	r.create("s2", "sobel")
	if r.wantOn("m", "a/0").Move == nil {
		t.Fatal("nobody makes way")
	}
	if err := r.DeleteInstance("s"); err != nil {
		t.Fatal(err)
	}
	device, _, _ := r.GetDevice("a/0")
	if device.Flag == nil || device.Flag.Instance != "s2" || r.wantOn("m", "a/0").Move == nil {
		t.Fatalf("the flag did not pass on: %+v", device)
	}
	if err := r.DeleteInstance("s2"); err != nil {
		t.Fatal(err)
	}
	if device, _, _ = r.GetDevice("a/0"); device.Flag != nil || r.wantOn("m", "a/0").Move != nil {
		t.Fatalf("the flag stayed: %+v", device)
	}
}

func TestAGrantEndsWithItsManagerIfNobodyWantsItAnyMore(t *testing.T) {
	r := newRig(t, nil)
	lease := r.register(spec("a/0", "mm"))
	r.function("sobel", "sobel")
	r.create("s", "sobel")
	r.validate("a/0", lease, "s", "sobel", Granted, "")
	if err := r.DeleteInstance("s"); err != nil {
		t.Fatal(err)
	}
	if device, _, _ := r.GetDevice("a/0"); device.Flag == nil {
		t.Fatal("the load is under way, and not to be seen")
	}
	r.register(spec("a/0", "mm"))
	if device, _, _ := r.GetDevice("a/0"); device.Flag != nil {
		t.Fatalf("the board waits for nobody: %+v", device)
	}
}

func TestWhenAllWhoWantedItAreMovedTheFlagGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.LostGrace = time.Second })
		r.register(spec("a/0", "mm"))
		r.function("sobel", "sobel")
		r.create("s", "sobel")
		r.create("s2", "sobel")
		time.Sleep(r.options.Lease + time.Second)
		r.Sweep(time.Now())
		r.register(spec("b/0", "sobel"))
		time.Sleep(2 * time.Second)
		r.Sweep(time.Now())
		r.wantOn("s", "b/0")
		r.wantOn("s2", "b/0")
		if device, _, _ := r.GetDevice("a/0"); device.Flag != nil {
			t.Fatalf("%+v", device.Flag)
		}
	})
}

func TestAnExclusiveInstanceLoadsWhatItWants(t *testing.T) {
	r := newRig(t, nil)
	device := spec("a/0", "mm")
	device.Loadable = []string{"mm", "cnn"}
	lease := r.register(device)
	if _, err := r.RegisterFunction(&Function{Name: "lab", Exclusive: true, Weight: 1}); err != nil {
		t.Fatal(err)
	}
	r.create("x", "lab")
	_, err := r.CreateInstance("y", "lab", "")
	wantCode(t, err, codes.ResourceExhausted, "1 shared, and the claim is exclusive")
	r.function("f", "")
	_, err = r.CreateInstance("z", "f", "")
	wantCode(t, err, codes.ResourceExhausted, "1 held exclusively")
	r.validate("a/0", lease, "x", "cnn", Granted, "")
	r.validate("a/0", lease, "x", "mm", Refused, "to become cnn")
	r.validate("a/0", lease, "x", "sobel", Refused, "cannot be loaded with it")
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
