// Package gather keeps what is measured of the boards: from Prometheus where there is one, else by asking the managers
// themselves.
//
// A measurement has an age. One that is too old is unknown, never 0: the allocation ranks such a board last, instead of
// taking a board that nobody hears of for an idle one.
package gather

import (
	"context"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"rackloom/cloud/allocate"
	"rackloom/cloud/internal/clock"
	"rackloom/cloud/internal/cluster"
)

// The metrics that managers export, each with the label `board`.
const (
	busySeconds = "rackloom_board_busy_seconds_total"
	queueDepth  = "rackloom_board_queue_depth"
	tenants     = "rackloom_tenants"
	taskSeconds = "rackloom_task_seconds"
)

// board names a board as metrics do: by the host and port that the manager serves its metrics on, and its name there.
type board struct{ instance, name string }

// boardOf is how metrics name a device; not ok if its manager exports none.
func boardOf(device *cluster.Device) (board, bool) {
	parsed, err := url.Parse(device.MetricsURL)
	if device.MetricsURL == "" || err != nil {
		return board{}, false
	}
	name := device.MetricsBoard
	if name == "" {
		name = device.Board()
	}
	return board{instance: parsed.Host, name: name}, true
}

// source measures boards. It returns what it could measure, and the errors for the rest. `now` is by the gatherer's
// time.
type source interface {
	measure(ctx context.Context, now time.Duration, urls []string) (map[board]allocate.Metrics, error)
}

// Gatherer measures at intervals, and tells the newest.
type Gatherer struct {
	source   source
	time     clock.Source
	interval time.Duration
	// fresh is how long a measurement counts.
	fresh  time.Duration
	log    *slog.Logger
	errors prometheus.Counter

	mu   sync.Mutex
	last map[board]sample
	// failing is true after a round with errors, so that a state is logged once and not each round.
	failing bool
}

type sample struct {
	metrics allocate.Metrics
	at      time.Duration
}

// Options say how to measure.
type Options struct {
	// Prometheus is the URL of its HTTP API; empty to ask the managers.
	Prometheus string
	// Interval is the time between rounds.
	Interval time.Duration
	// Window is the time that rates are averaged over.
	Window time.Duration
}

// New makes a gatherer. Nothing is measured before Run.
func New(options Options, source clock.Source, registerer prometheus.Registerer, log *slog.Logger) (*Gatherer, error) {
	gatherer := &Gatherer{
		time: source, interval: options.Interval, fresh: 3 * options.Interval, log: log, last: map[board]sample{},
		errors: promauto.With(registerer).NewCounter(prometheus.CounterOpts{
			Name: "rackloom_registry_gather_errors_total", Help: "Rounds in which some boards could not be measured.",
		}),
	}
	gatherer.source = newScraper(options.Window)
	if options.Prometheus != "" {
		asked, err := newPrometheus(options.Prometheus, options.Window)
		if err != nil {
			return nil, err
		}
		gatherer.source = asked
	}
	return gatherer, nil
}

// Of is what is known of a board.
func (g *Gatherer) Of(device *cluster.Device) allocate.Metrics {
	name, ok := boardOf(device)
	if !ok {
		return allocate.Metrics{}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	last, ok := g.last[name]
	if !ok || g.time.Elapsed()-last.at > g.fresh {
		return allocate.Metrics{}
	}
	return last.metrics
}

// Run measures until the context ends. `urls` tells where managers serve metrics.
func (g *Gatherer) Run(ctx context.Context, urls func() []string) {
	ticker := time.NewTicker(g.interval)
	defer ticker.Stop()
	for {
		g.round(ctx, urls())
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (g *Gatherer) round(ctx context.Context, urls []string) {
	// A manager that does not answer must not delay the next round.
	limited, cancel := context.WithTimeout(ctx, g.interval)
	defer cancel()
	now := g.time.Elapsed()
	measured, err := g.source.measure(limited, now, urls)
	if ctx.Err() != nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for name, old := range g.last {
		if now-old.at > g.fresh {
			delete(g.last, name)
		}
	}
	for name, metrics := range measured {
		g.last[name] = sample{metrics: metrics, at: now}
	}
	if err != nil {
		g.errors.Inc()
		if !g.failing {
			g.log.Warn("some boards cannot be measured", "error", err)
		}
	} else if g.failing {
		g.log.Info("all boards are measured again")
	}
	g.failing = err != nil
}
