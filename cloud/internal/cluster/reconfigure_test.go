package cluster

import (
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
)

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
		r.Sweep()
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
		// It may try again; a manager that never reports does not block the board for ever. A grant that is asked for
		// again is the old one, and ends with it.
		r.validate("a/0", lease, "s", "sobel", Granted, "")
		time.Sleep(time.Minute)
		again := r.validate("a/0", lease, "s", "sobel", Granted, "")
		if left := r.options.ReconfigureTimeout - time.Minute; again.Good != left {
			t.Fatalf("the grant is good for %s more, and should be for %s", again.Good, left)
		}
		time.Sleep(r.options.ReconfigureTimeout + time.Second)
		r.Sweep()
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
		r.Sweep()
		r.register(spec("b/0", "sobel"))
		time.Sleep(2 * time.Second)
		r.Sweep()
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
