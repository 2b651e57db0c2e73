// Package allocate chooses boards for function instances: Algorithm 1 of the BlastFunction paper.
//
// It is pure: no clock, no lock, no I/O. The same boards, claim and policy give the same answer, in whatever order the
// boards are named. The paper's text leaves some things open; what was decided is said where it is done, and in the
// reference page of the registry.
package allocate

import (
	"slices"
	"strings"
)

// Query is what a claim asks of a board. Empty fields take anything.
type Query struct {
	// Vendor and Platform are compared without regard to case, as vendors write their names in several ways.
	Vendor, Platform string
	// Accelerator is the image that has to be configured, or at least loadable.
	Accelerator string
	// Capabilities are all required.
	Capabilities []string
	// MemoryBytes is taken from the board's memory for as long as the claim lasts.
	MemoryBytes uint64
}

// Claim is an instance that has a board or wants one.
type Claim struct {
	// Instance is unique among claims.
	Instance string
	Query    Query
	// Exclusive claims share a board with nobody.
	Exclusive bool
	// Node is where the instance has to run; empty leaves it to the board.
	Node string
}

// Tenant is a claim that counts on a board.
type Tenant struct {
	Claim
	// Leaving tenants have another board reserved and go from this one.
	Leaving bool
	// Arriving tenants have this board reserved and still use another.
	Arriving bool
}

// Board is a device as the algorithm sees it.
type Board struct {
	// ID is unique, and breaks ties.
	ID   string
	Node string
	// Remote is true if programs on other nodes can reach the board.
	Remote bool
	// Offline boards have no living manager, Draining ones are held back by an administrator: neither is eligible.
	Offline, Draining bool
	Vendor, Platform  string
	// Accelerator is what is configured, or what will be once a pending reconfiguration is done.
	Accelerator string
	// Pending is true while a reconfiguration is under way: no second one is begun.
	Pending bool
	// Reconfigurable boards can have another accelerator loaded: one of Loadable, or any if that is empty.
	Reconfigurable bool
	Loadable       []string
	Capabilities   []string
	// InstancesMax bounds the tenants, those leaving and arriving included, so that no promise rests on a hope.
	InstancesMax int
	// MemoryBytes bounds the sum of what tenants ask for.
	MemoryBytes uint64
	Tenants     []Tenant
	Metrics     Metrics
}

// serves says whether the claim finds what it needs configured.
func (b *Board) serves(query *Query) bool {
	return query.Accelerator == "" || query.Accelerator == b.Accelerator
}

// canLoad says whether the board may be given that accelerator, others on it aside.
func (b *Board) canLoad(accelerator string) bool {
	if !b.Reconfigurable || b.Pending {
		return false
	}
	return len(b.Loadable) == 0 || slices.Contains(b.Loadable, accelerator)
}

// refusal says why the board is not compatible with the claim; empty if it is. Whether other tenants stand against a
// reconfiguration is another question: see redistribute.
func (b *Board) refusal(claim *Claim) string {
	query := &claim.Query
	switch {
	case b.Offline:
		return "lost"
	case b.Draining:
		return "draining"
	case query.Vendor != "" && !strings.EqualFold(query.Vendor, b.Vendor):
		return "of another vendor"
	case query.Platform != "" && !strings.EqualFold(query.Platform, b.Platform):
		return "of another platform"
	case !containsAll(b.Capabilities, query.Capabilities):
		return "without the capabilities"
	case !b.serves(query) && !b.canLoad(query.Accelerator):
		return "without the accelerator"
	case claim.Node != "" && claim.Node != b.Node && !b.Remote:
		return "out of reach of the node"
	}
	return b.crowded(claim, 0, 0)
}

// crowded says why the board has no room for the claim besides its tenants and `more` others that use `bytes`.
func (b *Board) crowded(claim *Claim, more int, bytes uint64) string {
	if len(b.Tenants)+more >= b.InstancesMax {
		return "full"
	}
	if claim.Exclusive && len(b.Tenants)+more > 0 {
		return "shared, and the claim is exclusive"
	}
	free := saturatingSub(b.MemoryBytes, bytes)
	for i := range b.Tenants {
		if b.Tenants[i].Exclusive {
			return "held exclusively"
		}
		free = saturatingSub(free, b.Tenants[i].Query.MemoryBytes)
	}
	if claim.Query.MemoryBytes > free {
		return "short of memory"
	}
	return ""
}

func containsAll(have, want []string) bool {
	return !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(have, w) })
}

func saturatingSub(a, b uint64) uint64 {
	if b > a {
		return 0
	}
	return a - b
}
