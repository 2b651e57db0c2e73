package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// sample is a store with a history, as it was after its last commit, with what was in it.
type sample struct {
	content []byte
	// earlier are the files of earlier commits.
	earlier [][]byte
	records map[Bucket]map[string]string
}

// scratch is a folder in memory where it can be: the tests of damage write a thousand files.
func scratch(t *testing.T) string {
	path, err := os.MkdirTemp("/dev/shm", "store-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(path) })
	return path
}

// makeSample makes some hundred records, changes and deletes some, and keeps files on the way. Values are of few
// lengths, so that one fits in another's place.
func makeSample(t *testing.T) *sample {
	t.Helper()
	path := filepath.Join(scratch(t), "registry.db")
	store := open(t, path)
	s := &sample{records: map[Bucket]map[string]string{Devices: {}, Functions: {}, Instances: {}, Cluster: {}}}
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 120 {
		records := []Record{{Bucket: Cluster, Key: "revision", Value: fmt.Appendf(nil, "%08d", round)}}
		for range 1 + random.IntN(12) {
			bucket := []Bucket{Devices, Functions, Instances}[random.IntN(3)]
			record := Record{Bucket: bucket, Key: fmt.Sprintf("%s-%03d", bucket[:1], random.IntN(200))}
			if random.IntN(5) > 0 {
				length := []int{120, 300, 420}[random.IntN(3)]
				record.Value = bytes.Repeat([]byte{byte('a' + random.IntN(26))}, length)
				copy(record.Value, fmt.Sprintf("%s of round %d", record.Key, round))
			}
			records = append(records, record)
		}
		if err := store.Commit(records); err != nil {
			t.Fatal(err)
		}
		for _, record := range records {
			delete(s.records[record.Bucket], record.Key)
			if record.Value != nil {
				s.records[record.Bucket][record.Key] = string(record.Value)
			}
		}
		if round%10 == 9 {
			s.earlier = append(s.earlier, read(t, path))
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	s.content, s.earlier = s.earlier[len(s.earlier)-1], s.earlier[:len(s.earlier)-1]
	return s
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// spoil is a way of damage. It changes a copy of the sample's file, or the file by bbolt, which knows no checksums, and
// may say what the error has to name.
type spoil struct {
	name  string
	bytes func(s *sample, random *rand.Rand, content []byte) []byte
	bolt  func(s *sample, random *rand.Rand, tx *bbolt.Tx) string
}

const pageSize = 4096

func pageOf(content []byte, number int) []byte { return content[number*pageSize : (number+1)*pageSize] }

func anyPage(random *rand.Rand, content []byte) int { return random.IntN(len(content) / pageSize) }

// usedPages are those that the newest commit needs, roots and the list of free pages left out.
func usedPages(content []byte) []int {
	newest, _, err := newestRoot(content)
	if err != nil {
		panic(err)
	}
	r := &reading{
		pages:    pages{content: content, root: newest, used: map[uint64]struct{}{}},
		contents: contents{census: newCensus()},
	}
	r.buckets()
	var used []int
	for number := range len(content) / pageSize {
		if _, is := r.used[uint64(number)]; is {
			used = append(used, number)
		}
	}
	return used
}

func usedPage(random *rand.Rand, content []byte) []byte {
	used := usedPages(content)
	return pageOf(content, used[random.IntN(len(used))])
}

// twins are two records of a bucket whose keys and values have the same lengths, where they are in the file.
func twins(random *rand.Rand, content []byte) (a, b element) {
	for {
		page := usedPage(random, content)
		found, err := elements(page, native.Uint16(page[8:]), nil, nil)
		if err != nil || len(found) < 2 || native.Uint16(page[8:]) != leafPage {
			continue
		}
		a, b = found[random.IntN(len(found))], found[random.IntN(len(found))]
		if !bytes.Equal(a.key, b.key) && len(a.key) == len(b.key) && len(a.value) == len(b.value) && !a.isBucket {
			return a, b
		}
	}
}

func pick(random *rand.Rand, records map[string]string) string {
	keys := make([]string, 0, len(records))
	for key := range records {
		keys = append(keys, key)
	}
	// The order of a map is none.
	least := ""
	for range 1 + random.IntN(len(keys)) {
		next := ""
		for _, key := range keys {
			if key > least && (next == "" || key < next) {
				next = key
			}
		}
		least = next
	}
	return least
}

func anyBucket(random *rand.Rand) Bucket {
	return []Bucket{Devices, Functions, Instances}[random.IntN(3)]
}

var spoils = []spoil{
	{name: "cut off", bytes: func(_ *sample, random *rand.Rand, content []byte) []byte {
		return content[:random.IntN(len(content))]
	}},
	{name: "cut off at a page", bytes: func(_ *sample, random *rand.Rand, content []byte) []byte {
		return content[:anyPage(random, content)*pageSize]
	}},
	{name: "a bit", bytes: func(_ *sample, random *rand.Rand, content []byte) []byte {
		content[random.IntN(len(content))] ^= 1 << random.IntN(8)
		return content
	}},
	{name: "bits of what is used", bytes: func(_ *sample, random *rand.Rand, content []byte) []byte {
		for range 1 + random.IntN(8) {
			usedPage(random, content)[random.IntN(pageSize)] ^= 1 << random.IntN(8)
			if _, _, err := newestRoot(content); err != nil {
				break
			}
		}
		return content
	}},
	{name: "bits of heads", bytes: func(_ *sample, random *rand.Rand, content []byte) []byte {
		usedPage(random, content)[random.IntN(3*elementSize)] ^= 1 << random.IntN(8)
		return content
	}},
	{name: "bits of roots", bytes: func(_ *sample, random *rand.Rand, content []byte) []byte {
		pageOf(content, random.IntN(2))[random.IntN(headerSize+metaSize+8)] ^= 1 << random.IntN(8)
		return content
	}},
	{name: "a root in the other's place", bytes: func(_ *sample, random *rand.Rand, content []byte) []byte {
		from := random.IntN(2)
		copy(pageOf(content, 1-from), pageOf(content, from))
		return content
	}},
	{name: "a used page among the free", bytes: func(_ *sample, random *rand.Rand, content []byte) []byte {
		newest, _, err := newestRoot(content)
		must(err)
		list := pageOf(content, int(newest.freelist))
		used, number := usedPages(content), random.IntN(int(native.Uint16(list[10:])))
		native.PutUint64(list[headerSize+8*number:], uint64(used[random.IntN(len(used))]))
		return content
	}},
	{name: "zeros", bytes: func(_ *sample, random *rand.Rand, content []byte) []byte {
		at := random.IntN(len(content))
		clear(content[at:min(len(content), at+1+random.IntN(2*pageSize))])
		return content
	}},
	{name: "noise", bytes: func(_ *sample, random *rand.Rand, content []byte) []byte {
		at := random.IntN(len(content))
		for i := range content[at:min(len(content), at+1+random.IntN(pageSize))] {
			content[at+i] = byte(random.Uint32())
		}
		return content
	}},
	{name: "a page twice", bytes: func(_ *sample, random *rand.Rand, content []byte) []byte {
		copy(usedPage(random, content), pageOf(content, anyPage(random, content)))
		return content
	}},
	{name: "a page twice, under both numbers", bytes: func(_ *sample, random *rand.Rand, content []byte) []byte {
		from, to := usedPage(random, content), usedPage(random, content)
		copy(to[8:], from[8:])
		return content
	}},
	{name: "pages swapped", bytes: func(_ *sample, random *rand.Rand, content []byte) []byte {
		a, b := usedPage(random, content), usedPage(random, content)
		kept := bytes.Clone(a[8:])
		copy(a[8:], b[8:])
		copy(b[8:], kept)
		return content
	}},
	{name: "a page of an earlier commit", bytes: func(s *sample, random *rand.Rand, content []byte) []byte {
		old := s.earlier[len(s.earlier)-1-random.IntN(4)]
		number := random.IntN(min(len(old), len(content)) / pageSize)
		copy(pageOf(content, number), pageOf(old, number))
		return content
	}},
	{name: "records swapped", bytes: func(_ *sample, random *rand.Rand, content []byte) []byte {
		a, b := twins(random, content)
		kept := bytes.Clone(a.value)
		copy(a.value, b.value)
		copy(b.value, kept)
		return content
	}},
	{name: "a record twice", bytes: func(_ *sample, random *rand.Rand, content []byte) []byte {
		a, b := twins(random, content)
		copy(a.key, b.key)
		copy(a.value, b.value)
		return content
	}},
	{name: "a record lost", bolt: func(s *sample, random *rand.Rand, tx *bbolt.Tx) string {
		bucket := anyBucket(random)
		must(tx.Bucket([]byte(bucket)).Delete([]byte(pick(random, s.records[bucket]))))
		return fmt.Sprintf("1 of %d %s are lost", len(s.records[bucket]), bucket)
	}},
	{name: "a record under another's key", bolt: func(s *sample, random *rand.Rand, tx *bbolt.Tx) string {
		bucket := anyBucket(random)
		from, to := pick(random, s.records[bucket]), pick(random, s.records[bucket])
		if from == to {
			to += "x"
		}
		value := bytes.Clone(tx.Bucket([]byte(bucket)).Get([]byte(from)))
		must(tx.Bucket([]byte(bucket)).Put([]byte(to), value))
		return fmt.Sprintf("%s %q is damaged", bucket, to)
	}},
	{name: "a record as it was", bolt: func(s *sample, random *rand.Rand, tx *bbolt.Tx) string {
		bucket := anyBucket(random)
		key := pick(random, s.records[bucket])
		old := seal(bucket, key, []byte("what it was once"))
		must(tx.Bucket([]byte(bucket)).Put([]byte(key), old))
		return fmt.Sprintf("of the %d %s some are not those of the newest change", len(s.records[bucket]), bucket)
	}},
	{name: "a record back", bolt: func(_ *sample, random *rand.Rand, tx *bbolt.Tx) string {
		bucket := anyBucket(random)
		must(tx.Bucket([]byte(bucket)).Put([]byte("gone"), seal(bucket, "gone", []byte("x"))))
		return fmt.Sprintf("1 %s are back that were deleted", bucket)
	}},
	{name: "a bucket lost", bolt: func(_ *sample, random *rand.Rand, tx *bbolt.Tx) string {
		bucket := anyBucket(random)
		must(tx.DeleteBucket([]byte(bucket)))
		return fmt.Sprintf("all %s are lost", bucket)
	}},
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// damaged writes the sample with one damage. It gives what the error has to say; empty if that is not known.
func (s *sample) damaged(t *testing.T, how spoil, seed uint64, path string) string {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, uint64(len(how.name))))
	content := bytes.Clone(s.content)
	if how.bytes != nil {
		content = how.bytes(s, random, content)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if how.bolt == nil {
		return ""
	}
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	err = db.Update(func(tx *bbolt.Tx) error {
		said = how.bolt(s, random, tx)
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return said
}

// verify opens a damaged file: it either says what is lost, or nothing is and it goes on as a store. It returns the
// damage.
func (s *sample) verify(path, said string) (text string, err error) {
	defer func() {
		if caught := recover(); caught != nil {
			err = fmt.Errorf("a panic: %v\n%s", caught, debug.Stack())
		}
	}()
	_, checked := Check(path)
	store, err := Open(path, noUpgrade)
	if (err == nil) != (checked == nil) {
		return "", fmt.Errorf("opened with %w, checked with %w", err, checked)
	}
	if err != nil {
		var damage *Damage
		lost := []string{"lost", "damaged", "deleted"}
		if !errors.As(err, &damage) || !strings.Contains(err.Error(), said) ||
			!containsAny(strings.Join(damage.Faults, "; "), lost) {
			return "", fmt.Errorf("it says %w, and should %q", err, said)
		}
		return damage.Faults[0], nil
	}
	defer store.Close()
	if said != "" {
		return "", fmt.Errorf("it was opened, and should say %q", said)
	}
	if err := s.compare(store); err != nil {
		return "", fmt.Errorf("silent loss: %w", err)
	}
	// Whatever it was, it must not come out by and by.
	for i := range 20 {
		if err := store.Commit([]Record{{Bucket: Instances, Key: "more", Value: fmt.Appendf(nil, "%d", i)}}); err != nil {
			return "", err
		}
	}
	if err := errors.Join(store.Commit([]Record{{Bucket: Instances, Key: "more"}}), store.Close()); err != nil {
		return "", err
	}
	again, err := Open(path, noUpgrade)
	if err != nil {
		return "", err
	}
	return "", errors.Join(s.compare(again), again.Close())
}

func containsAny(text string, words []string) bool {
	for _, word := range words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

func (s *sample) compare(store *Store) error {
	for bucket, want := range s.records {
		found := map[string]string{}
		err := store.Each(bucket, func(key string, value []byte) error {
			found[key] = string(value)
			return nil
		})
		if err != nil {
			return err
		}
		if !maps.Equal(found, want) {
			return fmt.Errorf("%d %s, and there were %d", len(found), bucket, len(want))
		}
	}
	return nil
}

// seedsEach times the ways of damage are the damaged stores.
const seedsEach = 30

func TestDamagedStoresSayWhatIsLost(t *testing.T) {
	s := makeSample(t)
	folder := scratch(t)
	stores, harmless := 0, 0
	for _, how := range spoils {
		found := map[string]bool{}
		for seed := range uint64(seedsEach) {
			path := filepath.Join(folder, "registry.db")
			said := s.damaged(t, how, seed, path)
			text, err := s.verify(path, said)
			if err != nil {
				t.Fatalf("%s, seed %d: %v", how.name, seed, err)
			}
			stores++
			if text == "" {
				harmless++
			}
			found[text] = true
		}
		for text := range found {
			t.Logf("%-34s %s", how.name, text)
			break
		}
	}
	t.Logf("%d damaged stores; %d had lost nothing", stores, harmless)
	if stores < 500 || harmless == 0 || harmless > stores/3 {
		t.Fatalf("of %d stores %d had lost nothing", stores, harmless)
	}
}

// TestDamageIsReal opens some of the same files with bbolt alone, each in a process, as it may never come back: there
// have to be panics and silent losses, or the test above shows nothing.
func TestDamageIsReal(t *testing.T) {
	if path := os.Getenv("STORE_THAT_IS_DAMAGED"); path != "" {
		countByBolt(path)
		return
	}
	s := makeSample(t)
	folder := scratch(t)
	all := 0
	for _, records := range s.records {
		all += len(records)
	}
	ended := map[string]int{}
	for _, how := range spoils {
		for seed := range uint64(3) {
			path := filepath.Join(folder, "registry.db")
			s.damaged(t, how, seed, path)
			limit, stop := context.WithTimeout(context.Background(), 3*time.Second)
			command := exec.CommandContext(limit, os.Args[0], "-test.run=^TestDamageIsReal$")
			command.Env = append(os.Environ(), "STORE_THAT_IS_DAMAGED="+path, "GOMEMLIMIT=256MiB",
				"GORACE=atexit_sleep_ms=0")
			command.WaitDelay = time.Second
			out, err := command.CombinedOutput()
			stop()
			switch {
			case err != nil && bytes.Contains(out, []byte("goroutine ")):
				ended["panic"]++
			case err != nil:
				ended["other end"]++
			case bytes.Contains(out, []byte("refused")):
				ended["refused"]++
			case bytes.Contains(out, fmt.Appendf(nil, "counted %d\n", all)):
				ended["all there"]++
			default:
				ended["silent loss"]++
			}
		}
	}
	t.Logf("bbolt alone: %v", ended)
	if ended["panic"] == 0 || ended["silent loss"] == 0 {
		t.Fatalf("bbolt alone: %v", ended)
	}
}

func countByBolt(path string) {
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		fmt.Println("refused", err)
		return
	}
	count := 0
	_ = db.View(func(tx *bbolt.Tx) error {
		for _, bucket := range buckets {
			if found := tx.Bucket([]byte(bucket)); found != nil {
				_ = found.ForEach(func(_, _ []byte) error { count++; return nil })
			}
		}
		return nil
	})
	fmt.Printf("counted %d\n", count)
}
