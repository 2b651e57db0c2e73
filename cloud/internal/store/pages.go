package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
)

// This file reads the pages of a bbolt file without trusting them. bbolt itself trusts them: of a damaged file it may
// panic, read beyond the end, go in circles, or leave out what it does not find. So the store reads a file here first,
// and gives bbolt only what is whole.

const (
	headerSize  = 16
	elementSize = 16

	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10
	bucketLeaf   = 0x01

	metaMagic   = 0xED0CDAED
	metaVersion = 2
	// metaSize is up to the checksum, which follows.
	metaSize = 56

	// depthMax bounds the way down a tree: 2^32 pages with two branches each.
	depthMax = 32
)

var native = binary.LittleEndian // bbolt writes as the machine does; those that the registry runs on are all such.

// root is one of the two that a file begins with. The newer counts; a commit writes over the older.
type root struct {
	pageSize uint32
	// page is that of the bucket of all buckets.
	page     uint64
	freelist uint64
	// pages is how many there are, free ones included.
	pages uint64
	tx    uint64
}

func readRoot(page []byte) (root, error) {
	if len(page) < headerSize+metaSize+8 {
		return root{}, errors.New("it is cut off")
	}
	meta := page[headerSize:]
	sum := fnv.New64a()
	sum.Write(meta[:metaSize])
	if native.Uint32(meta) != metaMagic || native.Uint32(meta[4:]) != metaVersion ||
		native.Uint64(meta[metaSize:]) != sum.Sum64() {
		return root{}, errors.New("its checksum is another")
	}
	found := root{
		pageSize: native.Uint32(meta[8:]), page: native.Uint64(meta[16:]), freelist: native.Uint64(meta[32:]),
		pages: native.Uint64(meta[40:]), tx: native.Uint64(meta[48:]),
	}
	if found.pageSize < 1<<10 || found.pageSize > 1<<24 {
		return root{}, fmt.Errorf("its pages have %d bytes", found.pageSize)
	}
	return found, nil
}

// newestRoot finds the root that counts, and what is wrong with the two. It fails if there is none.
func newestRoot(content []byte) (newest root, faults []string, err error) {
	first, firstErr := readRoot(content)
	second, secondErr := root{}, errors.New("the size of pages is unknown")
	if firstErr == nil {
		secondErr = errors.New("it is cut off")
		if uint64(first.pageSize) < uint64(len(content)) {
			second, secondErr = readRoot(content[first.pageSize:])
		}
	} else {
		for size := 1 << 10; size <= 1<<24 && size < len(content); size <<= 1 {
			if second, secondErr = readRoot(content[size:]); secondErr == nil && second.pageSize == uint32(size) {
				break
			}
		}
	}
	const lost = "the newest change may be lost"
	switch {
	case firstErr != nil && secondErr != nil:
		return root{}, nil, errors.New("neither of its two roots is whole: all records are lost")
	case firstErr != nil:
		return second, []string{fmt.Sprintf("the first root is damaged (%s): %s", firstErr, lost)}, nil
	case secondErr != nil:
		return first, []string{fmt.Sprintf("the second root is damaged (%s): %s", secondErr, lost)}, nil
	}
	newest = first
	if second.tx > first.tx {
		newest = second
	}
	if first.tx%2 != 0 || second.tx%2 != 1 || max(first.tx, second.tx)-min(first.tx, second.tx) != 1 ||
		first.pageSize != second.pageSize {
		faults = append(faults, fmt.Sprintf("the two roots are of changes %d and %d, which do not follow each other: %s",
			first.tx, second.tx, lost))
	}
	return newest, faults, nil
}

// pages are those of one commit.
type pages struct {
	content []byte
	root    root
	// used says which pages the trees have taken so far.
	used map[uint64]struct{}
}

// take gives a page and what overflows it. Each is given once: pages that are in two places are no tree.
func (p *pages) take(id uint64) (page []byte, kind uint16, err error) {
	size := uint64(p.root.pageSize)
	if id < 2 || id >= min(p.root.pages, uint64(len(p.content))/size) {
		return nil, 0, fmt.Errorf("page %d is not in the file", id)
	}
	page = p.content[id*size:]
	length := uint64(native.Uint32(page[12:])) + 1
	if id+length > p.root.pages || length*size > uint64(len(page)) {
		return nil, 0, fmt.Errorf("page %d ends behind the file", id)
	}
	if native.Uint64(page) != id {
		return nil, 0, fmt.Errorf("page %d says that it is another", id)
	}
	for at := id; at < id+length; at++ {
		if _, taken := p.used[at]; taken {
			return nil, 0, fmt.Errorf("page %d is in two places", at)
		}
	}
	for at := id; at < id+length; at++ {
		p.used[at] = struct{}{}
	}
	return page[:length*size], native.Uint16(page[8:]), nil
}

