package allocate

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The properties are checked against a second reading of the rules, written as plainly as can be: whatever the two
// disagree about is a mistake in one of them.

// TestMain has many cases drawn unless told how many: a case takes a few microseconds, and moves are rare among them.
func TestMain(m *testing.M) {
	flag.Parse()
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		if err := checks.Value.Set("5000"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

var accelerators = []string{"", "sobel", "mm", "cnn"}

func drawReading(t *rapid.T, name string) Reading {
	if rapid.Bool().Draw(t, name+" known") {
		return Known(float64(rapid.IntRange(0, 4).Draw(t, name)) / 4)
	}
	return Reading{}
}

func drawClaim(t *rapid.T, instance string) Claim {
	claim := Claim{
		Instance: instance,
		Query: Query{
			Vendor:      rapid.SampledFrom([]string{"", "", "acme", "Other"}).Draw(t, "vendor"),
			Accelerator: rapid.SampledFrom(accelerators).Draw(t, "accelerator"),
			MemoryBytes: rapid.Uint64Range(0, 40).Draw(t, "memory"),
		},
		Exclusive: rapid.IntRange(0, 4).Draw(t, "exclusive") == 0,
		Node:      rapid.SampledFrom([]string{"", "", "n0", "n1"}).Draw(t, "node"),
	}
	if rapid.IntRange(0, 4).Draw(t, "capability") == 0 {
		claim.Query.Capabilities = []string{"fp64"}
	}
	return claim
}

func drawBoards(t *rapid.T) []Board {
	boards := make([]Board, rapid.IntRange(0, 8).Draw(t, "boards"))
	for i := range boards {
		flags := rapid.SliceOfN(rapid.IntRange(0, 5), 5, 5).Draw(t, "flags")
		boards[i] = Board{
			ID: fmt.Sprintf("b%d", i), Node: fmt.Sprintf("n%d", i%3), Remote: flags[0] > 0, Offline: flags[1] == 0,
			Draining: flags[2] == 0, Vendor: rapid.SampledFrom([]string{"Acme", "Acme", "Acme", "Other"}).Draw(t, "vendor"),
			Accelerator: rapid.SampledFrom(accelerators[1:3]).Draw(t, "configured"), Reconfigurable: flags[3] > 0,
			Pending: flags[4] == 0, InstancesMax: rapid.IntRange(1, 5).Draw(t, "max"), MemoryBytes: 100,
			Metrics: Metrics{Utilisation: drawReading(t, "utilisation"), QueueDepth: drawReading(t, "queue")},
		}
		if rapid.Bool().Draw(t, "fp64") {
			boards[i].Capabilities = []string{"fp64"}
		}
		if rapid.IntRange(0, 3).Draw(t, "bounded") == 0 {
			boards[i].Loadable = []string{"sobel", "mm"}
		}
	}
	return boards
}

func drawPolicy(t *rapid.T) Policy {
	keys := []Key{{Metric: Utilisation}, {Metric: QueueDepth, Step: 0.5}, {Metric: Instances}, {Metric: Distance}}
	policy := Policy{Order: rapid.Permutation(keys).Draw(t, "order")[:rapid.IntRange(0, 4).Draw(t, "keys")]}
	if rapid.Bool().Draw(t, "filtered") {
		policy.Filters = append(policy.Filters, Filter{Metric: Utilisation, Limit: 0.75})
	}
	if rapid.Bool().Draw(t, "filtered by instances") {
		policy.Filters = append(policy.Filters, Filter{Metric: Instances, Limit: 3, Inclusive: true})
	}
	return policy
}

// mayHold is the model of compatibility and filters, for a board as configured or to be configured.
func mayHold(board Board, claim Claim, policy Policy) bool {
	sum := claim.Query.MemoryBytes
	for _, tenant := range board.Tenants {
		sum += tenant.Query.MemoryBytes
		if tenant.Exclusive || claim.Exclusive {
			return false
		}
	}
	if board.Offline || board.Draining || len(board.Tenants) >= board.InstancesMax || sum > board.MemoryBytes {
		return false
	}
	if claim.Node != "" && !board.Remote && claim.Node != board.Node {
		return false
	}
	if claim.Query.Vendor == "Other" != (board.Vendor == "Other") && claim.Query.Vendor != "" {
		return false
	}
	if len(claim.Query.Capabilities) > len(board.Capabilities) {
		return false
	}
	for _, filter := range policy.Filters {
		value := float64(len(board.Tenants))
		if filter.Metric == Utilisation {
			value = board.Metrics.Utilisation.Value // 0 if unknown, which passes.
		}
		if value > filter.Limit || value == filter.Limit && !filter.Inclusive {
			return false
		}
	}
	return true
}

func matches(board Board, claim Claim) bool {
	return claim.Query.Accelerator == "" || claim.Query.Accelerator == board.Accelerator
}

func loadable(board Board, accelerator string) bool {
	allowed := board.Loadable == nil || accelerator == "sobel" || accelerator == "mm"
	return board.Reconfigurable && !board.Pending && allowed
}

// key is a board's place in the order, to be compared as a tuple.
func key(board Board, claim Claim, policy Policy) []float64 {
	value := func(r Reading) float64 {
		if !r.Known {
			return math.Inf(1)
		}
		return r.Value
	}
	key := []float64{1}
	if matches(board, claim) {
		key[0] = 0
	}
	for _, by := range policy.Order {
		switch by.Metric {
		case Utilisation:
			key = append(key, value(board.Metrics.Utilisation))
		case QueueDepth:
			key = append(key, math.Floor(2*value(board.Metrics.QueueDepth)))
		case Instances:
			key = append(key, float64(len(board.Tenants)))
		case Distance:
			far := 0.0
			if claim.Node != "" && claim.Node != board.Node {
				far = 1
			}
			key = append(key, far)
		}
	}
	return append(key, float64(board.ID[1]))
}

func find(boards []Board, id string) *Board {
	at := slices.IndexFunc(boards, func(b Board) bool { return b.ID == id })
	if at < 0 {
		return nil
	}
	return &boards[at]
}

// checkPlan checks that a plan moves all of `losing`, each to a board that can hold it, all of them together.
func checkPlan(t *rapid.T, from string, losing []Tenant, moves []Move, boards []Board, policy Policy) {
	after := slices.Clone(boards)
	for i := range after {
		after[i].Tenants = slices.Clone(after[i].Tenants)
	}
	moved := map[string]bool{}
	for _, move := range moves {
		at := slices.IndexFunc(losing, func(l Tenant) bool { return l.Instance == move.Instance })
		if at < 0 || moved[move.Instance] || move.From != from || move.To == from {
			t.Fatalf("move %+v of one that need not move", move)
		}
		moved[move.Instance] = true
		to := find(after, move.To)
		if to.Pending || !matches(*to, losing[at].Claim) || !mayHold(*to, losing[at].Claim, policy) {
			t.Fatalf("%+v cannot go to %+v", losing[at], *to)
		}
		to.Tenants = append(to.Tenants, losing[at])
	}
	for _, tenant := range losing {
		if !moved[tenant.Instance] && !tenant.Leaving {
			t.Fatalf("%s is left without a board", tenant.Instance)
		}
	}
}

func losing(board Board, accelerator string) []Tenant {
	return slices.DeleteFunc(slices.Clone(board.Tenants), func(l Tenant) bool {
		return l.Query.Accelerator == "" || l.Query.Accelerator == accelerator
	})
}

// checkChoice checks one answer against the model.
func checkChoice(t *rapid.T, claim Claim, boards []Board, policy Policy, choice Choice, err error) {
	if err != nil {
		var refused *NoBoardError
		total := 0
		if !errors.As(err, &refused) {
			t.Fatalf("error %v of another kind", err)
		}
		for _, count := range refused.Reasons {
			total += count
		}
		if total != len(boards) {
			t.Fatalf("%d reasons for %d boards", total, len(boards))
		}
	}
	chosen := find(boards, choice.Board)
	if (chosen == nil) != (err != nil) {
		t.Fatalf("chosen %+v with error %v", choice, err)
	}
	if chosen != nil {
		if !mayHold(*chosen, claim, policy) {
			t.Fatalf("chose %+v, which may not hold %+v", *chosen, claim)
		}
		other := choice.Reconfigure
		if other == matches(*chosen, claim) || other && !loadable(*chosen, claim.Query.Accelerator) {
			t.Fatalf("reconfigure %v of %+v for %+v", choice.Reconfigure, *chosen, claim)
		}
		if choice.Reconfigure {
			checkPlan(t, chosen.ID, losing(*chosen, claim.Query.Accelerator), choice.Moves, boards, policy)
		} else if len(choice.Moves) > 0 {
			t.Fatalf("moves without a reason: %+v", choice)
		}
		if claim.Node != "" && choice.Node != claim.Node || claim.Node == "" && choice.Node != chosen.Node {
			t.Fatalf("node %q for %+v on %+v", choice.Node, claim, *chosen)
		}
	}
	// Nothing that is eligible without doubt stands before the chosen one, or is there when none was chosen.
	for _, board := range boards {
		sure := matches(board, claim) ||
			loadable(board, claim.Query.Accelerator) && len(losing(board, claim.Query.Accelerator)) == 0
		if !sure || !mayHold(board, claim, policy) {
			continue
		}
		if chosen == nil {
			t.Fatalf("refused %+v, which %s could hold: %v", claim, board.ID, err)
		}
		if slices.Compare(key(board, claim, policy), key(*chosen, claim, policy)) < 0 {
			t.Fatalf("chose %s before %s", chosen.ID, board.ID)
		}
	}
}

// apply makes a choice come true.
func apply(boards []Board, claim Claim, choice Choice) {
	for _, move := range choice.Moves {
		from, to := find(boards, move.From), find(boards, move.To)
		at := slices.IndexFunc(from.Tenants, func(l Tenant) bool { return l.Instance == move.Instance })
		to.Tenants = append(to.Tenants, from.Tenants[at])
		from.Tenants = slices.Delete(from.Tenants, at, at+1)
	}
	board := find(boards, choice.Board)
	if choice.Reconfigure {
		board.Accelerator = claim.Query.Accelerator
	}
	board.Tenants = append(board.Tenants, Tenant{Claim: claim})
}

func checkBoards(t *rapid.T, boards []Board, placed int) {
	total := 0
	for _, board := range boards {
		total += len(board.Tenants)
		sum := uint64(0)
		for _, tenant := range board.Tenants {
			sum += tenant.Query.MemoryBytes
			if tenant.Exclusive && len(board.Tenants) > 1 {
				t.Fatalf("%s is exclusive on the shared %+v", tenant.Instance, board)
			}
			if !matches(board, tenant.Claim) {
				t.Fatalf("%s has lost its accelerator on %+v", tenant.Instance, board)
			}
		}
		if sum > board.MemoryBytes || len(board.Tenants) > board.InstancesMax {
			t.Fatalf("overcommitted: %+v", board)
		}
	}
	if total != placed {
		t.Fatalf("%d tenants on boards, %d were placed", total, placed)
	}
}

func TestAllocationsKeepTheRules(t *testing.T) {
	reconfigured, moved, refused := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		boards, policy := drawBoards(t), drawPolicy(t)
		placed := 0
		for i := range rapid.IntRange(1, 16).Draw(t, "claims") {
			claim := drawClaim(t, fmt.Sprintf("i%02d", i))
			choice, err := Allocate(claim, boards, policy)
			checkChoice(t, claim, boards, policy, choice, err)
			shuffled := rapid.Permutation(boards).Draw(t, "shuffled")
			again, errAgain := Allocate(claim, shuffled, policy)
			if !reflect.DeepEqual(choice, again) || fmt.Sprint(err) != fmt.Sprint(errAgain) {
				t.Fatalf("%+v %v became %+v %v in another order", choice, err, again, errAgain)
			}
			if err != nil {
				refused++
				continue
			}
			apply(boards, claim, choice)
			placed++
			checkBoards(t, boards, placed)
			if choice.Reconfigure {
				reconfigured++
			}
			moved += len(choice.Moves)
		}
	})
	// A generator that never comes to the hard cases would let every rule pass.
	if reconfigured == 0 || moved == 0 || refused == 0 {
		t.Fatalf("never seen: %d reconfigurations, %d moves, %d refusals", reconfigured, moved, refused)
	}
}

func TestEvacuationKeepsTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		boards, policy := drawBoards(t), drawPolicy(t)
		placed := 0
		for i := range 10 {
			claim := drawClaim(t, fmt.Sprintf("i%02d", i))
			if choice, err := Allocate(claim, boards, policy); err == nil {
				apply(boards, claim, choice)
				placed++
			}
		}
		checkBoards(t, boards, placed)
		for _, from := range boards {
			plan := Evacuate(&from, boards, policy)
			going := slices.DeleteFunc(slices.Clone(from.Tenants), func(l Tenant) bool {
				return slices.Contains(plan.Stuck, l.Instance)
			})
			checkPlan(t, from.ID, going, plan.Moves, boards, policy)
			if len(plan.Moves)+len(plan.Stuck) != len(from.Tenants) {
				t.Fatalf("%+v does not tell of all of %+v", plan, from)
			}
		}
	})
}
