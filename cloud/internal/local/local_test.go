package local

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"rackloom/cloud/allocate"
	"rackloom/cloud/internal/cluster"
	"rackloom/cloud/internal/store"
)

type unmeasured struct{}

func (unmeasured) Of(*cluster.Device) allocate.Metrics { return allocate.Metrics{} }

// runs a command, and gives what it wrote to both.
func runs(t *testing.T, name string, arguments ...string) (string, error) {
	t.Helper()
	command, known := Find(name)
	if !known {
		t.Fatalf("there is no %s", name)
	}
	var text strings.Builder
	err := Run(command, arguments, &text, &text)
	return text.String(), err
}

func wantText(t *testing.T, text string, err error, want string) {
	t.Helper()
	if err != nil || !strings.Contains(text, want) {
		t.Fatalf("%q, %v; want %q", text, err, want)
	}
}

func openCluster(t *testing.T, path string) *cluster.Cluster {
	t.Helper()
	s, err := store.Open(path, cluster.Upgrade)
	if err != nil {
		t.Fatal(err)
	}
	c, err := cluster.Open(s, cluster.DefaultOptions(), unmeasured{}, prometheus.NewRegistry(),
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAStoreIsBackedUpCheckedAndRestored(t *testing.T) {
	folder := t.TempDir()
	path, copied := filepath.Join(folder, "registry.db"), filepath.Join(folder, "copy")
	_, err := runs(t, "check", "-store", path)
	if !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a store that is not there: %v", err)
	}
	c := openCluster(t, path)
	if _, err := c.RegisterFunction(&cluster.Function{Name: "edges", Weight: 1}); err != nil {
		t.Fatal(err)
	}
	text, err := runs(t, "backup", copied, "-store", path) // While it is served.
	wantText(t, text, err, "0 devices, 1 functions, 0 instances")
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	text, err = runs(t, "check", "-store", path)
	wantText(t, text, err, "is whole: 0 devices, 1 functions")

	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content = []byte(strings.ReplaceAll(string(content), `"name":"edges"`, `"name":"Edges"`))
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = runs(t, "check", "-store", path)
	if err == nil || !strings.Contains(err.Error(), `functions "edges" is damaged`) ||
		!strings.Contains(err.Error(), "restore -replace") {
		t.Fatalf("a damaged store: %v", err)
	}
	if _, err = runs(t, "backup", filepath.Join(folder, "bad"), "-store", path); err == nil {
		t.Fatal("a damaged store was backed up")
	}
	text, err = runs(t, "restore", "-replace", "-store", path, copied)
	wantText(t, text, err, path+".replaced-1")
	c = openCluster(t, path)
	defer c.Close()
	if functions, _, _ := c.Functions("", 10); len(functions) != 1 || functions[0].Name != "edges" {
		t.Fatalf("%+v", functions)
	}
}

func TestTokensAreIssuedRotatedAndRevoked(t *testing.T) {
	tokens := filepath.Join(t.TempDir(), "tokens")
	if _, err := runs(t, "issue", "admin"); err == nil || !strings.Contains(err.Error(), "-tokens FILE") {
		t.Fatal(err)
	}
	for want, arguments := range map[string][]string{
		"no role is called":           {"king"},
		"names the nodes or boards":   {"manager"},
		"neither a node nor a board":  {"manager", "A"},
		"and no other's does":         {"viewer", "a"},
		"is no name of a certificate": {"viewer", "-cert", "a b"},
		"issue is given 66 arguments": append([]string{"manager"}, strings.Fields(strings.Repeat("a ", 65))...),
		"no such file or directory":   {"viewer", "-tokens", "/nowhere/tokens"},
	} {
		_, err := runs(t, "issue", append([]string{"-tokens", tokens}, arguments...)...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, not %q", arguments, err, want)
		}
	}
	token, err := runs(t, "issue", "-tokens", tokens, "manager", "a", "b/0")
	if err != nil || len(token) != 65 {
		t.Fatalf("%q, %v", token, err)
	}
	if text, err := runs(t, "issue", "-tokens", tokens, "manager", "-cert", "node-c", "c"); err != nil || text != "" {
		t.Fatalf("%q, %v", text, err)
	}
	list, err := runs(t, "tokens", "-tokens", tokens)
	wantText(t, list, err, "\tmanager\ta b/0\ncert:node-c\tmanager\tc\n")
	id, _, _ := strings.Cut(list, "\t")
	other, err := runs(t, "rotate", "-tokens", tokens, id)
	wantText(t, other, err, id+" is good until you revoke it")
	text, err := runs(t, "revoke", id, "-tokens", tokens)
	wantText(t, text, err, "is revoked")
	list, err = runs(t, "tokens", "-tokens", tokens)
	wantText(t, list, err, "\tmanager\ta b/0\n")
	if strings.Contains(list, id) || strings.Count(list, "\n") != 2 {
		t.Fatalf("after all of it:\n%s", list)
	}
}
