// Package store keeps the registry's records in one file.
//
// A commit is durable when it returns: bbolt writes the pages, syncs, and only then changes the root that says which
// pages count. So a process that is killed, or a disk that is full, leaves the file as some commit left it. The store
// knows nothing of what the records mean.
package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// schemaVersion is that of the records in the file. Version 1 had times of the wall clock.
const schemaVersion = 2

// lockTimeout is how long Open waits for another process: as long as one may take to stop.
const lockTimeout = 5 * time.Second

var (
	metaBucket = []byte("meta")
	schemaKey  = []byte("schema")
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

var buckets = []Bucket{Devices, Functions, Instances, Cluster}

// Record is a value to be written, or a key to be deleted where Value is nil.
type Record struct {
	Bucket Bucket
	Key    string
	Value  []byte
}

// Store is an open file. Its methods may be called at the same time; commits wait for each other.
type Store struct {
	db *bbolt.DB
}

// Open opens a file, and makes it and its folder if need be.
func Open(path string) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the store's folder: %w", err)
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockTimeout, FreelistType: bbolt.FreelistMapType})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("open %s: another registry has it open; stop that one, or name another file", path)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	store := &Store{db: db}
	if err := errors.Join(store.prepare(), syncFolder(path)); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.Close())
	}
	return store, nil
}

// prepare makes the buckets of a new file, and checks the version of an old one.
func (s *Store) prepare() error {
	fresh := false
	err := s.db.View(func(tx *bbolt.Tx) error {
		meta := tx.Bucket(metaBucket)
		if meta == nil {
			fresh = true
			return nil
		}
		if found := meta.Get(schemaKey); len(found) != 4 || binary.BigEndian.Uint32(found) != schemaVersion {
			return fmt.Errorf("its schema is %x, and this registry knows %d; run the registry that wrote it",
				found, schemaVersion)
		}
		return nil
	})
	if err != nil || !fresh {
		return err
	}
	return s.db.Update(func(tx *bbolt.Tx) error {
		meta, err := tx.CreateBucket(metaBucket)
		if err != nil {
			return err
		}
		for _, bucket := range buckets {
			if _, err := tx.CreateBucket([]byte(bucket)); err != nil {
				return err
			}
		}
		return meta.Put(schemaKey, binary.BigEndian.AppendUint32(nil, schemaVersion))
	})
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
		return tx.Bucket([]byte(bucket)).ForEach(func(key, value []byte) error { return visit(string(key), value) })
	})
}

// write commits all of the records or, if it fails, none.
func (s *Store) write(records []Record) error {
	err := s.db.Update(func(tx *bbolt.Tx) error {
		for _, record := range records {
			bucket := tx.Bucket([]byte(record.Bucket))
			var err error
			if record.Value == nil {
				err = bucket.Delete([]byte(record.Key))
			} else {
				err = bucket.Put([]byte(record.Key), record.Value)
			}
			if err != nil {
				return fmt.Errorf("%s %q: %w", record.Bucket, record.Key, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("commit to %s: %w", s.db.Path(), err)
	}
	return nil
}

// Close gives the file back, after a commit that is under way.
func (s *Store) Close() error {
	return s.db.Close()
}
