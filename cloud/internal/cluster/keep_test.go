package cluster

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.etcd.io/bbolt"
	"google.golang.org/grpc/codes"

	"rackloom/cloud/internal/clock/clocktest"
	"rackloom/cloud/internal/store"
)

// version1 is a store as registries of version 1 wrote it: two boards, of which one is lost and one is being loaded,
// and an instance on its way.
var version1 = map[string]map[string]string{
	"meta":    {"schema": "\x00\x00\x00\x01"},
	"cluster": {"revision": "\x00\x00\x00\x00\x00\x00\x00\x2a"},
	"devices": {
		"a/0": `{"id":"a/0","manager":"m","endpoints":["unix:/m"],"vendor":"Acme","platform":"Card","instancesMax":8,
			"memoryBytes":1125899906842624,"lease":7,"lostSince":"2025-11-25T20:55:10.123456789Z"}`,
		"b/0": `{"id":"b/0","manager":"m","endpoints":["unix:/m"],"vendor":"Acme","platform":"Card","instancesMax":8,
			"lease":8,"reconfigurable":true,"reconfiguration":{"accelerator":"sobel","instance":"j",
			"flaggedAt":"2025-11-25T20:55:10Z","grantedAt":"2025-11-25T20:55:11Z"}}`,
	},
	"functions": {"f": `{"name":"f","query":{"Accelerator":"sobel"},"weight":3}`},
	"instances": {
		"i": `{"id":"i","function":"f","device":"a/0","generation":2,"token":"t1","createdAt":"2025-11-25T20:00:00Z",
			"move":{"to":"b/0","deadline":"2025-11-25T21:00:00Z"}}`,
		"j": `{"id":"j","function":"f","device":"b/0","generation":1,"token":"t2","createdAt":"2025-11-25T20:00:00Z"}`,
	},
}

