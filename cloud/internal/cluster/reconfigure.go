package cluster

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rackloom/cloud/allocate"
)

// Decision is what a manager is to do about a reconfiguration.
type Decision int

// The decisions.
const (
	Granted Decision = iota
	Wait
	Refused
	Unneeded
)

var decisionNames = []string{"granted", "wait", "refused", "unneeded"}

// String is the decision's name.
func (d Decision) String() string { return decisionNames[d] }

// Verdict is a decision with its reason.
type Verdict struct {
	Decision Decision
	Reason   string
	// Moves are of those who are still to leave.
	Moves []allocate.Move
	// Good is how much longer a grant is good.
	Good time.Duration
}

// ValidateReconfiguration decides whether a board may be given another accelerator for an instance. What it grants or
// begins is durable. Asked again it goes on from there.
func (c *Cluster) ValidateReconfiguration(id string, lease uint64, instanceID, accelerator string) (Verdict, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	device, err := c.holder("reconfigure device "+id, id, lease)
	if err != nil {
		return Verdict{}, err
	}
	verdict, err := c.validate(device, instanceID, accelerator)
	if err != nil {
		return Verdict{}, err
	}
	c.stats.reconfigurations.WithLabelValues(verdict.Decision.String()).Inc()
	c.log.Info("reconfiguration asked for", "device", id, "instance", instanceID, "accelerator", accelerator,
		"decision", verdict.Decision.String(), "reason", verdict.Reason)
	return verdict, nil
}

func (c *Cluster) validate(device *Device, instanceID, accelerator string) (Verdict, error) {
	if reason := c.notEntitled(device, instanceID, accelerator); reason != "" {
		return Verdict{Decision: Refused, Reason: reason}, nil
	}
	if device.Accelerator == accelerator && device.Flag == nil {
		return Verdict{Decision: Unneeded, Reason: "it is configured"}, nil
	}
	if flag := device.Flag; flag != nil && flag.Accelerator != accelerator {
		return Verdict{Decision: Refused, Reason: fmt.Sprintf(
			"the board is to become %s for instance %s; ask for another board", flag.Accelerator, flag.Instance)}, nil
	}
	board := c.board(device)
	plan := allocate.Redistribute(&board, accelerator, c.boards(), c.options.Policy)
	if len(plan.Stuck) > 0 {
		return Verdict{Decision: Refused, Reason: fmt.Sprintf(
			"%s would lose the accelerator, and no other board can take them; add a board or wait until they end",
			someOf(plan.Stuck))}, nil
	}
	moves := append(c.leaving(device, accelerator), plan.Moves...)
	edit := c.edit()
	flag := edit.flag(device.ID, accelerator, instanceID, plan.Moves)
	if len(moves) == 0 && flag.GrantedAt.IsZero() {
		flag.GrantedAt = c.clock.Now()
	}
	if err := edit.commit(); err != nil {
		return Verdict{}, err
	}
	if len(moves) > 0 {
		reason := fmt.Sprintf("%d instances are moving to other boards", len(moves))
		return Verdict{Decision: Wait, Reason: reason, Moves: moves}, nil
	}
	good := c.options.ReconfigureTimeout - c.clock.Now().Sub(flag.GrantedAt)
	return Verdict{Decision: Granted, Reason: "nobody loses what it needs", Good: max(good, 0)}, nil
}

// notEntitled says why an instance may not have that accelerator on that board at all; empty if it may.
func (c *Cluster) notEntitled(device *Device, instanceID, accelerator string) string {
	instance := c.instances.get(instanceID)
	if instance == nil || instance.Device != device.ID {
		return fmt.Sprintf("instance %s is not allocated on this board", instanceID)
	}
	if instance.Move != nil {
		return fmt.Sprintf("instance %s is on its way to %s", instanceID, instance.Move.To)
	}
	function := c.functions.get(instance.Function)
	switch needs := function.Query.Accelerator; {
	case needs == accelerator:
	case needs != "":
		return fmt.Sprintf("function %s is registered for accelerator %s; register it for %s",
			function.Name, needs, accelerator)
	case !function.Exclusive:
		// Two that share a board and named nothing could take it from each other in turn for ever.
		return fmt.Sprintf("function %s is registered for no accelerator; register it for %s, or as exclusive",
			function.Name, accelerator)
	}
	loadable := len(device.Loadable) == 0 || slices.Contains(device.Loadable, accelerator)
	if device.Accelerator != accelerator && !(device.Reconfigurable && loadable) {
		return "this board cannot be loaded with it"
	}
	return ""
}

