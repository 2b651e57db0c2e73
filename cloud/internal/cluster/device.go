package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"rackloom/cloud/allocate"
)

// Lease is what a manager gets for a board.
type Lease struct {
	ID     uint64
	Length time.Duration
}

// Tenant is an instance as the manager of its board sees it.
type Tenant struct {
	Instance *Instance
	Function *Function
	Leaving  bool
}

// TenantList is everybody who may use a board. Lists with the same revision are the same.
type TenantList struct {
	Revision uint64
	Tenants  []Tenant
}

// RegisterDevice makes a board known or takes it back. `spec` has what a manager can say.
func (c *Cluster) RegisterDevice(spec *Device) (Lease, TenantList, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	what := "register device " + spec.ID
	old := c.devices.get(spec.ID)
	if old == nil && c.devices.len() >= DevicesMax {
		return Lease{}, TenantList{}, fail(codes.ResourceExhausted, what,
			fmt.Sprintf("there are %d devices, as many as may be", DevicesMax), "deregister those that are gone for good")
	}
	if old != nil && old.LostSince.IsZero() && !old.isSameManager(spec) {
		// Who has it is not said: the name would help to take it.
		return Lease{}, TenantList{}, fail(codes.AlreadyExists, what, "another manager has it",
			"name the board otherwise, or stop that manager and wait for its lease to end")
	}
	sameKind := old == nil || strings.EqualFold(old.Vendor, spec.Vendor) && strings.EqualFold(old.Platform, spec.Platform)
	if !sameKind && len(c.on[spec.ID]) > 0 {
		return Lease{}, TenantList{}, fail(codes.FailedPrecondition, what,
			fmt.Sprintf("%d instances are allocated on it as a %s %s", len(c.on[spec.ID]), old.Vendor, old.Platform),
			"name the new board otherwise, or drain the old one first")
	}
	edit := c.edit()
	device := *spec
	device.Lease = c.revision + 1
	if device.InstancesMax == 0 {
		device.InstancesMax = c.options.InstancesDefault
	}
	edit.devices[device.ID] = &device
	if old != nil {
		device.Draining = old.Draining
		device.Owner = cmp.Or(device.Owner, old.Owner)
		device.Flag = old.Flag
		edit.resume(&device)
	}
	if err := edit.commit(); err != nil {
		return Lease{}, TenantList{}, err
	}
	c.leases[device.ID] = c.clock.Now().Add(c.options.Lease)
	c.log.Info("device registered", "device", device.ID, "manager", device.Manager, "lease", device.Lease)
	return Lease{ID: device.Lease, Length: c.options.Lease}, c.tenants(device.ID), nil
}

// isSameManager says whether a device's manager is the one that registers it again: by its name, and by the credential.
// An administrator's has no owner, nor had one from before there were credentials.
func (d *Device) isSameManager(spec *Device) bool {
	return d.Manager == spec.Manager && (d.Owner == spec.Owner || d.Owner == "" || spec.Owner == "")
}

// holder is the device, if the lease is its current one.
func (c *Cluster) holder(what, id string, lease uint64) (*Device, error) {
	device := c.devices.get(id)
	if device == nil {
		return nil, fail(codes.FailedPrecondition, what, "the device is not registered", "register it")
	}
	if device.Lease != lease {
		return nil, fail(codes.FailedPrecondition, what,
			fmt.Sprintf("lease %d is superseded", lease), "register again, unless another manager did")
	}
	return device, nil
}

// Heartbeat renews a lease. The list is given if the manager's is of another revision.
func (c *Cluster) Heartbeat(id string, lease uint64, accelerator string, seen uint64) (
	*Device, *TenantList, error,
) {
	c.mu.Lock()
	defer c.mu.Unlock()
	device, err := c.holder("heartbeat of device "+id, id, lease)
	if err != nil {
		return nil, nil, err
	}
	// Even if the change cannot be stored below, the manager is alive.
	c.leases[id] = c.clock.Now().Add(c.options.Lease)
	if device.Accelerator != accelerator || !device.LostSince.IsZero() {
		edit := c.edit()
		changed := edit.device(id)
		changed.LostSince = 0
		changed.configured(accelerator)
		if err := edit.commit(); err != nil {
			return nil, nil, err
		}
		device = changed
	}
	if c.touched[id] == seen {
		return device, nil, nil
	}
	tenants := c.tenants(id)
	return device, &tenants, nil
}

