package allocate

import (
	"fmt"
	"testing"
)

// The evaluation of the BlastFunction paper (section IV-B): five Sobel functions on the boards of the nodes A, B and C.
var (
	// paperPlaces is where the functions are: table II, column Node.
	paperPlaces = []string{"B", "A", "C", "A", "B"}
	// paperRates are the requests a second of each at high load: table I.
	paperRates = []float64{60, 50, 35, 30, 15}
	// paperSeconds is the board time of a request: utilisation divided by processed requests, in table II.
	paperSeconds = map[string]float64{"A": 0.01486, "B": 0.01238, "C": 0.01313}
)

func paperBoards() []Board {
	var boards []Board
	for _, id := range []string{"A", "B", "C"} {
		boards = append(boards, with(board(id, "sobel"), func(b *Board) { b.Metrics.Utilisation = Known(0) }))
	}
	return boards
}

// settle allocates one more function, and gives the board that it got.
func settle(t *testing.T, boards []Board, policy Policy, number int) *Board {
	t.Helper()
	claim := Claim{Instance: fmt.Sprintf("sobel-%d", number+1), Query: Query{Accelerator: "sobel"}}
	choice, err := Allocate(claim, boards, policy)
	if err != nil {
		t.Fatal(err)
	}
	for i := range boards {
		if boards[i].ID == choice.Board {
			boards[i].Tenants = append(boards[i].Tenants, Tenant{Claim: claim})
			return &boards[i]
		}
	}
	t.Fatalf("%s got the board %q, which there is not", claim.Instance, choice.Board)
	return nil
}

// The paper does not say by which metrics its functions were placed. Their places are those of an order by connected
// functions, whichever board comes first among equals: here it is the one that the paper names.
func TestThePapersPlacesAreThoseOfTheFewestInstances(t *testing.T) {
	policy := Policy{Order: []Key{{Metric: Instances}, {Metric: Utilisation}}}
	boards := paperBoards()
	for number, want := range paperPlaces {
		for i := range boards {
			busy := 0.5
			if boards[i].ID == want {
				busy = 0
			}
			boards[i].Metrics.Utilisation = Known(busy)
		}
		if got := settle(t, boards, policy, number); got.ID != want {
			t.Errorf("sobel-%d is on %s, and in the paper on %s", number+1, got.ID, want)
		}
	}
}

// Placed while those before them are under load, no board is asked for more than all of its time; as the paper has
// placed them, A is.
func TestPlacedUnderLoadNoBoardIsOverloaded(t *testing.T) {
	boards := paperBoards()
	var places string
	for number, rate := range paperRates {
		got := settle(t, boards, DefaultPolicy(), number)
		got.Metrics.Utilisation = Known(got.Metrics.Utilisation.Value + rate*paperSeconds[got.ID])
		places += got.ID
	}
	for _, b := range boards {
		if b.Metrics.Utilisation.Value >= 1 {
			t.Errorf("board %s is asked for %.2f of its time", b.ID, b.Metrics.Utilisation.Value)
		}
	}
	if places != "ABCCB" {
		t.Errorf("the places are %s; the bench and its documentation have ABCCB", places)
	}
	asked := map[string]float64{}
	for number, rate := range paperRates {
		asked[paperPlaces[number]] += rate * paperSeconds[paperPlaces[number]]
	}
	if !(asked["A"] > 1 && asked["B"] < 1 && asked["C"] < 1) {
		t.Errorf("as in the paper, %v of the boards' time is asked for", asked)
	}
}