// leaving is the moves under way of those who could not work with the accelerator.
func (c *Cluster) leaving(device *Device, accelerator string) []allocate.Move {
	var moves []allocate.Move
	for _, id := range c.sortedOn(device.ID) {
		instance := c.instances.get(id)
		needs := c.functions.get(instance.Function).Query.Accelerator
		if instance.Device == device.ID && instance.Move != nil && needs != "" && needs != accelerator {
			moves = append(moves, allocate.Move{Instance: id, From: device.ID, To: instance.Move.To})
		}
	}
	return moves
}

// flag marks a device for reconfiguration and begins the moves before it. It gives the flag for the edit to change.
func (e *edit) flag(id, accelerator, instance string, moves []allocate.Move) *Reconfiguration {
	device := e.device(id)
	now := e.c.clock.Now()
	flag := Reconfiguration{Accelerator: accelerator, Instance: instance, FlaggedAt: now}
	if device.Flag != nil {
		flag = *device.Flag
	}
	device.Flag = &flag
	for _, move := range moves {
		e.instance(move.Instance).Move = &Move{
			To: move.To, Reconfiguration: true, Deadline: now.Add(e.c.options.MoveGrace),
		}
	}
	return &flag
}

// withdraw is called when an instance goes from its board. If the board is flagged for it and nothing has been granted,
// the flag passes to another instance that needs the same, or is given up, and with it the moves that made way.
func (e *edit) withdraw(instance *Instance) {
	current := e.peekDevice(instance.Device)
	if current.Flag == nil || current.Flag.Instance != instance.ID || !current.Flag.GrantedAt.IsZero() {
		return
	}
	flag := *current.Flag
	for _, id := range e.c.sortedOn(current.ID) {
		other := e.peek(id)
		staying := other != nil && id != instance.ID && other.Device == current.ID && other.Move == nil
		if staying && e.c.functions.get(other.Function).Query.Accelerator == flag.Accelerator {
			flag.Instance = id
			e.device(current.ID).Flag = &flag
			return
		}
	}
	e.giveUp(current.ID)
}

// resume goes on with a flag after a restart of the manager, which ended a load under way: it has come true by what is
// configured now, or whoever wanted it asks again, or there is nobody any more who did.
func (e *edit) resume(device *Device) {
	device.configured(device.Accelerator)
	if device.Flag == nil {
		return
	}
	wanted := e.c.instances.get(device.Flag.Instance)
	if wanted == nil || wanted.Device != device.ID {
		e.giveUp(device.ID)
		return
	}
	flag := *device.Flag
	flag.GrantedAt = 0
	device.Flag = &flag
}

// giveUp takes a device's flag away, and ends the moves that made way for it.
func (e *edit) giveUp(id string) {
	e.device(id).Flag = nil
	for _, other := range e.c.sortedOn(id) {
		moving := e.peek(other)
		if moving != nil && moving.Device == id && moving.Move != nil && moving.Move.Reconfiguration {
			e.instance(other).Move = nil
		}
	}
}

// ReportReconfiguration notes how a reconfiguration ended: `failure` is empty if it went well.
func (c *Cluster) ReportReconfiguration(id string, lease uint64, accelerator, failure string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	device, err := c.holder("report the reconfiguration of device "+id, id, lease)
	if err != nil {
		return err
	}
	edit := c.edit()
	changed := edit.device(id)
	changed.configured(accelerator)
	if changed.Flag != nil && !changed.Flag.GrantedAt.IsZero() {
		edit.giveUp(id) // It did not come true, whatever the reason.
	}
	if err := edit.commit(); err != nil {
		return err
	}
	result := "loaded"
	if failure != "" {
		result = "failed"
	}
	c.stats.reconfigurations.WithLabelValues(result).Inc()
	c.log.Info("reconfiguration ended", "device", id, "before", device.Accelerator, "now", accelerator, "error", failure)
	return nil
}

// someOf names the first few of many.
func someOf(ids []string) string {
	const most = 5
	if len(ids) <= most {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
}