// configured notes what the board holds; what it was flagged for may have come true by that.
func (d *Device) configured(accelerator string) {
	d.Accelerator = accelerator
	if d.Flag != nil && d.Flag.Accelerator == accelerator {
		d.Flag = nil
	}
}

// Tenants is who may use a board.
func (c *Cluster) Tenants(id string, lease uint64) (TenantList, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if _, err := c.holder("watch tenants of device "+id, id, lease); err != nil {
		return TenantList{}, err
	}
	return c.tenants(id), nil
}

func (c *Cluster) tenants(device string) TenantList {
	list := TenantList{Revision: c.touched[device]}
	for _, id := range c.sortedOn(device) {
		instance := c.instances.get(id)
		list.Tenants = append(list.Tenants, Tenant{
			Instance: instance, Function: c.functions.get(instance.Function),
			Leaving: instance.Device == device && instance.Move != nil,
		})
	}
	return list
}

// sortedOn is the ids of the instances that count on a device.
func (c *Cluster) sortedOn(device string) []string {
	ids := make([]string, 0, len(c.on[device]))
	for id := range c.on[device] {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// DeregisterDevice forgets a board. The lease 0 is an administrator's, who needs none.
func (c *Cluster) DeregisterDevice(id string, lease uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	what := "deregister device " + id
	if c.devices.get(id) == nil {
		return unknown("device", id)
	}
	if lease != 0 {
		if _, err := c.holder(what, id, lease); err != nil {
			return err
		}
	}
	if count := len(c.on[id]); count > 0 {
		return fail(codes.FailedPrecondition, what,
			fmt.Sprintf("%d instances are allocated on it", count), "drain it with move, or delete the instances")
	}
	edit := c.edit()
	edit.devices[id] = nil
	if err := edit.commit(); err != nil {
		return err
	}
	c.log.Info("device deregistered", "device", id)
	return nil
}

// DrainDevice takes a board out of allocation or back, and moves its instances if told.
func (c *Cluster) DrainDevice(id string, drain, move bool) (allocate.Plan, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	device := c.devices.get(id)
	if device == nil {
		return allocate.Plan{}, unknown("device", id)
	}
	edit := c.edit()
	edit.device(id).Draining = drain
	var plan allocate.Plan
	if drain && move {
		plan = c.evacuate(edit, device)
	}
	if err := edit.commit(); err != nil {
		return allocate.Plan{}, err
	}
	c.log.Info("device drained", "device", id, "drain", drain, "moves", len(plan.Moves), "stuck", len(plan.Stuck))
	return plan, nil
}

// evacuate sends a board's instances elsewhere as far as there is room: with time to leave if the board lives, at once
// if it is lost.
func (c *Cluster) evacuate(edit *edit, device *Device) allocate.Plan {
	from := c.board(device)
	plan := allocate.Evacuate(&from, c.boards(), c.options.Policy)
	for _, move := range plan.Moves {
		instance := edit.instance(move.Instance)
		instance.Move = &Move{To: move.To, Deadline: c.clock.Now().Add(c.options.MoveGrace)}
		if !device.LostSince.IsZero() {
			edit.finishMove(instance)
		}
	}
	return plan
}

// GetDevice is one board and how many instances are on it.
func (c *Cluster) GetDevice(id string) (device *Device, instances int, err error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	device = c.devices.get(id)
	if device == nil {
		return nil, 0, unknown("device", id)
	}
	return device, len(c.on[id]), nil
}

// Devices is up to `most` boards behind an id, how many instances are on each, and whether there are more.
func (c *Cluster) Devices(after string, most int) (page []*Device, instances []int, more bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for id, device := range c.devices.after(after) {
		if len(page) == most {
			return page, instances, true
		}
		page = append(page, device)
		instances = append(instances, len(c.on[id]))
	}
	return page, instances, false
}

// MetricsURLs are where the managers of boards that are not lost serve metrics, each once.
func (c *Cluster) MetricsURLs() []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var urls []string
	for _, device := range c.devices.all() {
		if device.MetricsURL != "" && device.LostSince.IsZero() {
			urls = append(urls, device.MetricsURL)
		}
	}
	slices.Sort(urls)
	return slices.Compact(urls)
}
