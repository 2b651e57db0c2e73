package config

import (
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"
)

func parse(t *testing.T, file string, arguments ...string) (Config, error) {
	t.Helper()
	if file != "" {
		path := filepath.Join(t.TempDir(), "registry.toml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		arguments = append(arguments, "-config", path)
	}
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	return Parse(flags, arguments)
}

func TestFlagsWinOverTheFileAndTheFileOverDefaults(t *testing.T) {
	config, err := parse(t, `
listen = "127.0.0.1:1"
http = ""
[allocation]
filters = ["tenants < 8"]
[leases]
lease = "3s"
[metrics]
prometheus = "http://localhost:9090"
`, "-listen", "unix:/x", "-order", "task_seconds / 0.5, instances", "-lost-grace", "1m")
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Listen, want.HTTP = "unix:/x", ""
	want.Allocation.Filters, want.Allocation.Order = []string{"tenants < 8"}, []string{"task_seconds / 0.5", "instances"}
	want.Leases.Lease, want.Leases.LostGrace = Duration(3*time.Second), Duration(time.Minute)
	want.Metrics.Prometheus = "http://localhost:9090"
	if !reflect.DeepEqual(config, want) {
		t.Fatalf("got %+v\nwant %+v", config, want)
	}
	options, err := config.Options()
	if err != nil || options.Lease != 3*time.Second || options.Policy.Filters[0].String() != "tenants < 8" ||
		options.Policy.Order[0].String() != "task_seconds / 0.5" || options.LostGrace != time.Minute {
		t.Fatalf("%+v, %v", options, err)
	}
}

func TestDefaultsAreGoodAndEmptyListsMeanNone(t *testing.T) {
	if _, err := parse(t, ""); err != nil {
		t.Fatal(err)
	}
	config, err := parse(t, "", "-filters", "", "-order", " , ")
	if err != nil || len(config.Allocation.Filters)+len(config.Allocation.Order) > 0 {
		t.Fatalf("%+v, %v", config.Allocation, err)
	}
}

// TestTheReferenceShowsTheDefaults holds the documentation to what is true.
func TestTheReferenceShowsTheDefaults(t *testing.T) {
	page, err := os.ReadFile("../../../docs/src/reference/registry.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```toml\n")
	file, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the page has no TOML")
	}
	config, err := parse(t, file)
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Store = "/var/lib/rackloom/registry.db"
	if !reflect.DeepEqual(config, want) {
		t.Fatalf("the page has %+v\nand true is %+v", config, want)
	}
	// And it shows every option, not only some.
	var shown, all map[string]any
	whole, err := toml.Marshal(want)
	if err = errors.Join(err, toml.Unmarshal(whole, &all), toml.Unmarshal([]byte(file), &shown)); err != nil {
		t.Fatal(err)
	}
	for name, value := range all {
		table, _ := value.(map[string]any)
		inPage, _ := shown[name].(map[string]any)
		if _, found := shown[name]; !found || len(table) != len(inPage) {
			t.Errorf("%s is shown as %v", name, shown[name])
		}
	}
}

func TestMistakesAreNamed(t *testing.T) {
	for want, given := range map[string]struct {
		file  string
		flags []string
	}{
		"options that are unknown":             {file: "lisen = \"x\"\n"},
		"invalid duration \"soon\"":            {file: "[leases]\nlease = \"soon\"\n"},
		"no metric is called \"load\"":         {flags: []string{"-order", "load"}},
		"invalid filter \"instances > 3\"":     {flags: []string{"-filters", "instances > 3"}},
		"lease is 1ms":                         {flags: []string{"-lease", "1ms"}},
		"lost_grace is negative":               {flags: []string{"-lost-grace", "-1s"}},
		"holds fewer than two rounds":          {flags: []string{"-metrics-window", "6s"}},
		"TLS needs a certificate and its":      {flags: []string{"-tls-cert", "x"}},
		"everybody on the network":             {flags: []string{"-listen", ":7440"}},
		"listen at 10.0.0.1:7440: everybody":   {flags: []string{"-listen", "10.0.0.1:7440", "-tokens", "x"}},
		"everybody on the network could allo":  {flags: []string{"-listen", "10.0.0.1:7440", "-tls-cert", "x", "-tls-key", "x"}},
		"say who calls, and not what they may": {flags: []string{"-tls-cert", "x", "-tls-key", "x", "-tls-client-ca", "x"}},
		"write ADDRESS:PORT":                   {flags: []string{"-listen", "here"}},
		"instances_default is 0":               {file: "[allocation]\ninstances_default = 0\n"},
		"\"now\" is not understood":            {flags: []string{"now"}},
		"no such file":                         {flags: []string{"-config", "/nowhere/registry.toml"}},
		"flag provided but not defined":        {flags: []string{"-lisen", "x"}},
		"-move-grace 5: time: missing unit":    {flags: []string{"-move-grace", "5"}},
		"parsing \"perhaps\": invalid synt":    {flags: []string{"-insecure", "perhaps"}},
	} {
		config, err := parse(t, given.file, given.flags...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %+v, %v", want, config, err)
		}
	}
	for _, good := range [][]string{
		{"-listen", "10.0.0.1:7440", "-insecure", "true"},
		{"-listen", "10.0.0.1:7440", "-tls-cert", "x", "-tls-key", "x", "-tls-client-ca", "x", "-tokens", "x"},
		{"-listen", "10.0.0.1:7440", "-tls-cert", "x", "-tls-key", "x", "-tokens", "x"},
		{"-listen", "[::1]:7440"}, {"-listen", "localhost:7440"},
	} {
		if _, err := parse(t, "", good...); err != nil {
			t.Errorf("%v: %v", good, err)
		}
	}
	if _, err := parse(t, "", "-h"); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("help: %v", err)
	}
}