func TestAStoreOfVersion1IsBroughtUpToDate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registry.db")
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for name, records := range version1 {
			bucket, err := tx.CreateBucket([]byte(name))
			if err != nil {
				return err
			}
			for key, value := range records {
				if err := bucket.Put([]byte(key), []byte(value)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil || db.Close() != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	passing := clocktest.NewManual()
	r := &rig{t: t, path: path, options: DefaultOptions()}
	r.options.Time = passing
	r.open()
	defer func() { _ = r.Close() }()
	lost, loading := r.devices.get("a/0"), r.devices.get("b/0")
	if lost.LostSince.IsZero() || lost.MemoryBytes != 1<<50 || lost.Lease != 7 || r.revision != 42 {
		t.Fatalf("%+v at revision %d", lost, r.revision)
	}
	if loading.Flag == nil || loading.Flag.GrantedAt.IsZero() || !loading.LostSince.IsZero() {
		t.Fatalf("%+v", loading)
	}
	r.Sweep() // Nothing is due by times of another clock.
	if r.wantOn("i", "a/0").Move == nil || r.devices.get("b/0").Flag == nil {
		t.Fatal("something was due at once")
	}
	passing.Advance(10 * time.Second)
	_, tenants, err := r.Heartbeat("b/0", 8, "", 0)
	if err != nil || !slices.Equal(instancesOf(*tenants), []string{"i", "j"}) {
		t.Fatalf("%+v, %v", tenants, err)
	}
	passing.Advance(r.options.MoveGrace)
	r.Sweep()
	if moved := r.wantOn("i", "a/0"); moved.Move != nil || moved.Token != "t1" || moved.Generation != 2 {
		t.Fatalf("%+v", moved) // b/0 was lost as well by then, so the move is given up.
	}
	r.reopen()
	kept, err := os.ReadFile(path + ".version-1")
	if err != nil {
		t.Fatal(err)
	}
	if copied, err := bbolt.Open(path+".version-1", 0o600, nil); err != nil || copied.Close() != nil || len(kept) < len(old)/2 {
		t.Fatalf("the copy has %d bytes of %d, %v", len(kept), len(old), err)
	}
}

// TestAStoreOfVersion2IsBroughtUpToDate: its records are as they are now, but for what none of them says.
func TestAStoreOfVersion2IsBroughtUpToDate(t *testing.T) {
	r := newRig(t, nil)
	r.register(spec("a/0", ""))
	r.function("f", "")
	token := r.create("i", "f").Token
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := bbolt.Open(r.path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte("meta")).Put([]byte("schema"), []byte{0, 0, 0, 2})
	})
	if err != nil || db.Close() != nil {
		t.Fatal(err)
	}
	for range 2 { // It is upgraded once.
		r.open()
		if r.wantOn("i", "a/0").Token != token || r.functions.get("f").LongestKernelMs != 0 {
			t.Fatalf("%+v", r.functions.get("f"))
		}
		if _, err := r.RegisterFunction(&Function{Name: "g", Weight: 1, LongestKernelMs: 500}); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if was, err := store.Check(r.path + ".version-2"); err != nil || was.Functions != 1 {
		t.Fatalf("the copy: %+v, %v", was, err)
	}
	r.open()
	if r.functions.get("g").LongestKernelMs != 500 {
		t.Fatal("it is forgotten")
	}
}

func TestABackupRestoresWhatThereWas(t *testing.T) {
	r := newRig(t, nil)
	lease := r.register(spec("a/0", ""))
	r.function("f", "")
	token := r.create("i", "f").Token
	backup := filepath.Join(t.TempDir(), "backup")
	// While the registry has it open.
	summary, err := store.Backup(r.path, backup)
	if err != nil || summary.Devices != 1 || summary.Functions != 1 || summary.Instances != 1 {
		t.Fatalf("%+v, %v", summary, err)
	}
	if _, err := store.Backup(r.path, backup); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Fatalf("a backup was written over: %v", err)
	}
	r.create("j", "f")
	list, err := r.Tenants("a/0", lease)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := store.Restore(backup, r.path, true, AfterRestore); err == nil ||
		!strings.Contains(err.Error(), "another registry has it open") {
		t.Fatalf("a store in use was replaced: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := store.Restore(backup, r.path, false, AfterRestore); err == nil ||
		!strings.Contains(err.Error(), "-replace") {
		t.Fatalf("a store was replaced: %v", err)
	}
	revisions := map[uint64]bool{list.Revision: true}
	for round := range 2 {
		_, kept, err := store.Restore(backup, r.path, true, AfterRestore)
		if err != nil {
			t.Fatal(err)
		}
		if was, err := store.Check(kept); err != nil || was.Instances != 2-round {
			t.Fatalf("kept as %s: %+v, %v", kept, was, err)
		}
		r.open()
		if r.wantOn("i", "a/0").Token != token {
			t.Fatal("another token")
		}
		_, err = r.GetInstance("j")
		wantCode(t, err, codes.NotFound, "")
		// A manager that holds the list of the lost future learns the present one.
		_, fresh, err := r.Heartbeat("a/0", lease, "", list.Revision)
		if err != nil || fresh == nil || len(fresh.Tenants) != 1 || revisions[fresh.Revision] {
			t.Fatalf("%+v, %v", fresh, err)
		}
		revisions[fresh.Revision] = true
		if again := r.register(spec("a/0", "")); again <= list.Revision+restoreJump {
			t.Fatalf("lease %d may have been given before", again)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBackupsOfABusyStoreAreWhole copies a store again and again while it is written to.
func TestBackupsOfABusyStoreAreWhole(t *testing.T) {
	r := newRig(t, nil)
	r.register(spec("a/0", ""))
	r.function("f", "")
	done, writing := make(chan struct{}), make(chan int)
	go func() {
		changes := 0
		for ; ; changes++ {
			select {
			case <-done:
				writing <- changes
				return
			default:
				r.create("i", "f")
				if err := r.DeleteInstance("i"); err != nil {
					t.Error(err)
				}
				time.Sleep(time.Millisecond) // As a disk would take.
			}
		}
	}()
	folder := t.TempDir()
	for round := range 50 {
		to := filepath.Join(folder, "backup")
		if _, err := store.Backup(r.path, to); err != nil {
			t.Errorf("round %d: %v", round, err)
			break
		}
		opened, err := store.Open(to, Upgrade)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		c, err := Open(opened, r.options, unmeasured{}, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(to); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	if changes := <-writing; changes < 50 {
		t.Fatalf("only %d changes were made meanwhile", changes)
	}
}
