// Package clock is the registry's time.
//
// Whatever the registry decides by time it decides by an Instant: time that the registry has run, added up over all of
// its runs. Within a run it goes on with the machine's monotonic clock; a run begins at its epoch, which is the last
// instant that was stored. So an administrator, or a time server, that sets the wall clock changes no lease, grant or
// move, and the time for which no registry ran is nobody's silence. The wall clock is for people: it is shown, and
// compared with nothing.
package clock

import "time"

// Instant is a time by a registry's clock, in nanoseconds. 0 is never.
type Instant int64

// Start is when the first run of a registry begins. It is not 0, which is never.
const Start = Instant(time.Second)

// IsZero says whether it is never.
func (i Instant) IsZero() bool { return i == 0 }

// Add is the instant so much later.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

// Sub is the time since another instant.
func (i Instant) Sub(other Instant) time.Duration { return time.Duration(i - other) }

// After says whether it comes after another instant.
func (i Instant) After(other Instant) bool { return i > other }

// Source is what a clock is made of; the seam for tests.
type Source interface {
	// Elapsed is the time since the source was made. It never goes back, and no setting of a clock changes it.
	Elapsed() time.Duration
	// Wall is the time of day as the machine has it, right or wrong.
	Wall() time.Time
}

type system struct{ start time.Time }

// System is the machine's time.
func System() Source { return system{start: time.Now()} }

// Elapsed is by Go's monotonic reading: `start` has one, as nothing has stripped it.
func (s system) Elapsed() time.Duration { return time.Since(s.start) }

// Wall is the machine's.
func (s system) Wall() time.Time { return time.Now() }

// Clock is the time of one run.
type Clock struct {
	source Source
	epoch  Instant
	// began is what the source said when the run began: it may be older than the run.
	began time.Duration
}

// New is the clock of a run that begins at an epoch.
func New(source Source, epoch Instant) *Clock {
	return &Clock{source: source, epoch: epoch, began: source.Elapsed()}
}

// Epoch is when the run began.
func (c *Clock) Epoch() Instant { return c.epoch }

// Now never goes back, from one run to the next neither.
func (c *Clock) Now() Instant { return c.epoch.Add(c.source.Elapsed() - c.began) }

// Wall is the time of day now, for people.
func (c *Clock) Wall() time.Time { return c.source.Wall().UTC() }

// When is an instant as people read it, by the wall clock as it is now; the zero time for never. Of instants before
// this run it says too late a time: it does not know how long no registry ran.
func (c *Clock) When(i Instant) time.Time {
	if i.IsZero() {
		return time.Time{}
	}
	return c.Wall().Add(i.Sub(c.Now()))
}
