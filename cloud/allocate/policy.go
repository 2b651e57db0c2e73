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

// Known makes a reading. What is no finite number is unknown: it would stand anywhere in an order.
func Known(value float64) Reading {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return Reading{}
	}
	return Reading{Value: value, Known: true}
}

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
		return Filter{}, fmt.Errorf("invalid filter %q: expected METRIC < NUMBER, such as utilisation < 0.9", text)
	}
	metric, err := ParseMetric(strings.TrimSpace(left))
	if err != nil {
		return Filter{}, err
	}
	right, inclusive := strings.CutPrefix(right, "=")
	limit, err := strconv.ParseFloat(strings.TrimSpace(right), 64)
	if err != nil || math.IsNaN(limit) {
		return Filter{}, fmt.Errorf("invalid filter %q: invalid number %q", text, strings.TrimSpace(right))
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

// Key is a metric that boards are ordered by, lower first.
type Key struct {
	Metric Metric
	// Step is how much makes a difference: values in the same step are equal, and the next key decides. 0 compares
	// exactly. Metrics lag behind, so many allocations in a short time would all go to the board that was last seen a
	// little less busy than the others; with a step, the count of instances, which is exact, spreads them.
	Step float64
}

// ParseKey reads `METRIC` or `METRIC / STEP`.
func ParseKey(text string) (Key, error) {
	name, step, found := strings.Cut(text, "/")
	metric, err := ParseMetric(strings.TrimSpace(name))
	if err != nil || !found {
		return Key{Metric: metric}, err
	}
	value, err := strconv.ParseFloat(strings.TrimSpace(step), 64)
	if err != nil || !(value > 0) || math.IsInf(value, 0) {
		return Key{}, fmt.Errorf("%q is no order: %q is no step", text, strings.TrimSpace(step))
	}
	return Key{Metric: metric, Step: value}, nil
}

// String writes a key as ParseKey reads it.
func (k Key) String() string {
	if k.Step == 0 {
		return string(k.Metric)
	}
	return fmt.Sprintf("%s / %s", k.Metric, strconv.FormatFloat(k.Step, 'g', -1, 64))
}

func (k Key) compare(a, b Reading) int {
	switch {
	case a.Known && b.Known && k.Step > 0:
		return cmp.Compare(math.Floor(a.Value/k.Step), math.Floor(b.Value/k.Step))
	case a.Known && b.Known:
		return cmp.Compare(a.Value, b.Value)
	case a.Known:
		return -1
	case b.Known:
		return 1
	}
	return 0
}

// Policy is what a cluster's owner decides about allocation.
type Policy struct {
	// Filters must all hold.
	Filters []Filter
	// Order compares boards by its first key, then by the next.
	Order []Key
}

// DefaultPolicy avoids boards that are as good as saturated, and spreads instances over the others.
func DefaultPolicy() Policy {
	return Policy{
		Filters: []Filter{{Metric: Utilisation, Limit: 0.9}},
		Order: []Key{
			{Metric: Distance}, {Metric: Utilisation, Step: 0.1}, {Metric: Instances}, {Metric: QueueDepth},
		},
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
	for _, key := range p.Order {
		if order := key.compare(key.Metric.of(a, claim, more(a)), key.Metric.of(b, claim, more(b))); order != 0 {
			return order
		}
	}
	return cmp.Compare(a.ID, b.ID)
}
