package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// File is a file of credentials, to be changed. What is not changed stays as somebody wrote it, comments too.
type File struct {
	path  string
	lines []string
}

// ReadFile reads a file; one that is not there is empty.
func ReadFile(path string) (*File, error) {
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	file := &File{path: path}
	for line := range strings.Lines(string(content)) {
		if _, err := parseLine(line); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, len(file.lines)+1, err)
		}
		file.lines = append(file.lines, strings.TrimRight(line, "\n"))
	}
	return file, nil
}

// Entry is a credential as it is listed: no secret.
type Entry struct {
	ID string
	Caller
}

// Entries are all credentials, in the order of the file.
func (f *File) Entries() []Entry {
	var entries []Entry
	for _, line := range f.lines {
		if one, _ := parseLine(line); one != nil {
			entries = append(entries, Entry{ID: one.id(), Caller: one.caller})
		}
	}
	return entries
}

// Issue adds a token, of which the file gets the digest only, and returns it.
func (f *File) Issue(caller Caller) string {
	var secret [32]byte
	rand.Read(secret[:]) // It never fails: Go ends the process first.
	token := hex.EncodeToString(secret[:])
	sum := sha256.Sum256([]byte(token))
	f.add(caller, digestPrefix+hex.EncodeToString(sum[:]))
	return token
}

// Trust adds the certificates of a name.
func (f *File) Trust(caller Caller, name string) error {
	if name == "" || strings.ContainsAny(name, " \t\r\n") {
		return fmt.Errorf("%.100q is no name of a certificate", name)
	}
	if slices.ContainsFunc(f.Entries(), func(e Entry) bool { return e.ID == certificatePrefix+name }) {
		return fmt.Errorf("certificates of %s have a line already; revoke it first", name)
	}
	f.add(caller, certificatePrefix+name)
	return nil
}

func (f *File) add(caller Caller, shown string) {
	f.lines = append(f.lines, strings.Join(append([]string{caller.Role.String(), shown}, caller.Boards...), " "))
}

// find is the place of a credential.
func (f *File) find(id string) (int, *credential, error) {
	place := -1
	var found *credential
	for at, line := range f.lines {
		one, _ := parseLine(line)
		if one == nil || one.id() != id {
			continue
		}
		if found != nil {
			return 0, nil, fmt.Errorf("two credentials are called %s; take one away by hand", id)
		}
		place, found = at, one
	}
	if found == nil {
		return 0, nil, fmt.Errorf("there is no credential %s; `rackloom-registry tokens` lists them", id)
	}
	return place, found, nil
}

// Rotate adds a token that may do what another may, and returns it. The other stays good until it is revoked, so that
// whoever shows it has time to change.
func (f *File) Rotate(id string) (string, error) {
	_, old, err := f.find(id)
	if err != nil {
		return "", err
	}
	if old.certificate != "" {
		return "", fmt.Errorf("%s is a certificate's name: its authority issues another of the same name", id)
	}
	return f.Issue(old.caller), nil
}

// Revoke takes a credential away.
func (f *File) Revoke(id string) error {
	at, _, err := f.find(id)
	if err != nil {
		return err
	}
	f.lines = slices.Delete(f.lines, at, at+1)
	return nil
}

// Write puts the file in the place of the one that was read, so that nobody sees half of it. Only its owner may
// read it.
func (f *File) Write() error {
	made, err := os.CreateTemp(filepath.Dir(f.path), filepath.Base(f.path)+".new-")
	if err != nil {
		return err
	}
	_, err = made.WriteString(strings.Join(append(f.lines, ""), "\n"))
	err = errors.Join(err, made.Sync(), made.Close())
	if err == nil {
		err = os.Rename(made.Name(), f.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(made.Name()))
	}
	return nil
}