// element is an entry of a page: a record or a bucket of a leaf, or a page of a branch, whose first key it says.
type element struct {
	key, value []byte
	isBucket   bool
	child      uint64
}

// elements reads a page whose keys have to be in order, at or above `low` and, if `high` is not nil, below `high`.
func elements(page []byte, kind uint16, low, high []byte) ([]element, error) {
	if len(page) < headerSize {
		return nil, errors.New("its head is cut off")
	}
	if kind != leafPage && kind != branchPage {
		return nil, fmt.Errorf("its kind is %#x", kind)
	}
	number := int(native.Uint16(page[10:]))
	if kind == branchPage && number == 0 {
		return nil, errors.New("it is empty")
	}
	all := make([]element, 0, number)
	for i := range number {
		at := headerSize + i*elementSize
		if at+elementSize > len(page) {
			return nil, fmt.Errorf("it has no room for its %d entries", number)
		}
		head := page[at : at+elementSize]
		var one element
		var begin, keySize, valueSize uint64
		if kind == leafPage {
			one.isBucket = native.Uint32(head)&bucketLeaf != 0
			begin, keySize, valueSize = uint64(native.Uint32(head[4:])), uint64(native.Uint32(head[8:])),
				uint64(native.Uint32(head[12:]))
		} else {
			begin, keySize = uint64(native.Uint32(head)), uint64(native.Uint32(head[4:]))
			one.child = native.Uint64(head[8:])
		}
		begin += uint64(at)
		if keySize == 0 || begin+keySize+valueSize > uint64(len(page)) {
			return nil, fmt.Errorf("entry %d of %d is not on it", i, number)
		}
		one.key = page[begin : begin+keySize]
		one.value = page[begin+keySize : begin+keySize+valueSize]
		inOrder := bytes.Compare(one.key, low) >= 0 && (high == nil || bytes.Compare(one.key, high) < 0)
		if !inOrder || i > 0 && bytes.Compare(one.key, all[i-1].key) <= 0 {
			return nil, fmt.Errorf("entry %d of %d is out of order", i, number)
		}
		all = append(all, one)
	}
	return all, nil
}

// walk visits the leaves' entries of a tree in order. `lost` gets each part that cannot be read, with the range
// of the keys that were there.
func (p *pages) walk(id uint64, visit func(element), lost func(why error, low, high []byte)) {
	p.descend(id, nil, nil, 0, visit, lost)
}

func (p *pages) descend(
	id uint64, low, high []byte, depth int, visit func(element), lost func(why error, low, high []byte),
) {
	if depth > depthMax {
		lost(fmt.Errorf("page %d is deeper than a tree can be", id), low, high)
		return
	}
	page, kind, err := p.take(id)
	if err != nil {
		lost(err, low, high)
		return
	}
	found, err := elements(page, kind, low, high)
	if err != nil {
		lost(fmt.Errorf("page %d is damaged: %w", id, err), low, high)
		return
	}
	for i, one := range found {
		if kind == leafPage {
			visit(one)
			continue
		}
		below := high
		if i+1 < len(found) {
			below = found[i+1].key
		}
		p.descend(one.child, one.key, below, depth+1, visit, lost)
	}
}

// checkFree finds what is wrong with the list of free pages: a page that is used and free would be written over.
func (p *pages) checkFree() error {
	page, kind, err := p.take(p.root.freelist)
	if err != nil {
		return err
	}
	number, list := uint64(native.Uint16(page[10:])), page[headerSize:]
	if number == 0xFFFF && len(list) >= 8 {
		number, list = native.Uint64(list), list[8:]
	}
	if kind != freelistPage || number > uint64(len(list)/8) {
		return fmt.Errorf("page %d is damaged: it is of kind %#x with %d entries", p.root.freelist, kind, number)
	}
	for i := range number {
		id := native.Uint64(list[8*i:])
		if _, used := p.used[id]; used || id < 2 || id >= p.root.pages {
			return fmt.Errorf("page %d is used, in the list twice, or not there", id)
		}
		p.used[id] = struct{}{}
	}
	return nil
}
