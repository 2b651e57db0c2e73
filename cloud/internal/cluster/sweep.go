package cluster

import (
	"context"
	"time"
)

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
		case now := <-ticker.C:
			c.Sweep(now)
		}
	}
}

// Sweep does what is due: boards are lost when their leases end; those lost for long give up their instances; moves and
// reconfigurations that take too long end. What cannot be stored is done by a later sweep.
func (c *Cluster) Sweep(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.devices.all() {
		// Each device is a commit of its own, as what one loses changes where others can go.
		edit := c.edit()
		c.sweepDevice(edit, id, now)
		if len(edit.devices)+len(edit.instances) == 0 {
			continue
		}
		if err := edit.commit(); err != nil {
			return // It is logged; the disk is full, or gone.
		}
		if device := c.devices.get(id); !device.LostSince.IsZero() {
			delete(c.leases, id)
		}
	}
}

func (c *Cluster) sweepDevice(edit *edit, id string, now time.Time) {
	device := c.devices.get(id)
	if end, leased := c.leases[id]; leased && now.After(end) && device.LostSince.IsZero() {
		edit.device(id).LostSince = now.UTC()
		c.log.Warn("device is lost: its lease has ended", "device", id, "manager", device.Manager,
			"instances", len(c.on[id]))
		return // Whatever else is due comes with the next sweep, which sees the board as lost.
	}
	if c.pastGrace(device, now) && len(c.on[id]) > 0 {
		plan := c.evacuate(edit, device)
		if len(plan.Moves) > 0 {
			c.log.Warn("instances of a lost device get others", "device", id,
				"moves", len(plan.Moves), "stuck", len(plan.Stuck))
		}
	}
	for _, other := range c.sortedOn(id) {
		instance := c.instances.get(other)
		if instance.Device == id && instance.Move != nil && now.After(instance.Move.Deadline) {
			c.endMove(edit, instance)
		}
	}
	timeout := c.options.ReconfigureTimeout
	if flag := device.Flag; flag != nil && !flag.GrantedAt.IsZero() && now.Sub(flag.GrantedAt) > timeout {
		c.log.Warn("reconfiguration given up: the manager reported no end", "device", id,
			"accelerator", flag.Accelerator)
		edit.giveUp(id)
	}
}

// pastGrace says whether a board has been lost for so long that its instances get others. The registry's own absence
// does not count: managers have a lease's time to come back after it.
func (c *Cluster) pastGrace(device *Device, now time.Time) bool {
	grace := c.options.LostGrace
	return grace > 0 && !device.LostSince.IsZero() && now.Sub(device.LostSince) > grace &&
		now.Sub(c.opened) > c.options.Lease
}

// endMove ends a move whose time is up: it comes true, unless the new board is lost by now.
func (c *Cluster) endMove(edit *edit, instance *Instance) {
	changed := edit.instance(instance.ID)
	if c.devices.get(instance.Move.To).LostSince.IsZero() {
		edit.finishMove(changed)
		return
	}
	c.log.Warn("move given up: the new device is lost", "instance", instance.ID, "to", instance.Move.To)
	changed.Move = nil
}
