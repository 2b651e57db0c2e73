package server

import (
	"context"
	"sync"
	"time"
)

const (
	// probeTime is how long a call that anybody may make can take, probesMax how many of them there can be at a time.
	probeTime = 2 * time.Second
	probesMax = 64
)

// probes bounds the calls that anybody may make: the newest one ends the oldest, so that those which are never finished
// keep nobody out.
type probes struct {
	mu   sync.Mutex
	ends [probesMax]context.CancelFunc
	next int
}

// begin is the context of one more.
func (p *probes) begin(ctx context.Context) context.Context {
	ctx, end := context.WithTimeout(ctx, probeTime)
	p.mu.Lock()
	defer p.mu.Unlock()
	if oldest := p.ends[p.next]; oldest != nil {
		oldest()
	}
	p.ends[p.next] = end
	p.next = (p.next + 1) % probesMax
	return ctx
}
