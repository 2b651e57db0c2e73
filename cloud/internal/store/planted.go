//go:build planted

package store

import "time"

// later has the commits that were answered and not made.
var later = make(chan func(), 1<<16)

func init() {
	go func() {
		for {
			time.Sleep(20 * time.Millisecond)
			for range len(later) {
				(<-later)()
			}
		}
	}()
}

// Commit has a mistake planted in it: it answers before the records are durable. The test that kills the registry is
// run against it, too, to see that it finds such a thing.
func (s *Store) Commit(records []Record) error {
	later <- func() { _ = s.write(records) }
	return nil
}
