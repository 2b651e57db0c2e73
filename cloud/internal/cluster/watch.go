package cluster

import (
	"maps"
	"slices"
	"sync"

	"google.golang.org/grpc/codes"
)

// WatchesMax bounds those who follow changes at a time.
const WatchesMax = 1024

const (
	devicesTopic   = "devices"
	instancesTopic = "instances"
)

// tenantsTopic is that of the tenants of one device. A device's id has a slash, so it is none of the others.
func tenantsTopic(device string) string { return device }

// hub tells watches what has changed. It keeps ids, not events: who is slow learns the newest state of each record
// once, and costs no more memory than there are records.
type hub struct {
	mu      sync.Mutex
	watches map[string]map[*Watch]struct{}
	count   int
}

// Watch follows one kind of records.
type Watch struct {
	hub   *hub
	topic string
	dirty map[string]struct{}
	wake  chan struct{}
}

func (h *hub) watch(topic string) (*Watch, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.count >= WatchesMax {
		return nil, fail(codes.ResourceExhausted, "watch", "there are as many watches as may be", "end some of them")
	}
	if h.watches == nil {
		h.watches = map[string]map[*Watch]struct{}{}
	}
	if h.watches[topic] == nil {
		h.watches[topic] = map[*Watch]struct{}{}
	}
	watch := &Watch{hub: h, topic: topic, dirty: map[string]struct{}{}, wake: make(chan struct{}, 1)}
	h.watches[topic][watch] = struct{}{}
	h.count++
	return watch, nil
}

func (h *hub) changed(topic, id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for watch := range h.watches[topic] {
		watch.dirty[id] = struct{}{}
		select {
		case watch.wake <- struct{}{}:
		default: // It has not looked since the last time.
		}
	}
}

// Wake receives when Changed has something.
func (w *Watch) Wake() <-chan struct{} { return w.wake }

// Changed gives the ids of what has changed since the last call, in order.
func (w *Watch) Changed() []string {
	w.hub.mu.Lock()
	defer w.hub.mu.Unlock()
	ids := slices.Sorted(maps.Keys(w.dirty))
	clear(w.dirty)
	return ids
}

// Close ends the watch.
func (w *Watch) Close() {
	w.hub.mu.Lock()
	defer w.hub.mu.Unlock()
	delete(w.hub.watches[w.topic], w)
	if len(w.hub.watches[w.topic]) == 0 {
		delete(w.hub.watches, w.topic)
	}
	w.hub.count--
}

// WatchDevices follows all devices.
func (c *Cluster) WatchDevices() (*Watch, error) { return c.hub.watch(devicesTopic) }

// WatchInstances follows all instances.
func (c *Cluster) WatchInstances() (*Watch, error) { return c.hub.watch(instancesTopic) }

// WatchTenants follows the tenants of one device.
func (c *Cluster) WatchTenants(device string) (*Watch, error) {
	return c.hub.watch(tenantsTopic(device))
}
