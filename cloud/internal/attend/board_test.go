package attend

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	rackloomv1 "rackloom/cloud/api/rackloom/v1"
	"rackloom/cloud/internal/gather"
)

// manager serves metrics of boards, as `rackloom manager` does.
func manager(t *testing.T, boards ...string) func(context.Context) ([]string, error) {
	t.Helper()
	serve := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
		fmt.Fprintln(w, "# TYPE rackloom_board_busy_seconds counter")
		for _, board := range boards {
			fmt.Fprintf(w, "rackloom_board_busy_seconds_total{board=%q} 1.5\n", board)
			fmt.Fprintf(w, "rackloom_tenant_busy_seconds_total{board=%q,tenant=\"t\"} 1.5\n", board)
		}
		fmt.Fprintln(w, "# EOF")
	}
	server := httptest.NewServer(http.HandlerFunc(serve))
	t.Cleanup(server.Close)
	return func(ctx context.Context) ([]string, error) { return gather.Boards(ctx, server.URL+"/metrics") }
}

func TestTheBoardIsFoundInTheManagersMetrics(t *testing.T) {
	for name, c := range map[string]struct {
		exported       []string
		id, given, has string
		fault          string
	}{
		"the only one":      {[]string{"pthread-AMD EPYC"}, "a/0", "", "pthread-AMD EPYC", ""},
		"by its id":         {[]string{"x", "y"}, "a/y", "", "", ""},
		"named":             {[]string{"GPU #1", "GPU #2"}, "a/0", "GPU #2", "GPU #2", ""},
		"one of several":    {[]string{"GPU #1", "GPU #2"}, "a/0", "", "", `["GPU #1" "GPU #2"] are there`},
		"named, not there":  {[]string{"GPU"}, "a/0", "gpu", "gpu", `no "gpu", only ["GPU"]`},
		"none":              {nil, "a/0", "", "", "[] are there"},
		"without a manager": {nil, "a/0", "named", "named", ""},
	} {
		attendant := &Attendant{Device: &rackloomv1.DeviceSpec{Id: c.id, MetricsBoard: c.given}}
		if name != "without a manager" {
			attendant.Boards = manager(t, c.exported...)
		}
		err := attendant.findBoard(t.Context(), c.given)
		switch {
		case c.fault == "" && err != nil, attendant.Device.MetricsBoard != c.has:
			t.Errorf("%s: %q, %v", name, attendant.Device.MetricsBoard, err)
		case c.fault != "" && (!errors.Is(err, errNoSuchBoard) || !strings.Contains(err.Error(), c.fault)):
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnUnknownBoardIsAnErrorForGood(t *testing.T) {
	attendant := &Attendant{
		Device: &rackloomv1.DeviceSpec{Id: "a/0"}, Boards: manager(t, "x", "y"), Log: slog.New(slog.DiscardHandler),
		Alive: func(context.Context) error { return nil },
	}
	if err := attendant.Run(t.Context()); !errors.Is(err, errNoSuchBoard) {
		t.Fatal(err)
	}
}
