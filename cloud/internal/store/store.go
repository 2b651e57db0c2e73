// Package store keeps the registry's records in one file.
//
// A commit is durable when it returns: bbolt writes the pages, syncs, and only then changes the root that says which
// pages count. So a process that is killed, or a disk that is full, leaves the file as some commit left it. Against
// what happens to the file besides, each record has a checksum and all have a count, and no file is used before all
// of it was read and found whole. The store knows nothing of what the records mean.
package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// schemaVersion is that of the records in the file. Newer files are refused; older ones are brought up to it in Open.
//
//	1  times by the wall clock, no checksums
//	2  times by the registry's clock; a checksum behind each value, and a count of all
//	3  functions may say how long their kernels may take, which an older registry would forget
const (
	schemaVersion = 3
	sealedSince   = 2
)

// lockTimeout is how long Open waits for another process: as long as one may take to stop. It tries each lockPause.
const (
	lockTimeout = 5 * time.Second
	lockPause   = 50 * time.Millisecond
)

var (
	metaBucket = []byte("meta")
	schemaKey  = []byte("schema")
	censusKey  = []byte("census")
)

// Bucket is a kind of records.
type Bucket string

// The buckets.
const (
	Devices   Bucket = "devices"
	Functions Bucket = "functions"
	Instances Bucket = "instances"
	// Cluster holds single values of the whole registry.
	Cluster Bucket = "cluster"
)

// buckets are all. The counts are in this order.
var buckets = []Bucket{Devices, Functions, Instances, Cluster}

// censusBucket is what the count's checksum says that it is in.
const censusBucket = Bucket("meta")

// Record is a value to be written, or a key to be deleted where Value is nil.
type Record struct {
	Bucket Bucket
	Key    string
	Value  []byte
}

// Store is an open file. Its methods may be called at the same time; commits wait for each other.
type Store struct {
	// IsNew says that there was no file.
	IsNew bool
	db    *bbolt.DB
}

// Upgrade brings a record of an older version up to the present one.
type Upgrade func(schema uint32, record Record) (Record, error)

// Open opens a file, and makes it and its folder if need be. All of it is read and checked before: it fails with
// *Damage if anything that was committed is not there or not whole. A file of an older version is copied beside itself
// and then brought up to date by `upgrade`.
func Open(path string, upgrade Upgrade) (*Store, error) {
	store, err := load(path, upgrade)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return store, nil
}

func load(path string, upgrade Upgrade) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the store's folder: %w", err)
	}
	isNew := false
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		isNew = true
		if err := create(path); err != nil {
			return nil, err
		}
	}
	var content []byte
	var found *contents
	openFile := func(path string, flags int, mode os.FileMode) (*os.File, error) {
		file, err := os.OpenFile(path, flags&^os.O_CREATE, mode)
		if err != nil {
			return nil, err
		}
		if content, found, err = lockAndRead(file); err != nil {
			return nil, errors.Join(err, file.Close())
		}
		return file, nil
	}
	// bbolt locks the file again, which it has by then: nobody can come in between.
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockTimeout, OpenFile: openFile})
	if err != nil {
		return nil, err
	}
	store := &Store{db: db, IsNew: isNew}
	if found.schema < schemaVersion {
		copied := fmt.Sprintf("%s.version-%d", path, found.schema)
		err := replaceCopy(copied, content)
		if err == nil {
			err = store.upgrade(found, upgrade)
		}
		if err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return store, nil
}

func lockAndRead(file *os.File) ([]byte, *contents, error) {
	if err := lock(file, lockTimeout); err != nil {
		return nil, nil, err
	}
	named, err := os.Stat(file.Name())
	held, heldErr := file.Stat()
	if err := errors.Join(err, heldErr); err != nil {
		return nil, nil, err
	}
	if !os.SameFile(named, held) {
		return nil, nil, errors.New("it was replaced while this registry waited for it; start again")
	}
	content, err := readAll(file)
	if err != nil {
		return nil, nil, err
	}
	found, err := parse(content)
	if err == nil && found.schema > schemaVersion {
		return nil, nil, fmt.Errorf("its records are of version %d, and this registry knows up to %d; run the registry that "+
			"wrote it, or a newer one", found.schema, schemaVersion)
	}
	return content, found, err
}

// replaceCopy writes a copy that an upgrade keeps; one that was killed may have left it already.
func replaceCopy(path string, content []byte) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return writeNew(path, content)
}

// lock takes a file for this process alone, as bbolt does. A restore does too, so that no store is replaced in use.
func lock(file *os.File, patience time.Duration) error {
	for waited := time.Duration(0); ; waited += lockPause {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		if waited >= patience {
			return errors.New("another registry has it open; stop that one, or name another file")
		}
		time.Sleep(lockPause)
	}
}

