package cluster

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"rackloom/cloud/internal/clock"
	"rackloom/cloud/internal/store"
)

// edit is a change in the making: copies of records, to be changed at will. Nobody sees any of it before commit, and
// everybody all of it after. Its owner holds the cluster's lock from the first look to the commit.
type edit struct {
	c         *Cluster
	devices   map[string]*Device
	functions map[string]*Function
	instances map[string]*Instance
}

func (c *Cluster) edit() *edit {
	return &edit{
		c: c, devices: map[string]*Device{}, functions: map[string]*Function{}, instances: map[string]*Instance{},
	}
}

// device is a copy to be changed, the same one each time; nil if there is no such device.
func (e *edit) device(id string) *Device { return writable(e.devices, &e.c.devices, id) }

// instance is a copy to be changed, the same one each time; nil if there is no such instance.
func (e *edit) instance(id string) *Instance { return writable(e.instances, &e.c.instances, id) }

func writable[T any](edited map[string]*T, current *table[T], id string) *T {
	if record, ok := edited[id]; ok {
		return record
	}
	record := current.get(id)
	if record == nil {
		return nil
	}
	changed := *record
	edited[id] = &changed
	return &changed
}

// peek is an instance as the edit leaves it so far, not to be changed.
func (e *edit) peek(id string) *Instance {
	if instance, ok := e.instances[id]; ok {
		return instance
	}
	return e.c.instances.get(id)
}

// peekDevice is a device as the edit leaves it so far, not to be changed.
func (e *edit) peekDevice(id string) *Device {
	if device, ok := e.devices[id]; ok {
		return device
	}
	return e.c.devices.get(id)
}

// commit makes the change durable, and then visible. If it fails nothing has changed.
func (e *edit) commit() error {
	c := e.c
	begun := c.clock.Now()
	records, err := e.records(begun)
	if err != nil {
		return err
	}
	if err := c.store.Commit(records); err != nil {
		c.stats.storeErrors.Inc()
		c.log.Error("a change could not be stored", "error", err)
		return notStored(err)
	}
	c.stats.commitSeconds.Observe(c.clock.Now().Sub(begun).Seconds())
	c.clockSaved = begun
	e.apply()
	return nil
}

func (e *edit) records(now clock.Instant) ([]store.Record, error) {
	// The time goes along: no instant in the store is later than the next run's epoch.
	records := []store.Record{
		{Bucket: store.Cluster, Key: revisionKey, Value: bigEndian(e.c.revision + 1)},
		{Bucket: store.Cluster, Key: clockKey, Value: bigEndian(now)},
	}
	var err error
	if records, err = appendRecords(records, store.Devices, e.devices); err != nil {
		return nil, err
	}
	if records, err = appendRecords(records, store.Functions, e.functions); err != nil {
		return nil, err
	}
	return appendRecords(records, store.Instances, e.instances)
}

func appendRecords[T any](records []store.Record, bucket store.Bucket, edited map[string]*T) ([]store.Record, error) {
	for _, id := range slices.Sorted(maps.Keys(edited)) {
		record := store.Record{Bucket: bucket, Key: id}
		if edited[id] != nil {
			value, err := json.Marshal(edited[id])
			if err != nil {
				return nil, err
			}
			record.Value = value
		}
		records = append(records, record)
	}
	return records, nil
}

func (e *edit) apply() {
	c := e.c
	c.revision++
	for id, function := range e.functions {
		c.functions.put(id, function)
		for _, instance := range c.instances.all() {
			if instance.Function == id {
				c.touch(instance) // Tenants bear their functions' weights.
			}
		}
	}
	for id, device := range e.devices {
		old := c.devices.get(id)
		c.devices.put(id, device)
		c.hub.changed(devicesTopic, id)
		c.deviceChanged(id, old, device)
	}
	for id, instance := range e.instances {
		old := c.instances.get(id)
		c.instances.put(id, instance)
		c.index(old, instance)
		for _, changed := range []*Instance{old, instance} {
			if changed != nil {
				c.touch(changed)
			}
		}
		c.hub.changed(instancesTopic, id)
		if old != nil && instance != nil && old.Device != instance.Device {
			c.stats.moves.Inc()
			c.log.Info("instance moved", "instance", id, "from", old.Device, "to", instance.Device)
		}
	}
}

// deviceChanged does what follows from a change of a device. Either side may be nil.
func (c *Cluster) deviceChanged(id string, old, device *Device) {
	if device == nil {
		delete(c.touched, id)
		delete(c.leases, id)
		delete(c.rescued, id)
		c.hub.changed(tenantsTopic(id), id)
		return
	}
	if old == nil || old.Lease != device.Lease {
		c.touched[id] = c.revision
		c.hub.changed(tenantsTopic(id), id) // Who watches with the old lease learns that it is superseded.
	}
	if old == nil {
		return
	}
	if found := device.LostSince.IsZero(); found != old.LostSince.IsZero() {
		if found {
			c.log.Info("device is back", "device", id, "lostFor", c.clock.Now().Sub(old.LostSince).Round(time.Millisecond))
		} else {
			c.log.Warn("device is lost: its lease has ended", "device", id, "manager", device.Manager,
				"instances", len(c.on[id]))
		}
	} else if slices.Equal(old.Endpoints, device.Endpoints) {
		return
	}
	// An instance says whether its board is lost, and where it is reached.
	for instance := range c.on[id] {
		c.hub.changed(instancesTopic, instance)
	}
}

// index keeps `on` in step with an instance's change. Either side may be nil.
func (c *Cluster) index(old, changed *Instance) {
	if old != nil {
		for _, device := range old.devices() {
			delete(c.on[device], old.ID)
			if len(c.on[device]) == 0 {
				delete(c.on, device)
			}
		}
	}
	if changed != nil {
		for _, device := range changed.devices() {
			if c.on[device] == nil {
				c.on[device] = map[string]struct{}{}
			}
			c.on[device][changed.ID] = struct{}{}
		}
	}
}

// touch notes that the tenants of the instance's boards have changed, and tells their managers.
func (c *Cluster) touch(instance *Instance) {
	for _, device := range instance.devices() {
		if c.devices.get(device) != nil {
			c.touched[device] = c.revision
			c.hub.changed(tenantsTopic(device), device)
		}
	}
}
