package cluster

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"

	"rackloom/cloud/internal/clock"
	"rackloom/cloud/internal/store"
)

// restoreJump is the least that a restore puts the revision ahead: more than any registry has commits.
const restoreJump = 1 << 40

// AfterRestore changes the records of a backup so that they can be used. The registry has gone on since the backup was
// made, and has given out leases and revisions of lists; a manager that still holds one must not take another for it.
// So the revision goes ahead, by a number that is drawn: the same backup may be restored twice.
func AfterRestore(records []store.Record) error {
	for i, record := range records {
		if record.Bucket == store.Cluster && record.Key == revisionKey && len(record.Value) == 8 {
			jump := restoreJump + rand.Uint64N(restoreJump)
			records[i].Value = bigEndian(binary.BigEndian.Uint64(record.Value) + jump)
			return nil
		}
	}
	return errors.New("there is no revision among the records")
}

// Upgrade brings a record of an older version up to date. Version 1 had times by the wall clock: what they began then
// begins anew now. Version 2 has nothing that is different.
func Upgrade(schema uint32, record store.Record) (store.Record, error) {
	if schema == 2 {
		return record, nil
	}
	if schema != 1 {
		return record, fmt.Errorf("version %d is unknown", schema)
	}
	if record.Bucket != store.Devices && record.Bucket != store.Instances {
		return record, nil // Functions and single values have no times.
	}
	fields, err := fieldsOf(record.Value)
	if err != nil {
		return record, err
	}
	err = errors.Join(
		fields.since("lostSince", "lostAt", clock.Start),
		fields.within("reconfiguration", func(flag rawFields) error {
			return errors.Join(
				flag.since("flaggedAt", "flagged", clock.Start), flag.since("grantedAt", "granted", clock.Start))
		}),
		fields.within("move", func(move rawFields) error {
			return move.since("deadline", "until", clock.Start.Add(DefaultOptions().MoveGrace))
		}))
	if err == nil {
		record.Value, err = json.Marshal(fields)
	}
	return record, err
}

// rawFields are those of a record of another version.
type rawFields map[string]json.RawMessage

func fieldsOf(content []byte) (rawFields, error) {
	var fields rawFields
	err := json.Unmarshal(content, &fields)
	return fields, err
}

// since puts an instant in the stead of a time that is there.
func (f rawFields) since(old, name string, at clock.Instant) (err error) {
	if _, found := f[old]; found {
		delete(f, old)
		f[name], err = json.Marshal(at)
	}
	return err
}

// within changes the fields of a field that is there.
func (f rawFields) within(name string, change func(rawFields) error) error {
	content, found := f[name]
	if !found {
		return nil
	}
	inner, err := fieldsOf(content)
	if err == nil {
		err = change(inner)
	}
	if err == nil {
		f[name], err = json.Marshal(inner)
	}
	return err
}
