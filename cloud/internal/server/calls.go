package server

import (
	"context"
	"log/slog"
	"net"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"

	"rackloom/cloud/internal/service"
)

// calls admits, counts and logs calls, and ends the endless ones when the registry stops.
type calls struct {
	auth *service.Auth
	// shown takes note of the address of each caller that has shown a right to call.
	shown   func(net.Addr)
	probes  probes
	total   *prometheus.CounterVec
	log     *slog.Logger
	stopped context.Context
	stop    context.CancelFunc
}

func newCalls(registerer prometheus.Registerer, log *slog.Logger, auth *service.Auth, shown func(net.Addr)) *calls {
	stopped, stop := context.WithCancel(context.Background())
	return &calls{
		auth: auth, shown: shown, log: log, stopped: stopped, stop: stop,
		total: promauto.With(registerer).NewCounterVec(prometheus.CounterOpts{
			Name: "rackloom_registry_calls_total", Help: "Calls that have ended, by gRPC method and code.",
		}, []string{"method", "code"}),
	}
}

// tap refuses a call before anything of its request is read, so that who may not call takes no memory.
func (c *calls) tap(ctx context.Context, call *tap.Info) (context.Context, error) {
	method := call.FullMethodName
	if service.Open(method) {
		return c.probes.begin(ctx), nil
	}
	if err := c.auth.Check(ctx, method); err != nil {
		if !service.Known(method) {
			method = "unknown" // A stranger's word is no label.
		}
		c.ended(method, err)
		return nil, err
	}
	if caller, is := peer.FromContext(ctx); is {
		c.shown(caller.Addr)
	}
	return ctx, nil
}

// ended takes note of a call. Interceptors get known methods only, so labels are bounded.
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
