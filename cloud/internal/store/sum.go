package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
)

// sumSize is the length of the checksum behind each value in the file.
const sumSize = 8

// digest names a record: it depends on the bucket and the key too, so that a value under another's key is found. It
// finds damage; whoever may write the file can make another.
func digest(bucket Bucket, key string, value []byte) [sha256.Size]byte {
	hash := sha256.New()
	for _, part := range [][]byte{[]byte(bucket), []byte(key), value} {
		hash.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		hash.Write(part)
	}
	return [sha256.Size]byte(hash.Sum(nil))
}

// seal is a value as it is in the file: with its checksum.
func seal(bucket Bucket, key string, value []byte) []byte {
	sum := digest(bucket, key, value)
	return append(slices.Clip(value), sum[:sumSize]...)
}

// unseal takes the checksum off, and is an error if it is not the record's.
func unseal(bucket Bucket, key string, sealed []byte) ([]byte, error) {
	if len(sealed) < sumSize {
		return nil, fmt.Errorf("%s %q is damaged: it has %d bytes", bucket, key, len(sealed))
	}
	value := sealed[:len(sealed)-sumSize]
	sum := digest(bucket, key, value)
	if !bytes.Equal(sum[:sumSize], sealed[len(value):]) {
		return nil, fmt.Errorf("%s %q is damaged: its checksum is another", bucket, key)
	}
	return value, nil
}

// count is how many records a bucket has, and the sum of their digests. Each commit brings it up to date, so a record
// that is lost, twice there, or of an earlier commit is found though it is whole itself.
type count struct {
	Records uint64
	Sum     [4]uint64
}

func (c *count) add(bucket Bucket, key string, value []byte) {
	c.Records++
	sum := digest(bucket, key, value)
	for i := range c.Sum {
		c.Sum[i] += binary.BigEndian.Uint64(sum[8*i:])
	}
}

func (c *count) remove(bucket Bucket, key string, value []byte) {
	c.Records--
	sum := digest(bucket, key, value)
	for i := range c.Sum {
		c.Sum[i] -= binary.BigEndian.Uint64(sum[8*i:])
	}
}

// census is the count of every bucket, in the order of `buckets`.
type census []count

func newCensus() census { return make(census, len(buckets)) }

func (c census) of(bucket Bucket) *count { return &c[slices.Index(buckets, bucket)] }

func (c census) encode() []byte {
	content, err := binary.Append(nil, binary.BigEndian, []count(c))
	if err != nil {
		panic(err) // Its size is fixed.
	}
	return content
}

func decodeCensus(content []byte) (census, error) {
	c := newCensus()
	if read, err := binary.Decode(content, binary.BigEndian, []count(c)); err != nil || read != len(content) {
		return nil, fmt.Errorf("the count of the records has %d bytes", len(content))
	}
	return c, nil
}
