package cluster

import (
	"slices"
	"strings"
	"time"

	"rackloom/cloud/allocate"
	"rackloom/cloud/internal/clock"
)

// Device is a board as its manager registered it, and what was decided about it. Records are never changed in place:
// an edit puts a changed copy in their stead, so that who reads one needs no lock.
type Device struct {
	ID      string `json:"id"`
	Manager string `json:"manager"`
	// Owner is the part of a credential by which its manager spoke for it; empty if it had none.
	Owner          string           `json:"owner,omitempty"`
	Endpoints      []string         `json:"endpoints"`
	MetricsURL     string           `json:"metricsUrl,omitempty"`
	MetricsBoard   string           `json:"metricsBoard,omitempty"`
	Vendor         string           `json:"vendor"`
	Platform       string           `json:"platform"`
	Accelerator    string           `json:"accelerator,omitempty"`
	Reconfigurable bool             `json:"reconfigurable,omitempty"`
	Loadable       []string         `json:"loadable,omitempty"`
	Capabilities   []string         `json:"capabilities,omitempty"`
	InstancesMax   int              `json:"instancesMax"`
	MemoryBytes    uint64           `json:"memoryBytes,omitempty"`
	Lease          uint64           `json:"lease"`
	LostSince      clock.Instant    `json:"lostAt,omitzero"`
	Draining       bool             `json:"draining,omitempty"`
	Flag           *Reconfiguration `json:"reconfiguration,omitempty"`
}

// Reconfiguration is what a flagged board is to become.
type Reconfiguration struct {
	Accelerator string        `json:"accelerator"`
	Instance    string        `json:"instance"`
	FlaggedAt   clock.Instant `json:"flagged"`
	// GrantedAt is zero until the manager may load it.
	GrantedAt clock.Instant `json:"granted,omitzero"`
}

// Node is where the board is: the part of the id before the slash.
func (d *Device) Node() string {
	node, _, _ := strings.Cut(d.ID, "/")
	return node
}

// Board is the board's name on its node: the part of the id after the slash.
func (d *Device) Board() string {
	_, board, _ := strings.Cut(d.ID, "/")
	return board
}

// remote is the endpoint for programs on other nodes; empty if there is none. Of several, one that is encrypted.
func (d *Device) remote() string {
	for _, kind := range []string{"tls:", "tcp:"} {
		at := slices.IndexFunc(d.Endpoints, func(e string) bool { return strings.HasPrefix(e, kind) })
		if at >= 0 {
			return d.Endpoints[at]
		}
	}
	return ""
}

// endpoint is what a program on that node uses: the local one if it can, which shares memory with the manager.
func (d *Device) endpoint(node string) string {
	if node == d.Node() {
		if at := slices.IndexFunc(d.Endpoints, func(e string) bool { return strings.HasPrefix(e, "unix:") }); at >= 0 {
			return d.Endpoints[at]
		}
	}
	return d.remote()
}

// target is the accelerator that will be there once what is pending is done.
func (d *Device) target() string {
	if d.Flag != nil {
		return d.Flag.Accelerator
	}
	return d.Accelerator
}

// Function is what instances are of.
type Function struct {
	Name      string         `json:"name"`
	Query     allocate.Query `json:"query"`
	Exclusive bool           `json:"exclusive,omitempty"`
	Weight    uint32         `json:"weight"`
	// LongestKernelMs bounds how long one kernel may keep others waiting; 0 if that is the manager's to say.
	LongestKernelMs uint32 `json:"longestKernelMs,omitempty"`
}

// Instance is an allocation.
type Instance struct {
	ID       string `json:"id"`
	Function string `json:"function"`
	// NodeAsked is where it has to run; empty if it may run where its board is.
	NodeAsked string `json:"nodeAsked,omitempty"`
	Device    string `json:"device"`
	// Generation counts the boards it has had.
	Generation uint64 `json:"generation"`
	// Token admits it at the manager: 64 hexadecimal digits.
	Token string `json:"token"`
	Move  *Move  `json:"move,omitempty"`
	// CreatedAt is by the wall clock, for people.
	CreatedAt time.Time `json:"createdAt"`
}

// Move is an instance's way to another board, where its place is reserved.
type Move struct {
	To string `json:"to"`
	// Reconfiguration is true if the move makes way for one, and ends with it if that is given up.
	Reconfiguration bool          `json:"reconfiguration,omitempty"`
	Deadline        clock.Instant `json:"until"`
}

// devices are the boards that the instance counts on, now and after its move.
func (i *Instance) devices() []string {
	if i.Move != nil {
		return []string{i.Device, i.Move.To}
	}
	return []string{i.Device}
}

// node is where the instance runs if the board is its own.
func (i *Instance) node(device *Device) string {
	if i.NodeAsked != "" {
		return i.NodeAsked
	}
	return device.Node()
}

// Environment is what a program needs to use the board.
func (i *Instance) Environment(device *Device) map[string]string {
	return map[string]string{
		"RACKLOOM_MANAGERS": device.endpoint(i.node(device)),
		"RACKLOOM_TOKEN":    i.Token,
	}
}
