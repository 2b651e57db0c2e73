// Package cluster is what the registry knows and decides: devices, functions, instances and who has which board.
//
// All of it is in memory and on disk. A change is made durable first, then it becomes visible, then it is answered.
// So whatever was answered is there after a crash, and whatever is there may be trusted: two claims cannot come to hold
// one board because the process ended between two steps, as there is no such between.
//
// Leases are the exception: who is alive is known in memory only, since it would cost a write for each heartbeat. After
// a restart everybody who was not lost has a whole lease to be heard again.
package cluster

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackloom/cloud/allocate"
	"rackloom/cloud/internal/clock"
	"rackloom/cloud/internal/store"
)

// What a registry holds at most. A record takes about a kilobyte of memory, and a list of all of one kind some seconds.
const (
	DevicesMax   = 4096
	FunctionsMax = 16384
	InstancesMax = 65536
)

// Metrics tells what is measured of a board.
type Metrics interface {
	Of(device *Device) allocate.Metrics
}

// Options are what an owner of a cluster decides.
type Options struct {
	Policy allocate.Policy
	// Lease is how long a manager may be silent before its boards count as lost.
	Lease time.Duration
	// LostGrace is how long a lost board keeps its allocations before they are moved; 0 keeps them until an
	// administrator moves them.
	LostGrace time.Duration
	// MoveGrace is how long an instance may take to leave a board.
	MoveGrace time.Duration
	// ReconfigureTimeout is how long a manager may take to load an accelerator.
	ReconfigureTimeout time.Duration
	// InstancesDefault is the most instances of boards whose managers do not say.
	InstancesDefault int
	// Time is what the cluster's clock is made of.
	Time clock.Source
}

// DefaultOptions are fit for a rack. Nothing moves off a lost board by itself: a manager that is merely cut off from
// the registry still serves its tenants.
func DefaultOptions() Options {
	return Options{
		Policy: allocate.DefaultPolicy(), Lease: 15 * time.Second, MoveGrace: 30 * time.Second,
		ReconfigureTimeout: 5 * time.Minute, InstancesDefault: 64, Time: clock.System(),
	}
}

// Cluster is the state. Its methods may be called at the same time.
type Cluster struct {
	options Options
	log     *slog.Logger
	metrics Metrics
	stats   *stats
	hub     hub

	// mu is held during commits, so that what is decided still holds when it has come true.
	mu        sync.RWMutex
	store     *store.Store
	devices   table[Device]
	functions table[Function]
	instances table[Instance]
	// on has the instances that count on each device.
	on map[string]map[string]struct{}
	// revision counts commits, restarts included.
	revision uint64
	// touched is the revision that last changed the tenants of each device.
	touched map[string]uint64
	// leases has the end of each lease of a device that is not lost.
	leases map[string]clock.Instant
	// rescued is the revision at which a lost board's instances were last looked after.
	rescued map[string]uint64
	clock   *clock.Clock
	// clockSaved is the instant that a run would begin at if the process ended now.
	clockSaved clock.Instant
}

// The single values.
const (
	revisionKey = "revision"
	// clockKey has the instant of the newest commit: the next run's epoch.
	clockKey = "clock"
)

// clockSaves is how much of its time a registry that is killed forgets at most.
const clockSaves = time.Minute

// Open reads the state from a store, which the cluster then owns.
func Open(
	s *store.Store, options Options, metrics Metrics, registerer prometheus.Registerer, log *slog.Logger,
) (*Cluster, error) {
	c := &Cluster{
		options: options, log: log, metrics: metrics, store: s, devices: newTable[Device](),
		functions: newTable[Function](), instances: newTable[Instance](), on: map[string]map[string]struct{}{},
		touched: map[string]uint64{}, leases: map[string]clock.Instant{}, rescued: map[string]uint64{},
		clockSaved: clock.Start,
	}
	if err := c.load(); err != nil {
		return nil, err
	}
	c.stats = newStats(c, registerer)
	return c, nil
}

