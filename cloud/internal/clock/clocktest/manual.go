// Package clocktest has a source of time that tests move.
package clocktest

import (
	"sync"
	"time"
)

// Manual is a source for tests: its time goes on, and its wall clock jumps, when a test says so.
type Manual struct {
	mu      sync.Mutex
	elapsed time.Duration
	wall    time.Time
}

// NewManual stands still.
func NewManual() *Manual {
	return &Manual{wall: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

// Advance lets time pass.
func (m *Manual) Advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.elapsed += d
	m.wall = m.wall.Add(d)
}

// Jump sets the wall clock by so much, forward or back. No time passes.
func (m *Manual) Jump(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wall = m.wall.Add(d)
}

// Elapsed is Source's.
func (m *Manual) Elapsed() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.elapsed
}

// Wall is Source's.
func (m *Manual) Wall() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wall
}
