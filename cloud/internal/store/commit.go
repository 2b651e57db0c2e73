//go:build !planted

package store

// Commit writes all of the records or, if it fails, none. They are durable when it returns nil.
func (s *Store) Commit(records []Record) error {
	return s.write(records)
}
