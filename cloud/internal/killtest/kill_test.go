// Package killtest kills the registry and managers at random moments, as real processes, and checks that no allocation
// is lost and none is made twice.
//
// The moments are drawn from a seed, which is printed; RACKLOOM_SEED repeats them, as far as processes let anything be
// repeated. RACKLOOM_KILLS sets their number.
package killtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	rackloomv1 "rackloom/cloud/api/rackloom/v1"
)

func TestMain(m *testing.M) {
	if os.Getenv(agentDevice) != "" {
		runAgent()
	}
	os.Exit(m.Run())
}

var devices = []string{"a/0", "b/0", "c/0"}

// rig is three managers, a registry and two orchestrators with ten functions.
type rig struct {
	folder        string
	random        *rand.Rand
	registry      *process
	agents        []*process
	orchestrators []*orchestrator
	functions     rackloomv1.FunctionsServiceClient
	devices       rackloomv1.DevicesServiceClient
	exclusive     map[string]bool
	// seen counts the rare things.
	seen map[string]int
	// drained is a device that was taken out of allocation; empty if none is.
	drained string
}

func newRig(t *testing.T, tags string, seed uint64) *rig {
	t.Helper()
	folder, err := os.MkdirTemp("", "kill") // t.TempDir's name may be too long for a socket.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	binary := buildRegistry(t, raceOption, "-tags", tags)
	r := &rig{
		folder: folder, random: rand.New(rand.NewPCG(seed, 0)), registry: registryProcess(binary, folder),
		exclusive: map[string]bool{}, seen: map[string]int{},
	}
	connection, err := dial(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	r.functions = rackloomv1.NewFunctionsServiceClient(connection)
	r.devices = rackloomv1.NewDevicesServiceClient(connection)
	for _, device := range devices {
		r.agents = append(r.agents, agentProcess(folder, device))
	}
	for i := range 2 {
		r.orchestrators = append(r.orchestrators, &orchestrator{
			name: fmt.Sprintf("o%d", i), client: r.functions, random: rand.New(rand.NewPCG(seed, uint64(i+1))),
			records: map[string]*record{}, count: map[string]int{},
		})
	}
	t.Cleanup(func() {
		for _, p := range append(r.agents, r.registry) {
			if p.running != nil {
				_ = p.running.Process.Kill()
				_ = p.running.Wait()
			}
		}
	})
	return r
}

func (r *rig) start() error {
	if err := r.registry.start(); err != nil {
		return err
	}
	for _, agent := range r.agents {
		if err := agent.start(); err != nil {
			return err
		}
	}
	for _, function := range functions() {
		r.exclusive[function.Name] = function.Exclusive
		if err := r.patiently(func(ctx context.Context) error {
			_, err := r.functions.RegisterFunction(ctx, &rackloomv1.RegisterFunctionRequest{Function: function})
			return err
		}); err != nil {
			return fmt.Errorf("register %s: %w\n%s", function.Name, err, r.registry.output)
		}
	}
	return r.patiently(func(ctx context.Context) error {
		list, err := r.devices.ListDevices(ctx, &rackloomv1.ListDevicesRequest{})
		if err == nil && len(list.Devices) < len(devices) {
			err = fmt.Errorf("only %d managers have registered", len(list.Devices))
		}
		return err
	})
}

// patiently calls until it goes well, for a time in which it has to.
func (r *rig) patiently(call func(ctx context.Context) error) error {
	end := time.Now().Add(20 * time.Second)
	for {
		ctx, cancel := context.WithTimeout(context.Background(), callTime)
		err := call(ctx)
		cancel()
		if err == nil || time.Now().After(end) {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// storm kills `kills` times while the orchestrators work, and checks after each.
func (r *rig) storm(kills int, victims []*process) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, len(r.orchestrators))
	for _, o := range r.orchestrators {
		go func() { ended <- o.run(ctx) }()
	}
	for kill := range kills {
		time.Sleep(time.Duration(r.random.IntN(250)) * time.Millisecond)
		victim := victims[r.random.IntN(len(victims))]
		if err := victim.kill(); err != nil {
			return fmt.Errorf("kill %d: %w", kill, err)
		}
		r.seen["killed "+victim.name]++
		// Sometimes for so long that leases end.
		pause := []time.Duration{0, 0, 0, 50 * time.Millisecond, 800 * time.Millisecond}[r.random.IntN(5)]
		time.Sleep(pause)
		if err := victim.start(); err != nil {
			return err
		}
		if r.random.IntN(8) == 0 { // While it starts.
			time.Sleep(time.Duration(r.random.IntN(40)) * time.Millisecond)
			if err := errors.Join(victim.kill(), victim.start()); err != nil {
				return fmt.Errorf("kill %d: %w", kill, err)
			}
			r.seen["killed at its start"]++
		}
		if err := r.check(); err != nil {
			return fmt.Errorf("after kill %d, of %s: %w", kill, victim.name, err)
		}
		if err := r.administrate(); err != nil {
			return fmt.Errorf("after kill %d, of %s: %w", kill, victim.name, err)
		}
		select {
		case err := <-ended:
			return fmt.Errorf("around kill %d: %w", kill, err)
		default:
		}
	}
	cancel()
	var all error
	for range r.orchestrators {
		all = errors.Join(all, <-ended)
	}
	return all
}

// administrate drains a board now and then, and takes it back, so that instances are on their way at kills.
func (r *rig) administrate() error {
	request := &rackloomv1.DrainDeviceRequest{Id: r.drained}
	if r.drained == "" {
		if r.random.IntN(3) > 0 {
			return nil
		}
		request = &rackloomv1.DrainDeviceRequest{Id: devices[r.random.IntN(len(devices))], Drain: true, Move: true}
	}
	return r.patiently(func(ctx context.Context) error {
		plan, err := r.devices.DrainDevice(ctx, request)
		if err != nil {
			return err
		}
		r.seen["moving"] += len(plan.Moves)
		r.drained = ""
		if request.Drain {
			r.drained = request.Id
		}
		return nil
	})
}

// check stops the orchestrators for a moment and compares what they know with what the registry knows.
func (r *rig) check() error {
	for _, o := range r.orchestrators {
		o.busy.Lock()
		defer o.busy.Unlock()
	}
	present, err := r.present()
	if err != nil {
		return err
	}
	var all error
	for _, o := range r.orchestrators {
		all = errors.Join(all, o.compare(present))
	}
	return errors.Join(all, r.checkBoards(present))
}

func (r *rig) present() (map[string]*rackloomv1.Instance, error) {
	present := map[string]*rackloomv1.Instance{}
	err := r.patiently(func(ctx context.Context) error {
		// All are on one page, so this is one moment.
		list, err := r.functions.ListInstances(ctx, &rackloomv1.ListInstancesRequest{PageSize: 100, Environment: true})
		clear(present)
		for _, instance := range list.GetInstances() {
			present[instance.Id] = instance
		}
		return err
	})
	return present, err
}

// checkBoards checks that no board is given to more than it may be.
func (r *rig) checkBoards(present map[string]*rackloomv1.Instance) error {
	on := map[string][]string{}
	exclusive := map[string]string{}
	tokens := map[string]string{}
	for id, instance := range present {
		places := []string{instance.Device}
		if instance.Move != nil {
			places = append(places, instance.Move.To)
		}
		if instance.Generation > 1 {
			r.seen["moved"]++
		}
		for _, place := range places {
			on[place] = append(on[place], id)
			if r.exclusive[instance.Function] {
				exclusive[place] = id
				r.seen["exclusive"]++
			}
		}
		token := instance.Environment["RACKLOOM_TOKEN"]
		if other, twice := tokens[token]; twice {
			return fmt.Errorf("%s and %s have one token", id, other)
		}
		tokens[token] = id
	}
	for device, ids := range on {
		if len(ids) > instancesMax || exclusive[device] != "" && len(ids) > 1 {
			return fmt.Errorf("%s is allocated to %v (exclusively to %q)", device, ids, exclusive[device])
		}
	}
	return nil
}

// settle checks that the managers come to hold exactly what the registry says.
func (r *rig) settle() error {
	return r.patiently(func(context.Context) error {
		present, err := r.present()
		if err != nil {
			return err
		}
		for _, device := range devices {
			want := map[string]string{}
			for id, instance := range present {
				if instance.Device == device || instance.Move.GetTo() == device {
					want[id] = instance.Environment["RACKLOOM_TOKEN"]
				}
			}
			content, err := os.ReadFile(heldFile(r.folder, device))
			if err != nil {
				return err
			}
			var has held
			if err := json.Unmarshal(content, &has); err != nil {
				return err
			}
			if !maps.Equal(want, has.Tokens) {
				return fmt.Errorf("the manager of %s holds %v, and should %v", device, has.Tokens, want)
			}
		}
		return nil
	})
}

// stop ends the registry as an administrator does.
func (r *rig) stop() error {
	if err := r.registry.running.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	err := r.registry.running.Wait()
	r.registry.running = nil
	return err
}

func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	value, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return value
}

func TestKillsLoseNoAllocationAndMakeNoneTwice(t *testing.T) {
	seed := number(t, "RACKLOOM_SEED", uint64(time.Now().UnixNano())%1_000_000)
	kills := int(number(t, "RACKLOOM_KILLS", 100))
	t.Logf("RACKLOOM_SEED=%d RACKLOOM_KILLS=%d", seed, kills)
	r := newRig(t, "", seed)
	if err := r.start(); err != nil {
		t.Fatal(err)
	}
	// The registry as often as the managers together.
	victims := append(r.agents, r.registry, r.registry, r.registry)
	begun := time.Now()
	if err := r.storm(kills, victims); err != nil {
		t.Fatalf("seed %d: %v\nThe registry wrote:\n%s", seed, err, r.registry.output)
	}
	if err := r.check(); err != nil {
		t.Fatalf("seed %d: at the end: %v", seed, err)
	}
	if err := r.settle(); err != nil {
		t.Fatalf("seed %d: at the end: %v", seed, err)
	}
	before, err := r.present()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.stop(); err != nil {
		t.Fatalf("told to stop, the registry ended with %v\n%s", err, r.registry.output)
	}
	if err := r.registry.start(); err != nil {
		t.Fatal(err)
	}
	if err := r.check(); err != nil {
		t.Fatalf("seed %d: after a stop: %v", seed, err)
	}
	if text := r.registry.output.String(); strings.Contains(text, "DATA RACE") {
		t.Fatalf("seed %d: %s", seed, text)
	}
	for _, agent := range r.agents {
		if strings.Contains(agent.output.String(), "VIOLATION") {
			t.Fatalf("seed %d: %s saw: %s", seed, agent.name, agent.output)
		}
	}
	for _, o := range r.orchestrators {
		for what, count := range o.count {
			r.seen[what] += count
		}
	}
	t.Logf("%d kills in %s, %d instances at the end; %v", kills, time.Since(begun).Round(time.Second), len(before), r.seen)
	for _, rare := range []string{"created", "freed", "refused", "in doubt", "moved", "moving", "exclusive"} {
		if kills >= 100 && r.seen[rare] == 0 {
			t.Errorf("seed %d: never seen: %s", seed, rare)
		}
	}
}

// TestAnAnswerBeforeItsTimeIsFound runs the same against a registry that answers before a change is durable.
func TestAnAnswerBeforeItsTimeIsFound(t *testing.T) {
	r := newRig(t, "planted", 1)
	if err := r.start(); err != nil {
		t.Fatal(err)
	}
	err := r.storm(50, []*process{r.registry})
	if err == nil || !strings.Contains(err.Error(), "is lost") && !strings.Contains(err.Error(), "allocated twice") &&
		!strings.Contains(err.Error(), "was freed, and is") {
		t.Fatalf("50 kills did not find the planted mistake: %v\n%s", err, r.registry.output)
	}
	t.Logf("found: %v", err)
}
