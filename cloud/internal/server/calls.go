package server

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// calls counts and logs calls, and ends the endless ones when the registry stops.
type calls struct {
	total   *prometheus.CounterVec
	log     *slog.Logger
	stopped context.Context
	stop    context.CancelFunc
}

func newCalls(registerer prometheus.Registerer, log *slog.Logger) *calls {
	stopped, stop := context.WithCancel(context.Background())
	return &calls{
		log: log, stopped: stopped, stop: stop,
		total: promauto.With(registerer).NewCounterVec(prometheus.CounterOpts{
			Name: "rackloom_registry_calls_total", Help: "Calls that have ended, by gRPC method and code.",
		}, []string{"method", "code"}),
	}
}

// ended takes note of a call. Methods are known ones only, as gRPC refuses others before, so labels are bounded.
func (c *calls) ended(method string, err error) {
	code := status.Code(err)
	c.total.WithLabelValues(method, code.String()).Inc()
	if err != nil {
		c.log.Debug("call failed", "method", method, "code", code.String(), "error", err)
	}
}

func (c *calls) unary(
	ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler,
) (any, error) {
	response, err := handler(ctx, request)
	c.ended(info.FullMethod, err)
	return response, err
}

func (c *calls) stream(
	service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler,
) error {
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	defer context.AfterFunc(c.stopped, cancel)()
	err := handler(service, &stoppable{ServerStream: stream, ctx: ctx})
	if err != nil && c.stopped.Err() != nil {
		err = status.Error(codes.Unavailable, "the registry stops; try again")
	}
	c.ended(info.FullMethod, err)
	return err
}

// stoppable is a stream whose context also ends when the registry stops.
type stoppable struct {
	grpc.ServerStream
	ctx context.Context
}

// Context is the stream's, or ends before.
func (s *stoppable) Context() context.Context { return s.ctx }
