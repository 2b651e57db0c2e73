// Package identity is who may call a registry: what credentials there are, and what each may do.
package identity

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Role is what a caller may do.
type Role int

// The roles. An administrator may do everything, everybody else what is theirs and what a viewer may.
const (
	// Viewer looks, and sees no token of an instance.
	Viewer Role = iota
	// Manager has boards.
	Manager
	// Orchestrator has functions and instances.
	Orchestrator
	// Admin may do everything.
	Admin
)

var roleNames = map[Role]string{Viewer: "viewer", Manager: "manager", Orchestrator: "orchestrator", Admin: "admin"}

// String is the role's name.
func (r Role) String() string { return roleNames[r] }

// ParseRole reads a role's name.
func ParseRole(name string) (Role, error) {
	for role, known := range roleNames {
		if known == name {
			return role, nil
		}
	}
	names := slices.Sorted(maps.Values(roleNames))
	return 0, fmt.Errorf("no role is called %q; there are %s", name, strings.Join(names, ", "))
}

// May says whether the role is enough where another is needed.
func (r Role) May(needed Role) bool { return r == Admin || r == needed || needed == Viewer }

// Caller is who makes a call.
type Caller struct {
	Role Role
	// Boards are what a manager speaks for: NODE for all boards of a node, or NODE/BOARD.
	Boards []string
}

// SpeaksFor is the part of the caller's credential by which it speaks for a device: the narrowest that covers it. It is
// not ok if there is none. An administrator speaks for all, by the empty part.
func (c Caller) SpeaksFor(device string) (part string, ok bool) {
	if c.Role == Admin {
		return "", true
	}
	node, _, _ := strings.Cut(device, "/")
	switch {
	case c.Role != Manager:
		return "", false
	case slices.Contains(c.Boards, device):
		return device, true
	}
	return node, slices.Contains(c.Boards, node)
}

// Same says whether two callers may do the same.
func (c Caller) Same(other Caller) bool {
	return c.Role == other.Role && slices.Equal(c.Boards, other.Boards)
}
