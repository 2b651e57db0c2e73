package cluster

import (
	"iter"
	"slices"
)

// table is records by id, with the ids in order, so that a page of a list costs what is on it.
type table[T any] struct {
	records map[string]*T
	ids     []string
}

func newTable[T any]() table[T] { return table[T]{records: map[string]*T{}} }

func (t *table[T]) len() int { return len(t.ids) }

// get is nil if there is none.
func (t *table[T]) get(id string) *T { return t.records[id] }

// put sets a record, or takes it away if it is nil.
func (t *table[T]) put(id string, record *T) {
	at, found := slices.BinarySearch(t.ids, id)
	switch {
	case record == nil && found:
		t.ids = slices.Delete(t.ids, at, at+1)
		delete(t.records, id)
	case record != nil:
		if !found {
			t.ids = slices.Insert(t.ids, at, id)
		}
		t.records[id] = record
	}
}

// all is every record, in the order of the ids.
func (t *table[T]) all() iter.Seq2[string, *T] { return t.after("") }

// after is the records behind an id, in the order of the ids. The empty id is before all.
func (t *table[T]) after(id string) iter.Seq2[string, *T] {
	at, found := slices.BinarySearch(t.ids, id)
	if found {
		at++
	}
	return func(yield func(string, *T) bool) {
		for _, id := range t.ids[at:] {
			if !yield(id, t.records[id]) {
				return
			}
		}
	}
}
