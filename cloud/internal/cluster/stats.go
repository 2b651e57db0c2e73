package cluster

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// stats are the registry's own metrics.
type stats struct {
	allocations       *prometheus.CounterVec
	allocationSeconds prometheus.Histogram
	commitSeconds     prometheus.Histogram
	storeErrors       prometheus.Counter
	moves             prometheus.Counter
	reconfigurations  *prometheus.CounterVec
}

func newStats(c *Cluster, registerer prometheus.Registerer) *stats {
	factory := promauto.With(registerer)
	registerer.MustRegister(&census{c: c})
	all := &stats{
		allocations: factory.NewCounterVec(prometheus.CounterOpts{
			Name: "rackloom_registry_allocations_total", Help: "Instances that asked for a board, by what came of it.",
		}, []string{"result"}),
		allocationSeconds: factory.NewHistogram(prometheus.HistogramOpts{
			Name: "rackloom_registry_allocation_seconds", Help: "From the request for a board to its being durable.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2, 16),
		}),
		commitSeconds: factory.NewHistogram(prometheus.HistogramOpts{
			Name: "rackloom_registry_commit_seconds", Help: "Time to make a change durable.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2, 16),
		}),
		storeErrors: factory.NewCounter(prometheus.CounterOpts{
			Name: "rackloom_registry_store_errors_total", Help: "Changes that could not be made durable, and were refused.",
		}),
		moves: factory.NewCounter(prometheus.CounterOpts{
			Name: "rackloom_registry_moves_total", Help: "Instances that got another board.",
		}),
		reconfigurations: factory.NewCounterVec(prometheus.CounterOpts{
			Name: "rackloom_registry_reconfigurations_total",
			Help: "Reconfigurations asked for, by decision, and ended, by result.",
		}, []string{"result"}),
	}
	// A series that begins with its first event hides it: rates are of two values.
	for _, result := range []string{"allocated", "refused", "failed"} {
		all.allocations.WithLabelValues(result)
	}
	for _, result := range append([]string{"loaded", "failed"}, decisionNames...) {
		all.reconfigurations.WithLabelValues(result)
	}
	return all
}

// census counts what there is when it is asked.
type census struct{ c *Cluster }

var (
	devicesDesc = prometheus.NewDesc("rackloom_registry_devices", "Registered boards.", []string{"state"}, nil)
	flaggedDesc = prometheus.NewDesc("rackloom_registry_devices_flagged", "Boards to be reconfigured.", nil, nil)
	functions   = prometheus.NewDesc("rackloom_registry_functions", "Registered functions.", nil, nil)
	instances   = prometheus.NewDesc("rackloom_registry_instances", "Allocated instances.", []string{"state"}, nil)
)

// Describe is prometheus.Collector's.
func (s *census) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{devicesDesc, flaggedDesc, functions, instances} {
		descs <- desc
	}
}

// Collect is prometheus.Collector's.
func (s *census) Collect(metrics chan<- prometheus.Metric) {
	s.c.mu.RLock()
	defer s.c.mu.RUnlock()
	devices := map[string]int{"online": 0, "lost": 0}
	states := map[string]int{"allocated": 0, "moving": 0, "device_lost": 0}
	flagged := 0
	for _, device := range s.c.devices.all() {
		if device.Flag != nil {
			flagged++
		}
		if device.LostSince.IsZero() {
			devices["online"]++
		} else {
			devices["lost"]++
		}
	}
	for _, instance := range s.c.instances.all() {
		switch {
		case instance.Move != nil:
			states["moving"]++
		case !s.c.devices.get(instance.Device).LostSince.IsZero():
			states["device_lost"]++
		default:
			states["allocated"]++
		}
	}
	gauge := func(desc *prometheus.Desc, value int, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value), labels...)
	}
	gauge(flaggedDesc, flagged)
	gauge(functions, s.c.functions.len())
	for state, count := range devices {
		gauge(devicesDesc, count, state)
	}
	for state, count := range states {
		gauge(instances, count, state)
	}
}
