package gather

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestARealPrometheusUnderstands asks a real Prometheus, which scrapes a board that is half busy. It runs where
// RACKLOOM_PROMETHEUS names the binary: Debian's package would start a service on whatever machine it is installed.
func TestARealPrometheusUnderstands(t *testing.T) {
	binary := os.Getenv("RACKLOOM_PROMETHEUS")
	if binary == "" {
		t.Skip("RACKLOOM_PROMETHEUS is not set")
	}
	begun := time.Now()
	exporter := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		passed := time.Since(begun).Seconds()
		fmt.Fprintf(w, exported, passed/2, int(passed*4), passed*4*0.125, int(passed*4))
	})
	folder := t.TempDir()
	config := fmt.Sprintf("global: {scrape_interval: 1s}\nscrape_configs: [{job_name: managers, static_configs: "+
		"[{targets: ['%s']}]}]\n", hostOf(t, exporter))
	if err := os.WriteFile(filepath.Join(folder, "prometheus.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(binary, "--config.file", filepath.Join(folder, "prometheus.yml"),
		"--storage.tsdb.path", filepath.Join(folder, "data"), "--web.listen-address", address)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	source, err := newPrometheus("http://"+address, 15*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	name := board{hostOf(t, exporter), "board0"}
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Second) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		measured, err := source.measure(ctx, 0, nil)
		cancel()
		got := measured[name]
		about := func(value, want float64) bool { return value > 0.8*want && value < 1.2*want }
		if err == nil && about(got.Utilisation.Value, 0.5) && about(got.TaskSeconds.Value, 0.125) &&
			got.QueueDepth.Value == 3 && got.Tenants.Value == 2 {
			idle := measured[board{name.instance, "board1"}]
			if !idle.Utilisation.Known || idle.Utilisation.Value != 0 || idle.TaskSeconds.Known {
				t.Fatalf("the idle board: %+v", idle)
			}
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%+v, %v", measured, err)
		}
	}
}
