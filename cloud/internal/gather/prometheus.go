package gather

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/api"
	prometheusv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"rackloom/cloud/allocate"
)

// fromPrometheus asks a Prometheus that scrapes the managers. Its label `instance` is the host and port of a manager's
// metrics, as Prometheus sets it by itself.
type fromPrometheus struct {
	api     prometheusv1.API
	queries []query
}

// query is an expression of one value for each board.
type query struct {
	text string
	set  func(metrics *allocate.Metrics, value float64)
}

func newPrometheus(address string, window time.Duration) (*fromPrometheus, error) {
	client, err := api.NewClient(api.Config{Address: address})
	if err != nil {
		return nil, fmt.Errorf("use Prometheus at %s: %w", address, err)
	}
	by := func(format string, arguments ...any) string {
		return "sum by (instance, board) (" + fmt.Sprintf(format, arguments...) + ")"
	}
	w := model.Duration(window).String()
	// Rates and last values reach back for the window only: a series that ended longer ago gives no value. A mean over
	// no task is 0/0, which is unknown.
	mean := by("rate(%s_sum[%s])", taskSeconds, w) + " / " + by("rate(%s_count[%s])", taskSeconds, w)
	return &fromPrometheus{
		api: prometheusv1.NewAPI(client),
		queries: []query{
			{by("rate(%s[%s])", busySeconds, w), func(m *allocate.Metrics, v float64) {
				m.Utilisation = allocate.Known(min(v, 1)) // Extrapolation may say a little more.
			}},
			{by("last_over_time(%s[%s])", queueDepth, w), func(m *allocate.Metrics, v float64) {
				m.QueueDepth = allocate.Known(v)
			}},
			{by("last_over_time(%s[%s])", tenants, w), func(m *allocate.Metrics, v float64) {
				m.Tenants = allocate.Known(v)
			}},
			{mean, func(m *allocate.Metrics, v float64) {
				m.TaskSeconds = allocate.Known(v)
			}},
		},
	}, nil
}

// measure asks for the values at no time, which is now by the clock of Prometheus: the samples' times are by it, too.
func (p *fromPrometheus) measure(
	ctx context.Context, _ time.Duration, _ []string,
) (map[board]allocate.Metrics, error) {
	measured := map[board]allocate.Metrics{}
	var all error
	for _, query := range p.queries {
		value, _, _, err := p.api.Query(ctx, query.text, time.Time{})
		if err != nil {
			all = errors.Join(all, fmt.Errorf("ask Prometheus for %s: %w", query.text, err))
			continue
		}
		vector, ok := value.(model.Vector)
		if !ok {
			all = errors.Join(all, fmt.Errorf("ask Prometheus for %s: it answered a %s", query.text, value.Type()))
			continue
		}
		for _, sample := range vector {
			name := board{instance: string(sample.Metric["instance"]), name: string(sample.Metric["board"])}
			metrics := measured[name]
			query.set(&metrics, float64(sample.Value))
			measured[name] = metrics
		}
	}
	return measured, all
}
