package cluster

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"google.golang.org/grpc/codes"

	"rackloom/cloud/allocate"
)

// View is an instance with the records that say where it is.
type View struct {
	*Instance
	On *Device
	// To is the board it moves to; nil if it does not.
	To *Device
}

// Node is where the instance runs.
func (v *View) Node() string { return v.node(v.On) }

// NextNode is where it runs after its move.
func (v *View) NextNode() string { return v.node(v.To) }

func (c *Cluster) view(instance *Instance) View {
	view := View{Instance: instance, On: c.devices.get(instance.Device)}
	if instance.Move != nil {
		view.To = c.devices.get(instance.Move.To)
	}
	return view
}

// CreateInstance allocates a board. Asked again it gives what it gave.
func (c *Cluster) CreateInstance(id, functionName, node string) (View, error) {
	begun := c.clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	what := "create instance " + id
	if old := c.instances.get(id); old != nil {
		if old.Function != functionName || old.NodeAsked != node {
			return View{}, fail(codes.AlreadyExists, what,
				fmt.Sprintf("it is one of function %s, asked for node %q", old.Function, old.NodeAsked), "choose another id")
		}
		return c.view(old), nil
	}
	function := c.functions.get(functionName)
	if function == nil {
		return View{}, fail(codes.NotFound, what, "there is no function "+functionName, "register it first")
	}
	if c.instances.len() >= InstancesMax {
		return View{}, fail(codes.ResourceExhausted, what,
			fmt.Sprintf("there are %d instances, as many as may be", InstancesMax), "delete those that are gone")
	}
	instance := &Instance{
		ID: id, Function: functionName, NodeAsked: node, Generation: 1, Token: newToken(), CreatedAt: c.clock.Wall(),
	}
	choice, err := allocate.Allocate(c.claim(instance, function), c.boards(), c.options.Policy)
	if err != nil {
		c.stats.allocations.WithLabelValues("refused").Inc()
		return View{}, fail(codes.ResourceExhausted, what, err.Error(), "free or add boards, or ask for less")
	}
	instance.Device = choice.Board
	edit := c.edit()
	edit.instances[id] = instance
	if choice.Reconfigure {
		edit.flag(choice.Board, function.Query.Accelerator, id, choice.Moves)
	}
	if err := edit.commit(); err != nil {
		c.stats.allocations.WithLabelValues("failed").Inc()
		return View{}, err
	}
	c.stats.allocations.WithLabelValues("allocated").Inc()
	c.stats.allocationSeconds.Observe(c.clock.Now().Sub(begun).Seconds())
	c.log.Info("instance allocated", "instance", id, "function", functionName, "device", choice.Board,
		"reconfigure", choice.Reconfigure, "moves", len(choice.Moves))
	return c.view(instance), nil
}

// newToken makes what nobody can guess.
func newToken() string {
	var token [32]byte
	rand.Read(token[:]) // It never fails: Go ends the process first.
	return hex.EncodeToString(token[:])
}

// DeleteInstance frees what an instance had.
func (c *Cluster) DeleteInstance(id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	instance := c.instances.get(id)
	if instance == nil {
		return unknown("instance", id)
	}
	edit := c.edit()
	edit.withdraw(instance)
	edit.instances[id] = nil
	if err := edit.commit(); err != nil {
		return err
	}
	c.log.Info("instance deleted", "instance", id, "device", instance.Device)
	return nil
}

// ConfirmMove ends an instance's move: it runs on its new board, and leaves the old one.
func (c *Cluster) ConfirmMove(id, to string) (View, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	instance := c.instances.get(id)
	switch {
	case instance == nil:
		return View{}, unknown("instance", id)
	case instance.Move == nil && instance.Device == to:
		return c.view(instance), nil
	case instance.Move == nil || instance.Move.To != to:
		return View{}, fail(codes.FailedPrecondition, "confirm the move of instance "+id,
			"it is not on its way to "+to, "look at its move again: it may have been given up")
	}
	edit := c.edit()
	edit.finishMove(edit.instance(id))
	if err := edit.commit(); err != nil {
		return View{}, err
	}
	return c.view(c.instances.get(id)), nil
}

// finishMove gives an instance that is being edited its new board for good.
func (e *edit) finishMove(instance *Instance) {
	e.withdraw(e.c.instances.get(instance.ID))
	instance.Device = instance.Move.To
	instance.Move = nil
	instance.Generation++
}

// GetInstance is one instance.
func (c *Cluster) GetInstance(id string) (View, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	instance := c.instances.get(id)
	if instance == nil {
		return View{}, unknown("instance", id)
	}
	return c.view(instance), nil
}

// Instances is up to `most` instances behind an id, of a function and on a device if those are not empty, and whether
// there are more.
func (c *Cluster) Instances(after string, most int, function, device string) (page []View, more bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, instance := range c.instances.after(after) {
		on := c.on[device]
		if _, found := on[instance.ID]; device != "" && !found || function != "" && instance.Function != function {
			continue
		}
		if len(page) == most {
			return page, true
		}
		page = append(page, c.view(instance))
	}
	return page, false
}
