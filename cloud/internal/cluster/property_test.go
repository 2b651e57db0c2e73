package cluster

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"pgregory.net/rapid"

	"rackloom/cloud/allocate"
	"rackloom/cloud/internal/clock/clocktest"
)

// TestMain has more cases drawn than usual unless told how many: what is rare has to come up.
func TestMain(m *testing.M) {
	flag.Parse()
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		if err := checks.Value.Set("400"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// machine does random things to a cluster, restarts included, and remembers the answers.
type machine struct {
	*rig
	// leases are those that the managers hold.
	leases map[string]uint64
	// given has the token of each instance that was allocated and not freed.
	given map[string]string
	// seen has the list of tenants that each manager holds.
	seen map[string]TenantList
	// marks counts the rare things that happened.
	marks map[string]int
	time  *clocktest.Manual
}

var (
	machineDevices   = []string{"a/0", "a/1", "b/0", "c/0"}
	machineFunctions = []*Function{
		{Name: "any", Weight: 1},
		{Name: "sobel", Query: allocate.Query{Accelerator: "sobel", MemoryBytes: 20}, Weight: 1},
		{Name: "matrix", Query: allocate.Query{Accelerator: "mm", MemoryBytes: 30}, Weight: 2},
		{Name: "lab", Query: allocate.Query{Accelerator: "cnn"}, Exclusive: true, Weight: 1},
	}
)

func (m *machine) expect(t *rapid.T, err error, allowed ...codes.Code) bool {
	if err == nil {
		return true
	}
	for _, code := range allowed {
		if failed, ok := err.(*Error); ok && failed.Code == code {
			return false
		}
	}
	t.Fatalf("unexpected: %v", err)
	return false
}

func (m *machine) step(t *rapid.T) {
	device := rapid.SampledFrom(machineDevices).Draw(t, "device")
	instance := fmt.Sprintf("i%d", rapid.IntRange(0, 9).Draw(t, "instance"))
	switch rapid.IntRange(0, 10).Draw(t, "operation") {
	case 0:
		m.registerAgain(t, device)
	case 1:
		m.reopen()
		m.marks["restart"]++
	case 2, 3, 4:
		function := rapid.SampledFrom(machineFunctions).Draw(t, "function").Name
		view, err := m.CreateInstance(instance, function, rapid.SampledFrom([]string{"", "a"}).Draw(t, "node"))
		if !m.expect(t, err, codes.ResourceExhausted, codes.AlreadyExists) {
			return
		}
		if token, old := m.given[instance]; old && token != view.Token {
			t.Fatalf("instance %s was given another token", instance)
		}
		m.given[instance] = view.Token
	case 5:
		if m.expect(t, m.DeleteInstance(instance), codes.NotFound) {
			delete(m.given, instance)
		}
	case 6:
		view, err := m.GetInstance(instance)
		if err == nil && view.Move != nil {
			_, err := m.ConfirmMove(instance, view.Move.To)
			m.expect(t, err)
			m.marks["confirmed"]++
		}
	case 7, 8:
		m.reconfigure(t, instance)
	case 9:
		drain := rapid.IntRange(0, 3).Draw(t, "drain") == 0
		plan, err := m.DrainDevice(device, drain, drain && rapid.IntRange(0, 3).Draw(t, "move") > 0)
		m.expect(t, err, codes.NotFound)
		m.marks["drain moves"] += len(plan.Moves)
	case 10:
		// Moves are due after half a minute, and all leases after an hour, which is seldom.
		later := rapid.SampledFrom([]time.Duration{time.Second, 40 * time.Second, 40 * time.Second, 2 * time.Hour})
		m.time.Advance(later.Draw(t, "later"))
		m.time.Jump(rapid.SampledFrom([]time.Duration{0, time.Hour, -time.Hour}).Draw(t, "jump"))
		m.Sweep()
	}
}

func (m *machine) registerAgain(t *rapid.T, device string) {
	spec := spec(device, rapid.SampledFrom([]string{"", "sobel", "mm", "cnn"}).Draw(t, "configured"))
	spec.InstancesMax, spec.MemoryBytes = 3, 80
	spec.Reconfigurable = device != "c/0"
	lease, list, err := m.RegisterDevice(spec)
	m.expect(t, err)
	m.leases[device], m.seen[device] = lease.ID, list
}

// reconfigure does what the manager of an instance's board does when the instance loads its accelerator.
func (m *machine) reconfigure(t *rapid.T, instance string) {
	view, err := m.GetInstance(instance)
	if err != nil {
		return
	}
	accelerator := m.functions.get(view.Function).Query.Accelerator
	if accelerator == "" {
		return
	}
	lease := m.leases[view.Device]
	verdict, err := m.ValidateReconfiguration(view.Device, lease, instance, accelerator)
	m.expect(t, err)
	m.marks[verdict.Decision.String()]++
	if verdict.Decision != Granted {
		return
	}
	for id := range m.on[view.Device] {
		needs := m.functions.get(m.instances.get(id).Function).Query.Accelerator
		if needs != "" && needs != accelerator {
			t.Fatalf("%s was granted while %s is on %s and needs %s", accelerator, id, view.Device, needs)
		}
	}
	if rapid.Bool().Draw(t, "reported") {
		m.expect(t, m.ReportReconfiguration(view.Device, lease, accelerator, ""))
	}
}

func (m *machine) verify(t *rapid.T) {
	if err := m.check(); err != nil {
		t.Fatal(err)
	}
	if m.instances.len() != len(m.given) {
		t.Fatalf("%d instances, %d were given", m.instances.len(), len(m.given))
	}
	places := map[string]int{}
	for id, token := range m.given {
		view, err := m.GetInstance(id)
		if err != nil || view.Token != token {
			t.Fatalf("instance %s is lost: %+v, %v", id, view.Instance, err)
		}
		for _, device := range view.devices() {
			places[device]++
		}
	}
	for id, device := range m.devices.all() {
		memory := uint64(0)
		for instance := range m.on[id] {
			memory += m.functions.get(m.instances.get(instance).Function).Query.MemoryBytes
		}
		if len(m.on[id]) != places[id] || places[id] > device.InstancesMax || memory > device.MemoryBytes {
			t.Fatalf("device %s has %d instances of %d with %d bytes", id, len(m.on[id]), places[id], memory)
		}
		m.follow(t, id)
	}
}

// follow checks that a manager which gets no news holds the current state.
func (m *machine) follow(t *rapid.T, id string) {
	device := m.devices.get(id)
	lease, held := m.leases[id]
	if !held || !device.LostSince.IsZero() {
		return
	}
	list, err := m.Tenants(id, lease)
	m.expect(t, err)
	_, fresh, err := m.Heartbeat(id, lease, device.Accelerator, m.seen[id].Revision)
	m.expect(t, err)
	if fresh != nil {
		m.seen[id] = *fresh
	}
	if !reflect.DeepEqual(instancesOf(m.seen[id]), instancesOf(list)) || m.seen[id].Revision == 0 {
		t.Fatalf("the manager of %s holds %+v, and true is %+v", id, m.seen[id], list)
	}
}

func TestWhateverHappensTheBooksAreRight(t *testing.T) {
	marks := map[string]int{}
	expected := []string{"restart", "confirmed", "drain moves", "granted", "wait", "refused", "unneeded"}
	unseen := func(mark string) bool { return marks[mark] == 0 }
	property := func(rt *rapid.T) {
		passing := clocktest.NewManual()
		m := &machine{
			rig:    newRig(t, func(o *Options) { o.Lease, o.LostGrace, o.Time = time.Hour, time.Minute, passing }),
			time:   passing,
			leases: map[string]uint64{}, given: map[string]string{}, seen: map[string]TenantList{}, marks: marks,
		}
		defer m.Close()
		for _, device := range machineDevices {
			m.registerAgain(rt, device)
		}
		for _, function := range machineFunctions {
			if _, err := m.RegisterFunction(function); err != nil {
				rt.Fatal(err)
			}
		}
		for range rapid.IntRange(30, 120).Draw(rt, "steps") {
			m.step(rt)
			m.verify(rt)
		}
		before := map[string]Instance{}
		for id, instance := range m.instances.all() {
			before[id] = *instance
		}
		m.reopen()
		after := map[string]Instance{}
		for id, instance := range m.instances.all() {
			after[id] = *instance
		}
		same := func(a, b Instance) bool { return fmt.Sprintf("%+v", a) == fmt.Sprintf("%+v", b) }
		if !maps.EqualFunc(before, after, func(a, b Instance) bool {
			// Pointers would differ; what they point at may not.
			if (a.Move == nil) != (b.Move == nil) || a.Move != nil && a.Move.To != b.Move.To {
				return false
			}
			a.Move, b.Move = nil, nil
			a.CreatedAt, b.CreatedAt = a.CreatedAt.Round(0), b.CreatedAt.Round(0)
			return same(a, b)
		}) {
			rt.Fatalf("a restart changed\n%+v\nto\n%+v", before, after)
		}
	}
	// Some of it is rare: one round in twenty does not see all.
	for round := 0; round == 0 || round < 5 && slices.ContainsFunc(expected, unseen); round++ {
		rapid.Check(t, property)
	}
	for _, mark := range expected {
		if unseen(mark) {
			t.Errorf("never seen: %s (seen: %v)", mark, marks)
		}
	}
}
