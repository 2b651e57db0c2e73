package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.etcd.io/bbolt"
)

func recordsOf(t *testing.T, store *Store, bucket Bucket) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := store.Each(bucket, func(key string, value []byte) error {
		found[key] = string(value)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func noUpgrade(uint32, Record) (Record, error) { return Record{}, errors.New("it is of this version") }

func open(t *testing.T, path string) *Store {
	t.Helper()
	store, err := Open(path, noUpgrade)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func TestRecordsOutliveTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "registry.db")
	store := open(t, path)
	err := store.Commit([]Record{
		{Bucket: Devices, Key: "a", Value: []byte("1")},
		{Bucket: Devices, Key: "b", Value: []byte("2")},
		{Bucket: Instances, Key: "a", Value: []byte("3")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Commit([]Record{{Bucket: Devices, Key: "a"}, {Bucket: Devices, Key: "gone"}}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	store = open(t, path)
	defer store.Close()
	devices, instances := recordsOf(t, store, Devices), recordsOf(t, store, Instances)
	if fmt.Sprint(devices, instances) != "map[b:2] map[a:3]" {
		t.Fatalf("found %v and %v", devices, instances)
	}
}

func TestACommitThatFailsWritesNothing(t *testing.T) {
	store := open(t, filepath.Join(t.TempDir(), "registry.db"))
	defer store.Close()
	err := store.Commit([]Record{{Bucket: Devices, Key: "a", Value: []byte("1")}, {Bucket: Devices, Value: []byte("2")}})
	if err == nil || len(recordsOf(t, store, Devices)) != 0 {
		t.Fatalf("error %v with %v", err, recordsOf(t, store, Devices))
	}
}

func TestAnUnknownSchemaIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registry.db")
	store := open(t, path)
	err := store.db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(metaBucket).Put(schemaKey, []byte{0, 0, 0, schemaVersion + 1})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	newer := fmt.Sprintf("its records are of version %d", schemaVersion+1)
	if _, err := Open(path, noUpgrade); err == nil || !strings.Contains(err.Error(), newer) {
		t.Fatalf("opened, or refused with %v", err)
	}
}

// TestAFullDiskLosesNothing runs itself in another process whose files may not grow beyond a limit, which fails the
// same writes that a full disk does.
func TestAFullDiskLosesNothing(t *testing.T) {
	if path := os.Getenv("STORE_ON_A_FULL_DISK"); path != "" {
		fillTheDisk(t, path)
		return
	}
	path := filepath.Join(t.TempDir(), "registry.db")
	command := exec.Command(os.Args[0], "-test.run=^TestAFullDiskLosesNothing$", "-test.v")
	command.Env = append(os.Environ(), "STORE_ON_A_FULL_DISK="+path)
	out, err := command.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("the disk was full after")) {
		t.Fatalf("%v\n%s", err, out)
	}
}

func fillTheDisk(t *testing.T, path string) {
	// Without this the kernel ends the process instead of failing the write.
	signal.Ignore(syscall.SIGXFSZ)
	store := open(t, path)
	limit := func(bytes uint64) {
		var now syscall.Rlimit
		err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &now)
		now.Cur = min(bytes, now.Max)
		if err := errors.Join(err, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &now)); err != nil {
			t.Fatal(err)
		}
	}
	limit(1 << 20)
	value := bytes.Repeat([]byte("x"), 1000)
	key := func(i int) string { return fmt.Sprintf("%06d", i) }
	kept := 0
	for {
		err := store.Commit([]Record{{Bucket: Instances, Key: key(kept), Value: value}})
		if err != nil {
			t.Logf("the disk was full after %d records: %v", kept, err)
			break
		}
		if kept++; kept > 10_000 {
			t.Fatal("the disk never was full")
		}
	}
	// Still full: every commit fails, and what was committed can be read.
	for range 3 {
		if err := store.Commit([]Record{{Bucket: Instances, Key: key(kept), Value: value}}); err == nil {
			t.Fatal("a full disk took a record")
		}
	}
	if found := len(recordsOf(t, store, Instances)); found != kept || kept == 0 {
		t.Fatalf("%d records, %d were committed", found, kept)
	}
	// With room again, the same store goes on, and the file is sound.
	limit(1 << 30)
	if err := store.Commit([]Record{{Bucket: Instances, Key: key(kept), Value: value}}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	store = open(t, path)
	defer store.Close()
	if found := len(recordsOf(t, store, Instances)); found != kept+1 {
		t.Fatalf("%d records, %d were committed", found, kept+1)
	}
	check := func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			t.Error(err)
		}
		return nil
	}
	if err := store.db.View(check); err != nil {
		t.Fatal(err)
	}
}
