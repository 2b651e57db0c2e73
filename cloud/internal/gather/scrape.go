package gather

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"rackloom/cloud/allocate"
)

const (
	// bodyMax bounds what a manager may answer: some thousands of series.
	bodyMax = 4 << 20
	// parallel bounds the managers that are asked at a time.
	parallel = 16
	// samplesMax bounds the samples kept of a board, however short the interval is against the window.
	samplesMax = 128
)

// scraper asks managers, and keeps what it needs to make rates of counters.
type scraper struct {
	window time.Duration
	client *http.Client
	past   map[board][]counters
}

// counters are the counters of a board at a time.
type counters struct {
	at                   time.Duration
	busy                 allocate.Reading
	taskSeconds, tasks   float64
	queueDepth, tenanted allocate.Reading
}

func newScraper(window time.Duration) *scraper {
	// A manager that sends the registry elsewhere is not followed.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &scraper{window: window, client: &http.Client{CheckRedirect: stay}, past: map[board][]counters{}}
}

func (s *scraper) measure(ctx context.Context, now time.Duration, urls []string) (map[board]allocate.Metrics, error) {
	type answer struct {
		boards map[board]counters
		err    error
	}
	answers := make([]answer, len(urls))
	slots := make(chan struct{}, parallel)
	var waiting sync.WaitGroup
	for i, address := range urls {
		waiting.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			boards, err := scrape(ctx, s.client, address)
			if err != nil {
				err = fmt.Errorf("scrape %s: %w", address, err)
			}
			answers[i] = answer{boards, err}
		})
	}
	waiting.Wait()
	measured := map[board]allocate.Metrics{}
	var all error
	for _, answer := range answers {
		all = errors.Join(all, answer.err)
		for name, current := range answer.boards {
			current.at = now
			measured[name] = s.rates(name, current)
		}
	}
	for name, past := range s.past {
		if now-past[len(past)-1].at > s.window {
			delete(s.past, name)
		}
	}
	return measured, all
}

func scrape(ctx context.Context, client *http.Client, address string) (map[board]counters, error) {
	parsed, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", string(expfmt.NewFormat(expfmt.TypeTextPlain)))
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answered %s", response.Status)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(io.LimitReader(response.Body, bodyMax))
	if err != nil {
		return nil, err
	}
	return read(parsed.Host, families), nil
}

// read finds the boards in what a manager exports. Series of one board that differ in other labels, such as the tenant,
// add up.
func read(instance string, families map[string]*dto.MetricFamily) map[board]counters {
	boards := map[board]counters{}
	each := func(family string, add func(c *counters, m *dto.Metric)) {
		for _, metric := range families[family].GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "board" {
					name := board{instance: instance, name: label.GetValue()}
					current := boards[name]
					add(&current, metric)
					boards[name] = current
				}
			}
		}
	}
	each(busySeconds, func(c *counters, m *dto.Metric) { plus(&c.busy, value(m)) })
	each(queueDepth, func(c *counters, m *dto.Metric) { plus(&c.queueDepth, value(m)) })
	each(tenants, func(c *counters, m *dto.Metric) { plus(&c.tenanted, value(m)) })
	each(taskSeconds, func(c *counters, m *dto.Metric) {
		c.taskSeconds += m.GetHistogram().GetSampleSum()
		c.tasks += float64(m.GetHistogram().GetSampleCount())
	})
	return boards
}

func plus(sum *allocate.Reading, value float64) { *sum = allocate.Known(sum.Value + value) }

// value is that of a counter or gauge, or of a metric whose type was not said.
func value(m *dto.Metric) float64 {
	return m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue()
}

// rates makes metrics of a board's counters and those of the window before.
func (s *scraper) rates(name board, current counters) allocate.Metrics {
	past := s.past[name]
	// A counter that went back is a manager that has restarted: what was before says nothing.
	if last := len(past) - 1; last >= 0 {
		if current.busy.Value < past[last].busy.Value || current.tasks < past[last].tasks {
			past = nil
		}
	}
	for len(past) > 0 && (current.at-past[0].at > s.window || len(past) >= samplesMax) {
		past = past[1:]
	}
	s.past[name] = append(past, current)
	metrics := allocate.Metrics{QueueDepth: current.queueDepth, Tenants: current.tenanted}
	if len(past) == 0 {
		return metrics // One sample makes no rate.
	}
	first := past[0]
	if passed := (current.at - first.at).Seconds(); passed > 0 && current.busy.Known && first.busy.Known {
		metrics.Utilisation = allocate.Known(min((current.busy.Value-first.busy.Value)/passed, 1))
	}
	if tasks := current.tasks - first.tasks; tasks > 0 {
		metrics.TaskSeconds = allocate.Known((current.taskSeconds - first.taskSeconds) / tasks)
	}
	return metrics
}
