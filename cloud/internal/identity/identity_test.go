package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLinesAreReadWithCare(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "there is no token",
		"# nothing\n\n":                  "there is no token",
		"admin":                          "line 1: write a role and a token",
		"\nadmin short\n":                "line 2: write a role and a token",
		"king 0123456789abcdef":          "no role is called \"king\"; there are admin, manager, orchestrator, viewer",
		"admin 0123456789abcdef node":    "no other's does",
		"manager 0123456789abcdef":       "line 1: a manager's credential names the nodes or boards",
		"manager 0123456789abcdef A":     "\"A\" is neither a node nor a board",
		"manager 0123456789abcdef a/":    "is neither a node nor a board",
		"manager 0123456789abcdef a/b/c": "is neither a node nor a board",
		"manager 0123456789abcdef *":     "is neither a node nor a board",
		"viewer cert:":                   "cert: has no name",
		"viewer sha256:00":               "no digest of 64",
		"viewer cert:x\nadmin cert:x":    "line 2: there is a line of cert:x already",
		"viewer 0123456789abcdef\nadmin 0123456789abcdef": "line 2: there is a line of",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	sum := sha256.Sum256([]byte("0123456789abcdef"))
	for _, text := range []string{"viewer 0123456789abcdef", "viewer sha256:" + hex.EncodeToString(sum[:])} {
		known, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if caller, found := known.ByToken("0123456789abcdef"); !found || caller.Role != Viewer {
			t.Errorf("%q: %+v", text, caller)
		}
		for _, stranger := range []string{"", "0123456789abcdeg", text, hex.EncodeToString(sum[:])} {
			if _, found := known.ByToken(stranger); found {
				t.Errorf("%q admits %q", text, stranger)
			}
		}
	}
}

// TestACertificatesNameIsNoToken: a line of a certificate has no digest, and whose digest is all zeros nobody knows.
func TestACertificatesNameIsNoToken(t *testing.T) {
	known, err := Parse("admin cert:root")
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{"", "root", "cert:root"} {
		if _, found := known.ByToken(shown); found {
			t.Errorf("%q is a token", shown)
		}
	}
	if _, found := known.ByCertificate([]string{"", "Root"}); found {
		t.Error("another name is known")
	}
}

func TestACallerSpeaksForItsBoards(t *testing.T) {
	manager := Caller{Role: Manager, Boards: []string{"a", "b/0"}}
	for device, want := range map[string]string{"a/0": "a", "a/1": "a", "b/0": "b/0", "b/1": "", "aa/0": "", "a": "a", "": ""} {
		part, ok := manager.SpeaksFor(device)
		if ok != (want != "") || ok && part != want {
			t.Errorf("%s: by %q, %v", device, part, ok)
		}
	}
	if _, ok := (Caller{Role: Orchestrator}).SpeaksFor("a/0"); ok {
		t.Error("an orchestrator speaks for a board")
	}
	if _, ok := (Caller{Role: Admin}).SpeaksFor("a/0"); !ok {
		t.Error("an administrator does not")
	}
}

func TestAFileIsChangedAndKeepsWhatItHad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	edit := func(change func(*File) error) error {
		t.Helper()
		file, err := ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := change(file); err != nil {
			return err
		}
		if err := file.Write(); err != nil {
			t.Fatal(err)
		}
		return nil
	}
	admits := func(token string) bool {
		t.Helper()
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(content), token) {
			t.Fatal("the token itself is in the file")
		}
		known, err := Parse(string(content))
		if err != nil {
			t.Fatal(err)
		}
		caller, found := known.ByToken(token)
		return found && caller.Same(Caller{Role: Manager, Boards: []string{"a", "b/0"}})
	}
	if err := os.WriteFile(path, []byte("# ours\nadmin written-by-hand-00\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	caller, err := NewCaller(Manager, []string{"a", "b/0"})
	if err != nil {
		t.Fatal(err)
	}
	var first, second string
	_ = edit(func(f *File) error { first = f.Issue(caller); return nil })
	if !admits(first) || len(first) != 64 {
		t.Fatal("the token is not known")
	}
	sum := sha256.Sum256([]byte(first))
	id := hex.EncodeToString(sum[:4])
	if err := edit(func(f *File) (err error) { second, err = f.Rotate(id); return err }); err != nil {
		t.Fatal(err)
	}
	if !admits(first) || !admits(second) {
		t.Fatal("while they are exchanged both have to be good")
	}
	if err := edit(func(f *File) error { return f.Revoke(id) }); err != nil {
		t.Fatal(err)
	}
	if admits(first) || !admits(second) {
		t.Fatal("the wrong one was revoked")
	}
	if err := edit(func(f *File) error { return f.Revoke(id) }); err == nil || !strings.Contains(err.Error(), "no credential") {
		t.Fatal(err)
	}
	if err := edit(func(f *File) error { return f.Trust(caller, "node-a") }); err != nil {
		t.Fatal(err)
	}
	if err := edit(func(f *File) error { return f.Trust(caller, "node-a") }); err == nil {
		t.Fatal("a name has two lines")
	}
	if err := edit(func(f *File) (err error) { _, err = f.Rotate("cert:node-a"); return err }); err == nil {
		t.Fatal("a certificate was rotated")
	}
	content, _ := os.ReadFile(path)
	info, _ := os.Stat(path)
	if !strings.HasPrefix(string(content), "# ours\nadmin written-by-hand-00\n") || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %o\n%s", info.Mode().Perm(), content)
	}
}
