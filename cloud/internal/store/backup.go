package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// A file that a registry has open may look damaged, as it is written to while it is read. It is read so often, with
// pauses between.
const (
	readsMax  = 20
	readPause = 20 * time.Millisecond
)

// Summary says what is in a file.
type Summary struct {
	Schema                        uint32
	Devices, Functions, Instances int
}

// Check reads a file, also one that a registry has open, and fails unless it is whole.
func Check(path string) (Summary, error) {
	_, found, err := snapshot(path)
	if err != nil {
		return Summary{}, fmt.Errorf("check %s: %w", path, err)
	}
	return found.summary(), nil
}

func (c *contents) summary() Summary {
	return Summary{
		Schema: c.schema, Devices: c.number(Devices), Functions: c.number(Functions), Instances: c.number(Instances),
	}
}

// Backup copies a file, also one that a registry has open, as one commit left it. What was copied is whole: the count
// of the records is right only if all of them are of one commit. There must be no file of the other name.
func Backup(path, to string) (Summary, error) {
	content, found, err := snapshot(path)
	if err != nil {
		return Summary{}, fmt.Errorf("back up %s: %w", path, err)
	}
	if found.schema < sealedSince {
		return Summary{}, fmt.Errorf("back up %s: its records are of version %d and have no checksums; "+
			"start this registry once, which brings it up to date", path, found.schema)
	}
	if err := writeNew(to, content); err != nil {
		return Summary{}, fmt.Errorf("back up %s: %w", path, err)
	}
	return found.summary(), nil
}

// snapshot reads a file as one commit left it.
func snapshot(path string) ([]byte, *contents, error) {
	for tries := 1; ; tries++ {
		content, still, err := readPath(path)
		if err != nil {
			return nil, nil, err
		}
		found, err := parse(content)
		if err == nil || still || tries == readsMax {
			return content, found, err
		}
		time.Sleep(readPause)
	}
}

// readPath reads a file, and says whether it stood still, as nobody had it open to write.
func readPath(path string) (content []byte, still bool, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	still = syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil
	content, err = readAll(file)
	return content, still, errors.Join(err, file.Close())
}

func writeNew(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Sync(), file.Close())
	if err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return syncFolder(path)
}

// Restore makes a file of a backup's records, changed by `change`. If there is a file already it is an error, unless
// `replace` says that it goes: it stays beside the new one, under the name that is returned. No registry may have it
// open.
func Restore(backup, path string, replace bool, change func([]Record) error) (Summary, string, error) {
	summary, kept, err := restore(backup, path, replace, change)
	if err != nil {
		err = fmt.Errorf("restore %s: %w", path, err)
	}
	return summary, kept, err
}

func restore(backup, path string, replace bool, change func([]Record) error) (Summary, string, error) {
	_, found, err := snapshot(backup)
	if err != nil {
		return Summary{}, "", fmt.Errorf("read %s: %w", backup, err)
	}
	if found.schema != schemaVersion {
		return Summary{}, "", fmt.Errorf("the records of %s are of version %d, and this registry restores those of %d; "+
			"use the registry that wrote it", backup, found.schema, schemaVersion)
	}
	if err := change(found.records); err != nil {
		return Summary{}, "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return Summary{}, "", err
	}
	made, err := build(path, found.records)
	if err != nil {
		return Summary{}, "", err
	}
	kept, err := replaceBy(made, path, replace)
	if err != nil {
		return Summary{}, "", errors.Join(err, os.Remove(made))
	}
	return found.summary(), kept, syncFolder(path)
}

// replaceBy gives a file another's name, so that at every moment there is one of that name. The old one is kept.
func replaceBy(made, path string, replace bool) (kept string, err error) {
	old, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", os.Rename(made, path)
	} else if err != nil {
		return "", err
	}
	defer old.Close() // And with it the lock.
	if !replace {
		return "", errors.New("there is such a file; say -replace if it is to go")
	}
	if err := lock(old, 0); err != nil {
		return "", err
	}
	if kept, err = freeName(path); err != nil {
		return "", err
	}
	return kept, errors.Join(os.Link(path, kept), os.Rename(made, path))
}

// freeName finds a name that nothing has, for a file that is replaced.
func freeName(path string) (string, error) {
	for number := 1; number < 1000; number++ {
		name := fmt.Sprintf("%s.replaced-%d", path, number)
		if _, err := os.Lstat(name); errors.Is(err, os.ErrNotExist) {
			return name, nil
		}
	}
	return "", errors.New("there are a thousand replaced files beside it; take some away")
}
