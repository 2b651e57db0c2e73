package allocate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Move sends a tenant of a board to another one.
type Move struct {
	Instance, From, To string
}

// Choice is the board that a claim gets.
type Choice struct {
	Board string
	// Node is where the instance is to run: as claimed, or else the board's node.
	Node string
	// Reconfigure is true if the board has to be given the claim's accelerator, after the moves.
	Reconfigure bool
	Moves       []Move
}

// NoBoardError says that no board is eligible, and how many were refused for what.
type NoBoardError struct {
	Boards  int
	Reasons map[string]int
}

// Error lists the reasons, the most frequent first.
func (e *NoBoardError) Error() string {
	if e.Boards == 0 {
		return "no board is registered"
	}
	reasons := slices.SortedFunc(maps.Keys(e.Reasons), func(a, b string) int {
		return cmp.Or(cmp.Compare(e.Reasons[b], e.Reasons[a]), cmp.Compare(a, b))
	})
	for i, reason := range reasons {
		reasons[i] = fmt.Sprintf("%d %s", e.Reasons[reason], reason)
	}
	return fmt.Sprintf("none of %d boards is eligible: %s", e.Boards, strings.Join(reasons, ", "))
}

// Allocate chooses a board for a claim, as Algorithm 1 does: filter by compatibility, filter by metrics, order by
// accelerator and metrics, advance to one that matches or whose tenants can be redistributed. The error is a
// *NoBoardError.
func Allocate(claim Claim, boards []Board, policy Policy) (Choice, error) {
	refused := &NoBoardError{Boards: len(boards), Reasons: map[string]int{}}
	eligible := filter(&claim, boards, &policy, refused)
	slices.SortFunc(eligible, func(a, b *Board) int { return policy.compare(a, b, &claim, none) })
	for _, board := range eligible {
		choice := Choice{Board: board.ID, Node: claim.Node}
		if choice.Node == "" {
			choice.Node = board.Node
		}
		if board.serves(&claim.Query) {
			return choice, nil
		}
		plan := redistribute(board, claim.Query.Accelerator, boards, &policy)
		if len(plan.Stuck) == 0 {
			choice.Reconfigure, choice.Moves = true, plan.Moves
			return choice, nil
		}
		refused.Reasons["needed by others as configured"]++
	}
	return Choice{}, refused
}

func filter(claim *Claim, boards []Board, policy *Policy, refused *NoBoardError) []*Board {
	var eligible []*Board
	for i := range boards {
		board := &boards[i]
		reason := board.refusal(claim)
		if reason == "" {
			reason = policy.blocking(board, claim, 0)
		}
		if reason != "" {
			refused.Reasons[reason]++
			continue
		}
		eligible = append(eligible, board)
	}
	return eligible
}

// Plan is how a board's tenants can be sent elsewhere.
type Plan struct {
	// Moves has one move for each tenant that has to go and is not going already.
	Moves []Move
	// Stuck are the tenants that no other board can take.
	Stuck []string
}

// Redistribute plans how the tenants of a board that could not work with an accelerator find other boards, which are
// configured for them and have room. It begins no further reconfiguration, which could go on without end, and sends
// nobody to a board that is being reconfigured.
func Redistribute(board *Board, accelerator string, boards []Board, policy Policy) Plan {
	return redistribute(board, accelerator, boards, &policy)
}

// Evacuate plans how all tenants of a board find other boards.
func Evacuate(board *Board, boards []Board, policy Policy) Plan {
	return place(board, slices.Clone(board.Tenants), boards, &policy)
}

func redistribute(board *Board, accelerator string, boards []Board, policy *Policy) Plan {
	var losing []Tenant
	for _, tenant := range board.Tenants {
		if needs := tenant.Query.Accelerator; needs != "" && needs != accelerator {
			losing = append(losing, tenant)
		}
	}
	return place(board, losing, boards, policy)
}

// load is what a plan adds to a board.
type load struct {
	tenants int
	bytes   uint64
}

// place finds a board for each of the tenants of `from`, the largest first, as they are the hardest to place. It is
// greedy: it may call a tenant stuck where a cleverer packing would find room, but never plans too much for a board.
// An exclusive tenant is the only one of its board, so what is planned need not remember who is exclusive.
func place(from *Board, tenants []Tenant, boards []Board, policy *Policy) Plan {
	slices.SortFunc(tenants, func(a, b Tenant) int {
		return cmp.Or(cmp.Compare(b.Query.MemoryBytes, a.Query.MemoryBytes), cmp.Compare(a.Instance, b.Instance))
	})
	loads := map[string]load{}
	more := func(board *Board) int { return loads[board.ID].tenants }
	var plan Plan
	for i := range tenants {
		tenant := &tenants[i]
		if tenant.Leaving {
			continue // It has another board already.
		}
		if tenant.Arriving {
			// A move in flight cannot be redirected: it arrives here, and may then be moved on.
			plan.Stuck = append(plan.Stuck, tenant.Instance)
			continue
		}
		to := best(from, &tenant.Claim, boards, policy, loads, more)
		if to == nil {
			plan.Stuck = append(plan.Stuck, tenant.Instance)
			continue
		}
		planned := loads[to.ID]
		planned.tenants++
		planned.bytes += tenant.Query.MemoryBytes
		loads[to.ID] = planned
		plan.Moves = append(plan.Moves, Move{Instance: tenant.Instance, From: from.ID, To: to.ID})
	}
	return plan
}

// best is the best board other than `from` that can take the claim as it is configured, with what is planned there.
func best(
	from *Board, claim *Claim, boards []Board, policy *Policy, loads map[string]load, more func(*Board) int,
) *Board {
	var found *Board
	for i := range boards {
		board := &boards[i]
		planned := loads[board.ID]
		fits := board.ID != from.ID && !board.Pending && board.serves(&claim.Query) &&
			board.refusal(claim) == "" && board.crowded(claim, planned.tenants, planned.bytes) == "" &&
			policy.blocking(board, claim, planned.tenants) == ""
		if fits && (found == nil || policy.compare(board, found, claim, more) < 0) {
			found = board
		}
	}
	return found
}

func none(*Board) int { return 0 }
