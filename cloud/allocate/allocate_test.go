package allocate

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func board(id, accelerator string, tenants ...Tenant) Board {
	return Board{
		ID: id, Node: "node-" + id, Remote: true, Vendor: "Acme", Platform: "Card", Accelerator: accelerator,
		Reconfigurable: true, InstancesMax: 4, MemoryBytes: 100, Tenants: tenants,
	}
}

func tenant(instance, accelerator string) Tenant {
	return Tenant{Claim: Claim{Instance: instance, Query: Query{Accelerator: accelerator}}}
}

func with(b Board, change func(*Board)) Board {
	change(&b)
	return b
}

func TestAllocate(t *testing.T) {
	busy := func(value float64) func(*Board) {
		return func(b *Board) { b.Metrics.Utilisation = Known(value) }
	}
	sobel := Claim{Instance: "new", Query: Query{Accelerator: "sobel"}}
	for name, test := range map[string]struct {
		claim  Claim
		boards []Board
		want   Choice
		refuse string
	}{
		"no board": {claim: sobel, refuse: "no board is registered"},
		"the least utilised": {
			claim:  sobel,
			boards: []Board{with(board("a", "sobel"), busy(0.5)), with(board("b", "sobel"), busy(0.2))},
			want:   Choice{Board: "b", Node: "node-b"},
		},
		"as good as equally utilised, and fewer instances": {
			claim: sobel,
			boards: []Board{
				with(board("a", "sobel", tenant("x", "")), busy(0.51)), with(board("b", "sobel"), busy(0.59)),
			},
			want: Choice{Board: "b", Node: "node-b"},
		},
		"a match before an idle board without": {
			claim:  sobel,
			boards: []Board{with(board("a", "sobel"), busy(0.8)), with(board("b", ""), busy(0))},
			want:   Choice{Board: "a", Node: "node-a"},
		},
		"saturated boards are no match": {
			claim:  sobel,
			boards: []Board{with(board("a", "sobel"), busy(0.9)), with(board("b", ""), busy(0))},
			want:   Choice{Board: "b", Node: "node-b", Reconfigure: true},
		},
		"unknown is not idle": {
			claim:  sobel,
			boards: []Board{board("a", "sobel"), with(board("b", "sobel"), busy(0.7))},
			want:   Choice{Board: "b", Node: "node-b"},
		},
		"unknown is better than nothing": {
			claim:  sobel,
			boards: []Board{board("a", "sobel")},
			want:   Choice{Board: "a", Node: "node-a"},
		},
		"its own node first, and kept": {
			claim:  Claim{Instance: "new", Node: "node-b"},
			boards: []Board{with(board("a", ""), busy(0)), with(board("b", ""), busy(0.7))},
			want:   Choice{Board: "b", Node: "node-b"},
		},
		"another node over the network": {
			claim:  Claim{Instance: "new", Node: "elsewhere"},
			boards: []Board{board("a", "")},
			want:   Choice{Board: "a", Node: "elsewhere"},
		},
		"no way from the node": {
			claim:  Claim{Instance: "new", Node: "elsewhere"},
			boards: []Board{with(board("a", ""), func(b *Board) { b.Remote = false })},
			refuse: "1 out of reach of the node",
		},
		"who can move makes room": {
			claim:  sobel,
			boards: []Board{board("a", "mm", tenant("x", "mm")), board("b", "mm")},
			want:   Choice{Board: "b", Node: "node-b", Reconfigure: true},
		},
		"the first whose tenants can move": {
			claim: sobel,
			boards: []Board{
				with(board("a", "cnn", tenant("x", "cnn")), busy(0.1)),
				with(board("b", "mm", tenant("y", "mm"), tenant("z", "")), busy(0.2)),
				with(board("c", "mm", tenant("w", "mm")), func(b *Board) { b.Reconfigurable = false }),
			},
			want: Choice{
				Board: "b", Node: "node-b", Reconfigure: true, Moves: []Move{{Instance: "y", From: "b", To: "c"}},
			},
		},
		"who cannot move stands against it": {
			claim:  sobel,
			boards: []Board{board("a", "cnn", tenant("x", "cnn")), board("b", "mm", tenant("y", "mm"))},
			refuse: "2 needed by others as configured",
		},
		"one reconfiguration at a time": {
			claim:  sobel,
			boards: []Board{with(board("a", "mm"), func(b *Board) { b.Pending = true })},
			refuse: "1 without the accelerator",
		},
		"a board is loaded with what it takes only": {
			claim:  sobel,
			boards: []Board{with(board("a", "mm"), func(b *Board) { b.Loadable = []string{"cnn"} })},
			refuse: "1 without the accelerator",
		},
		"exclusive wants it empty": {
			claim:  Claim{Instance: "new", Exclusive: true},
			boards: []Board{board("a", "", tenant("x", "")), board("b", "")},
			want:   Choice{Board: "b", Node: "node-b"},
		},
		"exclusive keeps others out": {
			claim:  sobel,
			boards: []Board{board("a", "sobel", Tenant{Claim: Claim{Instance: "x", Exclusive: true}})},
			refuse: "1 held exclusively",
		},
		"memory is counted": {
			claim: Claim{Instance: "new", Query: Query{MemoryBytes: 60}},
			boards: []Board{
				board("a", "", Tenant{Claim: Claim{Instance: "x", Query: Query{MemoryBytes: 50}}}),
				with(board("b", ""), func(b *Board) { b.MemoryBytes = 59 }),
			},
			refuse: "none of 2 boards is eligible: 2 short of memory",
		},
		"every reason is reported": {
			claim: Claim{Instance: "new", Query: Query{Vendor: "acme", Capabilities: []string{"fp64"}}},
			boards: []Board{
				board("a", ""),
				with(board("b", ""), func(b *Board) { b.Vendor = "Other" }),
				with(board("c", ""), func(b *Board) { b.Offline = true }),
				with(board("d", ""), func(b *Board) { b.Offline = true }),
			},
			refuse: "none of 4 boards is eligible: 2 lost, 1 of another vendor, 1 without the capabilities",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Allocate(test.claim, test.boards, DefaultPolicy())
			if test.refuse != "" {
				var refused *NoBoardError
				if !errors.As(err, &refused) || !strings.Contains(err.Error(), test.refuse) {
					t.Fatalf("got %+v, %v; want an error with %q", got, err, test.refuse)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, test.want) {
				t.Fatalf("got %+v, %v; want %+v", got, err, test.want)
			}
		})
	}
}

