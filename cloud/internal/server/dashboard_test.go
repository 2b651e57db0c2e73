package server

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// What the dashboard asks of managers is checked where the manager is, in crates/share/manager/tests.
func TestTheDashboardAsksForWhatTheRegistryExports(t *testing.T) {
	content, err := os.ReadFile("../../dashboards/boards.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(content, &dashboard); err != nil {
		t.Fatal(err)
	}
	exposed := "\n" + start(t, nil).get(t, "/metrics")
	metric := regexp.MustCompile(`rackloom_registry_\w+`)
	asked := 0
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			for _, name := range metric.FindAllString(target.Expr, -1) {
				asked++
				if !strings.Contains(exposed, "\n"+name+"{") && !strings.Contains(exposed, "\n"+name+" ") {
					t.Errorf("the registry does not export %s: %s", name, target.Expr)
				}
			}
		}
	}
	if asked == 0 {
		t.Error("the dashboard asks nothing of the registry")
	}
}
