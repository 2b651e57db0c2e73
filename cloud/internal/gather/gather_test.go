package gather

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackloom/cloud/allocate"
	"rackloom/cloud/internal/clock"
	"rackloom/cloud/internal/cluster"
)

func serve(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return server.URL
}

func hostOf(t *testing.T, address string) string {
	t.Helper()
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Host
}

const exported = `# TYPE rackloom_board_busy_seconds_total counter
rackloom_board_busy_seconds_total{board="board0"} %g
rackloom_board_busy_seconds_total{board="board1"} 7
# TYPE rackloom_board_queue_depth gauge
rackloom_board_queue_depth{board="board0"} 3
# TYPE rackloom_tenants gauge
rackloom_tenants{board="board0"} 2
# TYPE rackloom_task_seconds histogram
rackloom_task_seconds_bucket{board="board0",tenant="a",le="+Inf"} %d
rackloom_task_seconds_sum{board="board0",tenant="a"} %g
rackloom_task_seconds_count{board="board0",tenant="a"} %d
`

func TestTheScraperMakesRatesOfCounters(t *testing.T) {
	text := ""
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) })
	board0, board1 := board{hostOf(t, address), "board0"}, board{hostOf(t, address), "board1"}
	scraper := newScraper(10 * time.Second)
	start := 1000 * time.Second
	step := func(second int, busy float64, tasks int, seconds float64) map[board]allocate.Metrics {
		t.Helper()
		text = fmt.Sprintf(exported, busy, tasks, seconds, tasks)
		now := start + time.Duration(second)*time.Second
		measured, err := scraper.measure(context.Background(), now, []string{address})
		if err != nil {
			t.Fatal(err)
		}
		return measured
	}
	first := step(0, 100, 10, 5)
	want := allocate.Metrics{QueueDepth: allocate.Known(3), Tenants: allocate.Known(2)}
	if first[board0] != want {
		t.Fatalf("one sample gave %+v", first[board0])
	}
	second := step(4, 103, 14, 6)
	want.Utilisation, want.TaskSeconds = allocate.Known(0.75), allocate.Known(0.25)
	if second[board0] != want {
		t.Fatalf("two samples gave %+v", second[board0])
	}
	if idle := second[board1]; idle.Utilisation != allocate.Known(0) || idle.TaskSeconds.Known {
		t.Fatalf("an idle board gave %+v", idle)
	}
	// The window forgets the first sample.
	if third := step(12, 103, 14, 6)[board0]; third.Utilisation != allocate.Known(0) {
		t.Fatalf("a window later: %+v", third)
	}
	// A restarted manager counts from 0.
	if fourth := step(13, 1, 1, 1)[board0]; fourth.Utilisation.Known || fourth.TaskSeconds.Known {
		t.Fatalf("after a restart: %+v", fourth)
	}
	if fifth := step(15, 2, 2, 2)[board0]; fifth.Utilisation != allocate.Known(0.5) {
		t.Fatalf("after the restart: %+v", fifth)
	}
}

// openMetrics is what a manager says in the OpenMetrics format, whose counters' families lack the `_total`.
const openMetrics = `# HELP rackloom_board_busy_seconds Time that tasks had the board.
# TYPE rackloom_board_busy_seconds counter
# UNIT rackloom_board_busy_seconds seconds
rackloom_board_busy_seconds_total{board="one \"quoted\""} %g
# HELP rackloom_board_queue_depth Tasks that wait for the board.
# TYPE rackloom_board_queue_depth gauge
rackloom_board_queue_depth{board="one \"quoted\""} 4
# HELP rackloom_task_seconds Time that each task had the board.
# TYPE rackloom_task_seconds histogram
# UNIT rackloom_task_seconds seconds
rackloom_task_seconds_sum{board="one \"quoted\""} %g
rackloom_task_seconds_count{board="one \"quoted\""} %d
rackloom_task_seconds_bucket{le="0.00001",board="one \"quoted\""} 0
rackloom_task_seconds_bucket{le="+Inf",board="one \"quoted\""} %d
# EOF
`

