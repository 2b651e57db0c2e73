package cluster

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"rackloom/cloud/internal/store"
)

// BenchmarkAllocation gives and frees a board among a thousand with ten instances each, durably.
func BenchmarkAllocation(b *testing.B) {
	s, err := store.Open(filepath.Join(b.TempDir(), "registry.db"), Upgrade)
	if err != nil {
		b.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	c, err := Open(s, DefaultOptions(), unmeasured{}, prometheus.NewRegistry(), log)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	create := func(id string) {
		if _, err := c.CreateInstance(id, "f", ""); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := c.RegisterFunction(&Function{Name: "f", Weight: 1}); err != nil {
		b.Fatal(err)
	}
	filling := c.edit()
	for i := range 1000 {
		device := spec(fmt.Sprintf("n%d/0", i), "")
		device.InstancesMax = 64
		filling.devices[device.ID] = device
		for j := range 10 {
			id := fmt.Sprintf("i%d-%d", i, j)
			filling.instances[id] = &Instance{ID: id, Function: "f", Device: device.ID, Generation: 1}
		}
	}
	if err := filling.commit(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		create("x")
		if err := c.DeleteInstance("x"); err != nil {
			b.Fatal(err)
		}
	}
}