func TestEvacuateMovesAllOrNamesWhoStays(t *testing.T) {
	leaving := tenant("gone", "mm")
	leaving.Leaving = true
	arriving := tenant("coming", "")
	arriving.Arriving = true
	from := board("a", "mm", tenant("x", "mm"), tenant("y", ""), leaving, arriving)
	plan := Evacuate(&from, []Board{from, board("b", "cnn")}, DefaultPolicy())
	want := Plan{Moves: []Move{{Instance: "y", From: "a", To: "b"}}, Stuck: []string{"coming", "x"}}
	if !reflect.DeepEqual(plan, want) {
		t.Fatalf("got %+v, want %+v", plan, want)
	}
}

func TestKeysAreReadAsWritten(t *testing.T) {
	for _, text := range []string{"utilisation", "queue_depth / 4", "task_seconds / 0.001"} {
		key, err := ParseKey(text)
		if err != nil || key.String() != text {
			t.Errorf("%q became %q, %v", text, key, err)
		}
	}
	for _, text := range []string{"", "load", "utilisation /", "utilisation / 0", "utilisation / -1", "tenants / Inf"} {
		if key, err := ParseKey(text); err == nil {
			t.Errorf("%q became %q", text, key)
		}
	}
}

func TestFiltersAreReadAsWritten(t *testing.T) {
	for _, text := range []string{"utilisation < 0.9", "queue_depth <= 8", "task_seconds < 1e-09"} {
		filter, err := ParseFilter(text)
		if err != nil || filter.String() != text {
			t.Errorf("%q became %q, %v", text, filter, err)
		}
	}
	for _, text := range []string{"", "utilisation", "load < 1", "utilisation < high", "tenants > 3", "tenants < NaN"} {
		if filter, err := ParseFilter(text); err == nil {
			t.Errorf("%q became %q", text, filter)
		}
	}
}