func TestOpenMetricsAreUnderstood(t *testing.T) {
	text := ""
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) })
	scraper, start := newScraper(time.Minute), 1000*time.Second
	var got map[board]allocate.Metrics
	for i, busy := range []float64{1.5, 2.5} {
		text = fmt.Sprintf(openMetrics, busy, busy, i*4, i*4)
		var err error
		got, err = scraper.measure(context.Background(), start+time.Duration(i)*4*time.Second, []string{address})
		if err != nil {
			t.Fatal(err)
		}
	}
	device := &cluster.Device{ID: "n/0", MetricsURL: address, MetricsBoard: `one "quoted"`}
	name, _ := boardOf(device)
	want := allocate.Metrics{
		Utilisation: allocate.Known(0.25), QueueDepth: allocate.Known(4), TaskSeconds: allocate.Known(0.25),
	}
	if got[name] != want {
		t.Fatalf("%+v in %+v", got[name], got)
	}
}

func TestOneManagersFaultIsNotAnothers(t *testing.T) {
	good := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, exported, 1.0, 1, 1.0, 1) })
	broken := serve(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusTeapot) })
	elsewhere := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, good, http.StatusFound) })
	odd := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, queueDepth+"{board=\"b\"} NaN\n") })
	garbled := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "a{b= 1\n") })
	urls := []string{broken, good, garbled, elsewhere, odd}
	measured, err := newScraper(time.Minute).measure(context.Background(), 0, urls)
	if len(measured) != 3 || err == nil || measured[board{hostOf(t, odd), "b"}] != (allocate.Metrics{}) {
		t.Fatalf("%v, %v", measured, err)
	}
	for _, want := range []string{"418", "302", garbled} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %s in %v", want, err)
		}
	}
}

func TestPrometheusIsAskedForWhatItScraped(t *testing.T) {
	var asked []string
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		text := r.FormValue("query")
		asked = append(asked, text)
		if at := r.FormValue("time"); at != "" {
			t.Errorf("it was asked for the values at %s, by our clock", at)
		}
		value := "0.5"
		switch {
		case strings.Contains(text, taskSeconds):
			value = "NaN"
		case strings.Contains(text, busySeconds):
			value = "1.002"
		}
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[
			{"metric":{"instance":"node-a:9090","board":"board0"},"value":[1000,"%s"]}]}}`, value)
	})
	source, err := newPrometheus(address, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	measured, err := source.measure(context.Background(), time.Hour, nil)
	got := measured[board{"node-a:9090", "board0"}]
	want := allocate.Metrics{
		Utilisation: allocate.Known(1), QueueDepth: allocate.Known(0.5), Tenants: allocate.Known(0.5),
	}
	if err != nil || len(measured) != 1 || got != want {
		t.Fatalf("%v, %v", measured, err)
	}
	if asked[0] != "sum by (instance, board) (rate(rackloom_board_busy_seconds_total[1m]))" {
		t.Fatalf("asked %q", asked)
	}
}

// scripted is a source that fails when told.
type scripted struct{ failing atomic.Bool }

func (s *scripted) measure(context.Context, time.Duration, []string) (map[board]allocate.Metrics, error) {
	if s.failing.Load() {
		return nil, context.DeadlineExceeded
	}
	return map[board]allocate.Metrics{{"host:1", "board0"}: {Utilisation: allocate.Known(0.25)}}, nil
}

func TestWhatIsStaleIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options := Options{Interval: time.Second, Window: time.Minute}
		gatherer, err := New(options, clock.System(), prometheus.NewRegistry(), slog.Default())
		if err != nil {
			t.Fatal(err)
		}
		source := &scripted{}
		gatherer.source = source
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			gatherer.Run(ctx, func() []string { return nil })
			close(done)
		}()
		device := &cluster.Device{ID: "node/board0", MetricsURL: "http://host:1/metrics"}
		known := func() bool { return gatherer.Of(device).Utilisation == allocate.Known(0.25) }
		time.Sleep(1500 * time.Millisecond)
		if !known() || gatherer.Of(&cluster.Device{ID: "node/board1", MetricsURL: device.MetricsURL}).Utilisation.Known {
			t.Fatal("it does not know what was measured, or more")
		}
		source.failing.Store(true)
		time.Sleep(2 * time.Second)
		if !known() {
			t.Fatal("it forgot at the first failure")
		}
		time.Sleep(2 * time.Second)
		if gatherer.Of(device) != (allocate.Metrics{}) {
			t.Fatalf("it still says %+v", gatherer.Of(device))
		}
		if testutil.ToFloat64(gatherer.errors) < 3 {
			t.Fatal("failures are not counted")
		}
		source.failing.Store(false)
		time.Sleep(time.Second)
		if !known() {
			t.Fatal("it does not come back")
		}
		cancel()
		<-done
	})
}
