package cluster

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"rackloom/cloud/internal/clock/clocktest"
)

// timed is a cluster whose time the test moves, with managers that are sometimes silent.
type timed struct {
	*rig
	time   *clocktest.Manual
	leases map[string]uint64
	// seen counts what happened.
	seen map[string]int
}

func newTimed(t *testing.T, seen map[string]int) *timed {
	passing := clocktest.NewManual()
	x := &timed{time: passing, leases: map[string]uint64{}, seen: seen}
	x.rig = newRig(t, func(o *Options) {
		o.LostGrace, o.ReconfigureTimeout, o.Time = time.Minute, 40*time.Second, passing
	})
	for _, id := range []string{"a/0", "b/0", "c/0"} {
		x.leases[id] = x.register(spec(id, "mm"))
	}
	for name, accelerator := range map[string]string{"any": "", "matrix": "mm", "edges": "sobel"} {
		x.function(name, accelerator)
	}
	return x
}

// step does one thing that a seed says. What is refused is a part of what is compared.
func (x *timed) step(random *rand.Rand) string {
	device := []string{"a/0", "b/0", "c/0"}[random.IntN(3)]
	instance := fmt.Sprintf("i%d", random.IntN(6))
	function := []string{"any", "matrix", "edges"}[random.IntN(3)]
	pause := time.Duration(random.IntN(12)) * time.Second
	var err error
	switch random.IntN(8) {
	case 0, 1:
		_, err = x.CreateInstance(instance, function, "")
	case 2:
		err = x.DeleteInstance(instance)
	case 3:
		_, err = x.DrainDevice(device, random.IntN(2) == 0, false)
	case 4:
		_, err = x.DrainDevice(device, true, true)
	case 5:
		verdict, refused := x.ValidateReconfiguration(device, x.leases[device], instance, "sobel")
		err = refused
		x.seen[verdict.Decision.String()]++
	default:
		x.time.Advance(pause)
	}
	for id, lease := range x.leases {
		if id != device { // One of the three is silent.
			_, _, _ = x.Heartbeat(id, lease, x.devices.get(id).Accelerator, 0)
		}
	}
	x.Sweep()
	return fmt.Sprint(err)
}

// state is all that the cluster holds, as it would be stored, with the ends of the leases.
func (x *timed) state() string {
	devices, instances := map[string]*Device{}, map[string]Instance{}
	for id, device := range x.devices.all() {
		devices[id] = device
		if !device.LostSince.IsZero() {
			x.seen["lost"]++
		}
		if device.Flag != nil && !device.Flag.GrantedAt.IsZero() {
			x.seen["under grant"]++
		}
	}
	for id, instance := range x.instances.all() {
		shown := *instance
		shown.Token, shown.CreatedAt = "", time.Time{} // Drawn anew, and for people.
		instances[id] = shown
		if shown.Move != nil {
			x.seen["moving"]++
		}
		x.seen[fmt.Sprintf("generation %d", shown.Generation)]++
	}
	text, err := json.Marshal([]any{devices, instances, x.leases, x.Cluster.leases, x.clock.Now()})
	if err != nil {
		x.t.Fatal(err)
	}
	return string(text)
}

// TestJumpsOfTheWallClockChangeNothing runs the same story twice, once while somebody sets the clock between all steps
// and restarts, by an hour forward or back, and wants every step to come out the same.
func TestJumpsOfTheWallClockChangeNothing(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(25) {
		calm, jumping := newTimed(t, seen), newTimed(t, map[string]int{})
		one, other := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, 0))
		jumps := rand.New(rand.NewPCG(seed, 1))
		for step := range 120 {
			jump := []time.Duration{time.Hour, -time.Hour, 0}[jumps.IntN(3)]
			if jumps.IntN(15) == 0 {
				// The clock jumps while no registry runs.
				for _, x := range []*timed{calm, jumping} {
					if err := x.Close(); err != nil {
						t.Fatal(err)
					}
				}
				jumping.time.Jump(jump)
				calm.open()
				jumping.open()
				seen["restart"]++
			}
			jumping.time.Jump(jump)
			if a, b := calm.step(one), jumping.step(other); a != b {
				t.Fatalf("seed %d, step %d: after a jump by %s the answer is\n%s\nand was\n%s", seed, step, jump, b, a)
			}
			if a, b := calm.state(), jumping.state(); a != b {
				t.Fatalf("seed %d, step %d: after a jump by %s there is\n%s\nand was\n%s", seed, step, jump, b, a)
			}
		}
	}
	t.Log(seen)
	for _, rare := range []string{"restart", "lost", "under grant", "moving", "generation 2", "granted", "wait", "refused"} {
		if seen[rare] == 0 {
			t.Errorf("never seen: %s", rare)
		}
	}
}

// TestTimeGoesOnAcrossRuns: what was due after ten minutes is due after ten minutes of registries, however many.
func TestTimeGoesOnAcrossRuns(t *testing.T) {
	passing := clocktest.NewManual()
	r := newRig(t, func(o *Options) { o.LostGrace, o.Time = 10*time.Minute, passing })
	r.register(spec("a/0", ""))
	r.function("f", "")
	r.create("i", "f")
	passing.Advance(r.options.Lease + time.Second)
	r.Sweep()
	runs := 0
	for ; r.wantSomewhere("i").Generation == 1 && runs < 20; runs++ {
		// Each run is killed after two minutes; no call changes anything in it.
		r.register(spec("b/0", ""))
		for range 24 {
			passing.Advance(5 * time.Second)
			if _, _, err := r.Heartbeat("b/0", r.devices.get("b/0").Lease, "", 0); err != nil {
				t.Fatal(err)
			}
			r.Sweep()
		}
		if err := r.store.Close(); err != nil {
			t.Fatal(err)
		}
		passing.Advance(time.Hour) // Nobody runs, and nobody is silent.
		r.open()
	}
	// A kill forgets a minute at most of the two.
	if runs < 5 || runs > 10 {
		t.Fatalf("the instance was moved after %d runs of two minutes", runs)
	}
}

func (r *rig) wantSomewhere(id string) *Instance {
	r.t.Helper()
	view, err := r.GetInstance(id)
	if err != nil {
		r.t.Fatal(err)
	}
	return view.Instance
}
