package store

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// sizeMax bounds the files that are read: a registry at all of its limits has a quarter.
const sizeMax = 1 << 30

// Damage is what is wrong with a file.
type Damage struct {
	// Faults say what is damaged, and which records are lost by it.
	Faults []string
}

// Error names the first faults.
func (d *Damage) Error() string {
	const most = 4
	text := strings.Join(d.Faults[:min(len(d.Faults), most)], "; ")
	if more := len(d.Faults) - most; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return fmt.Sprintf("the store is damaged: %s; restore a backup: rackloom-registry restore -replace BACKUP", text)
}

// contents is all that a file holds.
type contents struct {
	schema uint32
	// records are as they were committed, without their checksums.
	records []Record
	census  census
}

// number is how many records a bucket has.
func (c *contents) number(bucket Bucket) int { return int(c.census.of(bucket).Records) }

// parse reads a file. It never trusts it, and fails with *Damage unless every record that was committed last is there,
// and is whole, and nothing else is; and unless bbolt can go on with the file.
func parse(content []byte) (*contents, error) {
	if len(content) == 0 {
		return nil, &Damage{Faults: []string{"the file is empty: all records are lost"}}
	}
	newest, faults, err := newestRoot(content)
	if err != nil {
		return nil, &Damage{Faults: []string{err.Error()}}
	}
	r := &reading{
		pages:    pages{content: content, root: newest, used: map[uint64]struct{}{}},
		contents: contents{census: newCensus()}, faults: faults,
	}
	if have := uint64(len(content)) / uint64(newest.pageSize); have < newest.pages {
		r.fault("the file is cut off after %d of %d pages", have, newest.pages)
	}
	r.buckets()
	if err := r.checkFree(); err != nil {
		r.fault("the list of free pages is damaged: %s; no record is lost by that", err)
	}
	if len(r.faults) > 0 {
		return nil, &Damage{Faults: r.faults}
	}
	return &r.contents, nil
}

// reading is a file being read.
type reading struct {
	pages
	contents
	faults []string
}

func (r *reading) fault(format string, arguments ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, arguments...))
}

// buckets reads the bucket of all buckets, and then each.
func (r *reading) buckets() {
	found := map[string][]byte{}
	r.walk(r.root.page, func(one element) {
		if one.isBucket {
			found[string(one.key)] = one.value
		} else {
			r.fault("record %q is in no bucket", one.key)
		}
	}, func(why error, _, _ []byte) {
		r.fault("%s: records of some kinds are lost", why)
	})
	meta := map[string][]byte{}
	r.bucket("meta", found[string(metaBucket)], func(key string, value []byte) { meta[key] = value })
	if schema := meta[string(schemaKey)]; len(schema) == 4 {
		r.schema = binary.BigEndian.Uint32(schema)
	} else {
		r.fault("the version of the records is lost")
	}
	for _, bucket := range buckets {
		r.bucket(string(bucket), found[string(bucket)], func(key string, value []byte) {
			if r.schema >= sealedSince {
				var err error
				if value, err = unseal(bucket, key, value); err != nil {
					r.fault("%s", err)
					return
				}
			}
			r.records = append(r.records, Record{Bucket: bucket, Key: key, Value: value})
			r.census.of(bucket).add(bucket, key, value)
		})
	}
	if r.schema >= sealedSince {
		r.compare(meta[string(censusKey)])
	}
}

// bucket reads the records of one bucket, which is a tree of its own or, if it is small, a page in the value.
func (r *reading) bucket(name string, value []byte, visit func(key string, value []byte)) {
	if len(value) < 16 {
		r.fault("all %s are lost: their bucket is not there", name)
		return
	}
	record := func(one element) {
		if one.isBucket {
			r.fault("%s %q is damaged: it is a bucket", name, one.key)
			return
		}
		visit(string(one.key), one.value)
	}
	if id := native.Uint64(value); id != 0 {
		r.walk(id, record, func(why error, low, high []byte) { r.fault("%s: %s are lost", why, between(name, low, high)) })
		return
	}
	inline := value[16:]
	if len(inline) < headerSize {
		r.fault("all %s are lost: their bucket is cut off", name)
		return
	}
	found, err := elements(inline, native.Uint16(inline[8:]), nil, nil)
	if err != nil || native.Uint16(inline[8:]) != leafPage {
		r.fault("all %s are lost: their bucket is damaged: %v", name, err)
		return
	}
	for _, one := range found {
		record(one)
	}
}

func between(name string, low, high []byte) string {
	switch {
	case low == nil && high == nil:
		return "all " + name
	case high == nil:
		return fmt.Sprintf("%s from %q on", name, low)
	case low == nil:
		return fmt.Sprintf("%s before %q", name, high)
	}
	return fmt.Sprintf("%s from %q to before %q", name, low, high)
}

// compare finds records that are lost, too many, or of another commit, whole as they are.
func (r *reading) compare(sealed []byte) {
	content, err := unseal(censusBucket, string(censusKey), sealed)
	var want census
	if err == nil {
		want, err = decodeCensus(content)
	}
	if err != nil {
		r.fault("whether records are lost cannot be told: %s", err)
		return
	}
	for i, bucket := range buckets {
		have, should := r.census[i], want[i]
		switch {
		case have == should:
		case have.Records < should.Records:
			r.fault("%d of %d %s are lost", should.Records-have.Records, should.Records, bucket)
		case have.Records > should.Records:
			r.fault("%d %s are back that were deleted", have.Records-should.Records, bucket)
		default:
			r.fault("of the %d %s some are not those of the newest change, which are lost", have.Records, bucket)
		}
	}
}
