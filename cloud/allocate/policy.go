package allocate

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Reading is a measured value. Stale and missing ones are unknown, which is not 0: a board that nobody hears of is no
// idle board.
type Reading struct {
	Value float64
	Known bool
}

// Known makes a reading.
func Known(value float64) Reading { return Reading{Value: value, Known: true} }

// Metrics are what a board's measurements say.
type Metrics struct {
	// Utilisation is the time the board computed OpenCL calls, divided by the time that passed.
	Utilisation Reading
	// QueueDepth is the number of tasks that wait.
	QueueDepth Reading
	// Tenants is the number of tenants connected, whether or not the registry sent them.
	Tenants Reading
	// TaskSeconds is the mean duration of a task.
	TaskSeconds Reading
}

// Metric names a value that boards are filtered and ordered by.
type Metric string

// The metrics.
const (
	Utilisation Metric = "utilisation"
	QueueDepth  Metric = "queue_depth"
	Tenants     Metric = "tenants"
	TaskSeconds Metric = "task_seconds"
	// Instances is the number of instances allocated on the board, which is always known.
	Instances Metric = "instances"
	// Distance is 0 on the claim's node and 1 elsewhere; 0 for claims without a node.
	Distance Metric = "distance"
)

// ParseMetric reads a metric's name.
func ParseMetric(name string) (Metric, error) {
	all := []Metric{Utilisation, QueueDepth, Tenants, TaskSeconds, Instances, Distance}
	names := make([]string, len(all))
	for i, metric := range all {
		if string(metric) == name {
			return metric, nil
		}
		names[i] = string(metric)
	}
	return "", fmt.Errorf("no metric is called %q; there are %s", name, strings.Join(names, ", "))
}

// of reads a metric of a board, as it is for the claim with `more` tenants planned besides.
func (m Metric) of(board *Board, claim *Claim, more int) Reading {
	switch m {
	case Utilisation:
		return board.Metrics.Utilisation
	case QueueDepth:
		return board.Metrics.QueueDepth
	case Tenants:
		return board.Metrics.Tenants
	case TaskSeconds:
		return board.Metrics.TaskSeconds
	case Instances:
		return Known(float64(len(board.Tenants) + more))
	case Distance:
		if claim.Node == "" || claim.Node == board.Node {
			return Known(0)
		}
		return Known(1)
	}
	panic("allocate: no such metric: " + string(m))
}

// Filter is a condition that a board has to meet. A board whose reading is unknown meets it: else a cluster whose
// metrics are down, or a board that is new, could never be allocated. The order puts such boards last.
type Filter struct {
	Metric Metric
	// Inclusive filters also let the limit itself pass.
	Inclusive bool
	Limit     float64
}

// ParseFilter reads `METRIC < NUMBER` or `METRIC <= NUMBER`.
func ParseFilter(text string) (Filter, error) {
	left, right, found := strings.Cut(text, "<")
	if !found {
		return Filter{}, fmt.Errorf("%q is no filter; write METRIC < NUMBER, such as utilisation < 0.9", text)
	}
	metric, err := ParseMetric(strings.TrimSpace(left))
	if err != nil {
		return Filter{}, err
	}
	right, inclusive := strings.CutPrefix(right, "=")
	limit, err := strconv.ParseFloat(strings.TrimSpace(right), 64)
	if err != nil || math.IsNaN(limit) {
		return Filter{}, fmt.Errorf("%q is no filter: %q is no number", text, strings.TrimSpace(right))
	}
	return Filter{Metric: metric, Inclusive: inclusive, Limit: limit}, nil
}

// String writes a filter as ParseFilter reads it.
func (f Filter) String() string {
	op := "<"
	if f.Inclusive {
		op = "<="
	}
	return fmt.Sprintf("%s %s %s", f.Metric, op, strconv.FormatFloat(f.Limit, 'g', -1, 64))
}

func (f Filter) holds(board *Board, claim *Claim, more int) bool {
	reading := f.Metric.of(board, claim, more)
	return !reading.Known || reading.Value < f.Limit || f.Inclusive && reading.Value == f.Limit
}

// Policy is what a cluster's owner decides about allocation.
type Policy struct {
	// Filters must all hold.
	Filters []Filter
	// Order compares boards by its first metric, then by the next; lower is better.
	Order []Metric
}

// DefaultPolicy avoids boards that are as good as saturated, and spreads instances over the others.
func DefaultPolicy() Policy {
	return Policy{
		Filters: []Filter{{Metric: Utilisation, Limit: 0.9}},
		Order:   []Metric{Distance, Utilisation, QueueDepth, Instances},
	}
}

// blocking is the first filter that the board does not pass; empty if it passes all.
func (p *Policy) blocking(board *Board, claim *Claim, more int) string {
	for _, filter := range p.Filters {
		if !filter.holds(board, claim, more) {
			return "not " + filter.String()
		}
	}
	return ""
}

// compare orders two boards for a claim: negative if `a` is the better one, 0 only for the same board.
//
// The accelerator comes before all metrics. The paper's algorithm looks for a board to reconfigure only when the first
// of the order does not match, so in its order all that match stand before all that do not.
func (p *Policy) compare(a, b *Board, claim *Claim, more func(*Board) int) int {
	rank := func(board *Board) int {
		if board.serves(&claim.Query) {
			return 0
		}
		return 1
	}
	if order := cmp.Compare(rank(a), rank(b)); order != 0 {
		return order
	}
	for _, metric := range p.Order {
		if order := compareReadings(metric.of(a, claim, more(a)), metric.of(b, claim, more(b))); order != 0 {
			return order
		}
	}
	return cmp.Compare(a.ID, b.ID)
}

func compareReadings(a, b Reading) int {
	switch {
	case a.Known && b.Known:
		return cmp.Compare(a.Value, b.Value)
	case a.Known:
		return -1
	case b.Known:
		return 1
	}
	return 0
}
