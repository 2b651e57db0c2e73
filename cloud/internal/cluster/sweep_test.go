package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
)

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
		wantCode(t, err, codes.AlreadyExists, "another manager has it")
		if strings.Contains(err.Error(), "manager-of") {
			t.Fatalf("it says who has it: %v", err)
		}
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
		r.Sweep()
		view, _ := r.GetInstance("i")
		if view.Device != "a/0" || view.On.LostSince.IsZero() {
			t.Fatalf("after the lease: %+v on %+v", view.Instance, view.On)
		}
		_, err = r.CreateInstance("j", "f", "")
		wantCode(t, err, codes.ResourceExhausted, "1 lost")
		// It is lost for good only when somebody says so.
		time.Sleep(24 * time.Hour)
		r.reopen()
		r.Sweep()
		r.wantOn("i", "a/0")

		// The same manager is back with the next heartbeat, and no other needs to wait for it.
		if _, _, err := r.Heartbeat("a/0", second, "", 0); err != nil {
			t.Fatal(err)
		}
		r.create("j", "f")
		time.Sleep(r.options.Lease + time.Second)
		r.Sweep()
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
		r.Sweep() // a/0 is lost, and b/0 is not.
		time.Sleep(time.Hour)
		r.reopen()
		r.Sweep()
		if device, _, _ := r.GetDevice("b/0"); !device.LostSince.IsZero() {
			t.Fatal("a manager had no time to come back")
		}
		r.wantOn("i", "a/0") // Though the grace is long over: its manager may be about to come back.
		if _, _, err := r.Heartbeat("a/0", lease, "", 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(r.options.Lease / 2)
		r.Sweep()
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
			r.Sweep()
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
		r.Sweep()
		if r.revision != before+1 || len(r.leases) != 0 {
			t.Fatalf("%d commits, %d leases are left", r.revision-before, len(r.leases))
		}
		time.Sleep(r.options.LostGrace + time.Second)
		for range 3 * boards / evacuationsMax {
			r.Sweep()
		}
		if r.revision != before+1 || len(r.rescued) != boards {
			t.Fatalf("%d commits, %d of %d boards were looked after", r.revision-before, len(r.rescued), boards)
		}
		// One with room for all comes back: everybody's turn comes.
		back := spec("n00/0", "")
		back.InstancesMax = boards
		lease := r.register(back)
		for range 3 * boards / evacuationsMax {
			r.Sweep()
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
		r.Sweep()
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
			r.Sweep()
		}
		if r.wantOn("i", "a/0").Move != nil {
			t.Fatal("it still goes to a lost board")
		}
	})
}