func (c *Cluster) load() error {
	read := func(key string, value []byte) error {
		if len(value) != 8 {
			return fmt.Errorf("record %q of %s has %d bytes, and should have 8", key, store.Cluster, len(value))
		}
		number := binary.BigEndian.Uint64(value)
		switch key {
		case revisionKey:
			c.revision = number
		case clockKey:
			c.clockSaved = clock.Instant(number)
		default:
			return fmt.Errorf("record %q of %s is unknown", key, store.Cluster)
		}
		return nil
	}
	if err := c.store.Each(store.Cluster, read); err != nil {
		return err
	}
	c.clock = clock.New(c.options.Time, c.clockSaved)
	if err := load(c.store, store.Devices, &c.devices); err != nil {
		return err
	}
	if err := load(c.store, store.Functions, &c.functions); err != nil {
		return err
	}
	if err := load(c.store, store.Instances, &c.instances); err != nil {
		return err
	}
	for id, device := range c.devices.all() {
		c.touched[id] = c.revision
		if device.LostSince.IsZero() {
			c.leases[id] = c.clock.Epoch().Add(c.options.Lease)
		}
	}
	for _, instance := range c.instances.all() {
		c.index(nil, instance)
	}
	return c.check()
}

func load[T any](s *store.Store, bucket store.Bucket, into *table[T]) error {
	return s.Each(bucket, func(key string, value []byte) error {
		record := new(T)
		if err := json.Unmarshal(value, record); err != nil {
			return fmt.Errorf("record %q of %s: %w", key, bucket, err)
		}
		into.put(key, record)
		return nil
	})
}

// check finds what cannot be if the registry is right: references to nothing, exclusive boards with two claims, and
// boards held back for somebody who is not there.
func (c *Cluster) check() error {
	for id, device := range c.devices.all() {
		if device.Flag == nil || !device.Flag.GrantedAt.IsZero() {
			continue // What is granted ends by its manager's word, or in time.
		}
		if wanted := c.instances.get(device.Flag.Instance); wanted == nil || wanted.Device != id {
			return fmt.Errorf("device %s is flagged for instance %s, which is not on it", id, device.Flag.Instance)
		}
	}
	for id, instance := range c.instances.all() {
		function := c.functions.get(instance.Function)
		if function == nil {
			return fmt.Errorf("instance %s is of function %s, which there is not", id, instance.Function)
		}
		for _, device := range instance.devices() {
			if c.devices.get(device) == nil {
				return fmt.Errorf("instance %s is on device %s, which there is not", id, device)
			}
			if function.Exclusive && len(c.on[device]) > 1 {
				return fmt.Errorf("instance %s has device %s exclusively, and so have others", id, device)
			}
		}
	}
	return nil
}

// Close gives the store back. Nothing else may be called after it.
func (c *Cluster) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(c.saveClock(), c.store.Close())
}

// Clock is the cluster's time.
func (c *Cluster) Clock() *clock.Clock { return c.clock }

// saveClock stores how far time has come. It is no change that anybody else sees.
func (c *Cluster) saveClock() error {
	now := c.clock.Now()
	if err := c.store.Commit([]store.Record{{Bucket: store.Cluster, Key: clockKey, Value: bigEndian(now)}}); err != nil {
		return fmt.Errorf("store the time: %w", err)
	}
	c.clockSaved = now
	return nil
}

func bigEndian[T ~int64 | ~uint64](number T) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(number))
}

// board is a device as the allocation sees it.
func (c *Cluster) board(device *Device) allocate.Board {
	board := allocate.Board{
		ID: device.ID, Node: device.Node(), Remote: device.remote() != "", Offline: !device.LostSince.IsZero(),
		Draining: device.Draining, Vendor: device.Vendor, Platform: device.Platform, Accelerator: device.target(),
		Pending: device.Flag != nil, Reconfigurable: device.Reconfigurable, Loadable: device.Loadable,
		Capabilities: device.Capabilities, InstancesMax: device.InstancesMax, MemoryBytes: device.MemoryBytes,
		Metrics: c.metrics.Of(device),
	}
	for id := range c.on[device.ID] {
		instance := c.instances.get(id)
		board.Tenants = append(board.Tenants, allocate.Tenant{
			Claim:    c.claim(instance, c.functions.get(instance.Function)),
			Leaving:  instance.Device == device.ID && instance.Move != nil,
			Arriving: instance.Device != device.ID,
		})
	}
	return board
}

func (c *Cluster) boards() []allocate.Board {
	boards := make([]allocate.Board, 0, c.devices.len())
	for _, device := range c.devices.all() {
		boards = append(boards, c.board(device))
	}
	return boards
}

func (c *Cluster) claim(instance *Instance, function *Function) allocate.Claim {
	return allocate.Claim{
		Instance: instance.ID, Query: function.Query, Exclusive: function.Exclusive, Node: instance.NodeAsked,
	}
}

// Lease is how long a manager may be silent.
func (c *Cluster) Lease() time.Duration { return c.options.Lease }