func readAll(file *os.File) ([]byte, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > sizeMax {
		return nil, fmt.Errorf("it has %d bytes, and a store has at most %d", info.Size(), sizeMax)
	}
	return io.ReadAll(io.NewSectionReader(file, 0, info.Size()))
}

// create makes a file without records. It is whole from the moment that it has its name: a registry killed before
// leaves none. It is no error if another process made one first.
func create(path string) error {
	made, err := build(path, nil)
	if err != nil {
		return err
	}
	defer os.Remove(made)
	if err := os.Link(made, path); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return syncFolder(path)
}

// build makes a file with these records beside another, to be given its name.
func build(path string, records []Record) (string, error) {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-")
	if err != nil {
		return "", err
	}
	made := file.Name()
	err = file.Close()
	if err == nil {
		var db *bbolt.DB
		db, err = bbolt.Open(made, 0o600, &bbolt.Options{Timeout: lockTimeout})
		if err == nil {
			err = errors.Join(db.Update(func(tx *bbolt.Tx) error { return rewrite(tx, records) }), db.Close())
		}
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(made))
	}
	return made, nil
}

// rewrite puts records in the stead of all that there are.
func rewrite(tx *bbolt.Tx, records []Record) error {
	for _, bucket := range append([]Bucket{Bucket(metaBucket)}, buckets...) {
		if err := tx.DeleteBucket([]byte(bucket)); err != nil && !errors.Is(err, bolterrors.ErrBucketNotFound) {
			return err
		}
		if _, err := tx.CreateBucket([]byte(bucket)); err != nil {
			return err
		}
	}
	meta := tx.Bucket(metaBucket)
	empty := seal(censusBucket, string(censusKey), newCensus().encode())
	return errors.Join(
		meta.Put(schemaKey, binary.BigEndian.AppendUint32(nil, schemaVersion)), meta.Put(censusKey, empty),
		put(tx, records))
}

// upgrade rewrites a file of an older version.
func (s *Store) upgrade(found *contents, upgrade Upgrade) error {
	records := make([]Record, len(found.records))
	for i, record := range found.records {
		upgraded, err := upgrade(found.schema, record)
		if err != nil {
			return fmt.Errorf("bring %s %q up to date: %w", record.Bucket, record.Key, err)
		}
		records[i] = upgraded
	}
	return s.db.Update(func(tx *bbolt.Tx) error { return rewrite(tx, records) })
}

// syncFolder makes the file's name durable, which syncing the file does not.
func syncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// Each calls a function with each record of a bucket, in the order of the keys. The value is valid during the call.
func (s *Store) Each(bucket Bucket, visit func(key string, value []byte) error) error {
	return s.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte(bucket)).ForEach(func(key, sealed []byte) error {
			value, err := unseal(bucket, string(key), sealed)
			if err != nil {
				return err
			}
			return visit(string(key), value)
		})
	})
}

// write commits all of the records or, if it fails, none.
func (s *Store) write(records []Record) error {
	if err := s.db.Update(func(tx *bbolt.Tx) error { return put(tx, records) }); err != nil {
		return fmt.Errorf("commit to %s: %w", s.db.Path(), err)
	}
	return nil
}

// put writes records, and brings the count up to date with them.
func put(tx *bbolt.Tx, records []Record) error {
	meta := tx.Bucket(metaBucket)
	content, err := unseal(censusBucket, string(censusKey), meta.Get(censusKey))
	if err != nil {
		return err
	}
	census, err := decodeCensus(content)
	if err != nil {
		return err
	}
	for _, record := range records {
		if err := putOne(tx.Bucket([]byte(record.Bucket)), census.of(record.Bucket), record); err != nil {
			return fmt.Errorf("%s %q: %w", record.Bucket, record.Key, err)
		}
	}
	return meta.Put(censusKey, seal(censusBucket, string(censusKey), census.encode()))
}

func putOne(bucket *bbolt.Bucket, count *count, record Record) error {
	key := []byte(record.Key)
	if sealed := bucket.Get(key); sealed != nil {
		old, err := unseal(record.Bucket, record.Key, sealed)
		if err != nil {
			return err
		}
		count.remove(record.Bucket, record.Key, old)
	}
	if record.Value == nil {
		return bucket.Delete(key)
	}
	count.add(record.Bucket, record.Key, record.Value)
	return bucket.Put(key, seal(record.Bucket, record.Key, record.Value))
}

// Close gives the file back, after a commit that is under way.
func (s *Store) Close() error {
	return s.db.Close()
}
