package cluster

import (
	"cmp"
	"context"
	"slices"
	"time"

	"rackloom/cloud/internal/clock"
)

// evacuationsMax bounds the lost boards that are looked after in a sweep, as each means a look at all boards.
const evacuationsMax = 16

// Run does what time brings about, until the context ends.
func (c *Cluster) Run(ctx context.Context) {
	// Often enough that no deadline is missed by more than a quarter of the shortest.
	pause := min(c.options.Lease, c.options.MoveGrace, time.Second*4) / 4
	ticker := time.NewTicker(max(pause, 10*time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			c.Sweep()
		}
	}
}

// Sweep does what is due: boards are lost when their leases end; moves and reconfigurations that take too long end;
// boards lost for long give up their instances. What cannot be stored is done by a later sweep.
func (c *Cluster) Sweep() {
	if c.expire() == nil {
		c.rescue()
	}
}

// expire ends what has a time, all of it in one commit: a network that fails takes many boards at once.
func (c *Cluster) expire() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	edit := c.edit()
	for id, end := range c.leases {
		if now.After(end) {
			edit.device(id).LostSince = now
		}
	}
	for id, device := range c.devices.all() {
		flag := device.Flag
		if flag != nil && !flag.GrantedAt.IsZero() && now.Sub(flag.GrantedAt) > c.options.ReconfigureTimeout {
			c.log.Warn("reconfiguration given up: the manager reported no end", "device", id,
				"accelerator", flag.Accelerator)
			edit.giveUp(id)
		}
	}
	for _, instance := range c.instances.all() {
		if instance.Move != nil && now.After(instance.Move.Deadline) {
			edit.endMove(instance.ID)
		}
	}
	if len(edit.devices)+len(edit.instances) == 0 {
		if now.Sub(c.clockSaved) < clockSaves {
			return nil
		}
		return c.saveClock()
	}
	if err := edit.commit(); err != nil {
		return err // It is logged; the disk is full, or gone.
	}
	for id := range c.leases {
		if !c.devices.get(id).LostSince.IsZero() {
			delete(c.leases, id)
		}
	}
	return nil
}

// endMove ends a move whose time is up: it comes true, unless it was given up or the new board is lost by now.
func (e *edit) endMove(id string) {
	instance := e.instance(id)
	if instance.Move == nil {
		return
	}
	if e.peekDevice(instance.Move.To).LostSince.IsZero() {
		e.finishMove(instance)
		return
	}
	e.c.log.Warn("move given up: the new device is lost", "instance", id, "to", instance.Move.To)
	instance.Move = nil
}

// rescue gives instances of boards that have been lost for long other boards, as far as there is room.
func (c *Cluster) rescue() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	var due []*Device
	for id, device := range c.devices.all() {
		// What found no room finds none until something has changed.
		if c.pastGrace(device, now) && len(c.on[id]) > 0 && c.rescued[id] != c.revision {
			due = append(due, device)
		}
	}
	slices.SortStableFunc(due, func(a, b *Device) int { return cmp.Compare(c.rescued[a.ID], c.rescued[b.ID]) })
	for _, device := range due[:min(len(due), evacuationsMax)] {
		// Each is a commit of its own, as where its instances go is where others cannot.
		edit := c.edit()
		plan := c.evacuate(edit, device)
		if len(plan.Moves) > 0 {
			if edit.commit() != nil {
				return
			}
			c.log.Warn("instances of a lost device got others", "device", device.ID,
				"moves", len(plan.Moves), "stuck", len(plan.Stuck))
		}
		c.rescued[device.ID] = c.revision
	}
}

// pastGrace says whether a board has been lost for so long that its instances get others. The registry's own absence
// does not count: managers have a lease's time to come back after it.
func (c *Cluster) pastGrace(device *Device, now clock.Instant) bool {
	grace := c.options.LostGrace
	return grace > 0 && !device.LostSince.IsZero() && now.Sub(device.LostSince) > grace &&
		now.Sub(c.clock.Epoch()) > c.options.Lease
}
