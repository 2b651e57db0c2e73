package attend

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
)

// Probe makes a check of whether a manager serves: by its metrics if it has any, else by a connection to its endpoint.
func Probe(metricsURL, endpoint string) func(ctx context.Context) error {
	if metricsURL == "" {
		return func(ctx context.Context) error { return connect(ctx, endpoint) }
	}
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, metricsURL, nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answered %s", metricsURL, response.Status)
		}
		return nil
	}
}

func connect(ctx context.Context, endpoint string) error {
	network, address, _ := strings.Cut(endpoint, ":")
	connection, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return err
	}
	return connection.Close()
}
