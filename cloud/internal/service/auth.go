package service

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	rackloomv1 "rackloom/cloud/api/rackloom/v1"
	"rackloom/cloud/internal/cluster"
	"rackloom/cloud/internal/identity"
)

// needs says who may call what. A method that is not here is nobody's but the administrator's. Those that need a
// manager name a device, which has to be the manager's.
var needs = map[string]identity.Role{
	rackloomv1.DevicesService_RegisterDevice_FullMethodName:          identity.Manager,
	rackloomv1.DevicesService_Heartbeat_FullMethodName:               identity.Manager,
	rackloomv1.DevicesService_WatchTenants_FullMethodName:            identity.Manager,
	rackloomv1.DevicesService_DeregisterDevice_FullMethodName:        identity.Manager,
	rackloomv1.DevicesService_ValidateReconfiguration_FullMethodName: identity.Manager,
	rackloomv1.DevicesService_ReportReconfiguration_FullMethodName:   identity.Manager,
	healthv1.Health_List_FullMethodName:                              identity.Viewer,
	healthv1.Health_Watch_FullMethodName:                             identity.Viewer,
	rackloomv1.DevicesService_GetDevice_FullMethodName:               identity.Viewer,
	rackloomv1.DevicesService_ListDevices_FullMethodName:             identity.Viewer,
	rackloomv1.DevicesService_WatchDevices_FullMethodName:            identity.Viewer,
	rackloomv1.DevicesService_DrainDevice_FullMethodName:             identity.Admin,
	rackloomv1.FunctionsService_RegisterFunction_FullMethodName:      identity.Orchestrator,
	rackloomv1.FunctionsService_DeleteFunction_FullMethodName:        identity.Orchestrator,
	rackloomv1.FunctionsService_CreateInstance_FullMethodName:        identity.Orchestrator,
	rackloomv1.FunctionsService_DeleteInstance_FullMethodName:        identity.Orchestrator,
	rackloomv1.FunctionsService_ConfirmMove_FullMethodName:           identity.Orchestrator,
	rackloomv1.FunctionsService_ListFunctions_FullMethodName:         identity.Viewer,
	rackloomv1.FunctionsService_GetInstance_FullMethodName:           identity.Viewer,
	rackloomv1.FunctionsService_ListInstances_FullMethodName:         identity.Viewer,
	rackloomv1.FunctionsService_WatchInstances_FullMethodName:        identity.Viewer,
}

// open is the health check, which says nothing that is secret and which probes ask without a token.
const open = healthv1.Health_Check_FullMethodName

// rereadPause is how soon a change of the file of credentials is seen.
const rereadPause = time.Second

// Auth tells who calls by what they show: a bearer token or, without one, the certificate of their connection. Without
// a file of credentials everybody is an administrator.
type Auth struct {
	path string

	mu sync.RWMutex
	// known is nil while the file cannot be read: then nobody is admitted.
	known *identity.Credentials
	// seen is the file that `known` is of, or that could not be read.
	seen os.FileInfo
	why  error
	// streams are those under way, with what tells whether they still may be.
	streams map[*guarded]struct{}
}

// NewAuth reads a file of credentials; none if the path is empty.
func NewAuth(path string) (*Auth, error) {
	auth := &Auth{path: path, streams: map[*guarded]struct{}{}}
	if path == "" {
		return auth, nil
	}
	auth.read()
	return auth, auth.why
}

// Run looks after changes of the file until the context ends. Streams of who is no longer admitted end.
func (a *Auth) Run(ctx context.Context, log *slog.Logger) {
	if a.path == "" {
		return
	}
	ticker := time.NewTicker(rereadPause)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		info, err := os.Stat(a.path)
		if err == nil && a.seen != nil && os.SameFile(info, a.seen) && info.ModTime().Equal(a.seen.ModTime()) &&
			info.Size() == a.seen.Size() || err != nil && a.seen == nil {
			continue
		}
		a.read()
		if a.why != nil {
			log.Error("nobody is admitted until the tokens can be read", "error", a.why)
			continue
		}
		log.Info("the tokens were read anew", "tokens", a.known.Len())
	}
}

// read takes the file as it is now. A file that is gone or malformed admits nobody: whom it was to shut out is not
// known.
func (a *Auth) read() {
	info, err := os.Stat(a.path)
	if err != nil {
		info = nil
	}
	content, err := os.ReadFile(a.path)
	var known *identity.Credentials
	if err == nil {
		known, err = identity.Parse(string(content))
	}
	a.mu.Lock()
	a.known, a.seen, a.why = known, info, nil
	if err != nil {
		a.why = fmt.Errorf("read the tokens in %s: %w", a.path, err)
	}
	a.mu.Unlock()
	a.mu.RLock()
	defer a.mu.RUnlock()
	for stream := range a.streams {
		if caller, err := a.caller(stream.ServerStream.Context(), stream.method); err != nil || !caller.Same(stream.caller) {
			stream.end(errRevoked)
		}
	}
}

type callerKey struct{}

// callerOf is who calls, as the interceptor found it.
func callerOf(ctx context.Context) identity.Caller {
	caller, _ := ctx.Value(callerKey{}).(identity.Caller)
	return caller
}

// Open tells whether anybody may call a method.
func Open(method string) bool { return method == open }

// Known tells whether there are callers of a method.
func Known(method string) bool {
	_, known := needs[method]
	return known
}

// Check tells whether the caller may call the method, before anything of the request is there to be looked at.
func (a *Auth) Check(ctx context.Context, method string) error {
	_, err := a.admit(ctx, method)
	return err
}

// admit finds the caller, and whether it may call the method.
func (a *Auth) admit(ctx context.Context, method string) (identity.Caller, error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.admitLocked(ctx, method)
}

func (a *Auth) admitLocked(ctx context.Context, method string) (identity.Caller, error) {
	caller, err := a.caller(ctx, method)
	if err != nil {
		return caller, err
	}
	needed, known := needs[method]
	if !known {
		needed = identity.Admin
	}
	if !caller.Role.May(needed) {
		return caller, &cluster.Error{
			Code: codes.PermissionDenied, What: method, Why: fmt.Sprintf("the token is a %s's", caller.Role),
			Help: fmt.Sprintf("use the token of a %s", needed),
		}
	}
	return caller, nil
}

// caller is called with the lock held.
func (a *Auth) caller(ctx context.Context, method string) (identity.Caller, error) {
	if a.path == "" {
		return identity.Caller{Role: identity.Admin}, nil
	}
	if a.known == nil {
		return identity.Caller{}, &cluster.Error{
			Code: codes.Unavailable, What: method, Why: "the registry cannot read its tokens", Help: "its log says why",
		}
	}
	var shown string
	if values := metadata.ValueFromIncomingContext(ctx, "authorization"); len(values) == 1 {
		shown, _ = strings.CutPrefix(values[0], "Bearer ")
	}
	why := "there is no token"
	if shown != "" {
		if caller, found := a.known.ByToken(shown); found {
			return caller, nil
		}
		why = "the token is not known"
	} else if names := certificateNames(ctx); len(names) > 0 {
		if caller, found := a.known.ByCertificate(names); found {
			return caller, nil
		}
		why = fmt.Sprintf("there is no token, and no line of a certificate of %s", strings.Join(names, ", "))
	}
	return identity.Caller{}, &cluster.Error{
		Code: codes.Unauthenticated, What: method, Why: why, Help: "send the header authorization: Bearer TOKEN",
	}
}

// certificateNames are those of the caller's certificate, if the connection showed one that was verified.
func certificateNames(ctx context.Context) []string {
	from, ok := peer.FromContext(ctx)
	if !ok {
		return nil
	}
	secured, ok := from.AuthInfo.(credentials.TLSInfo)
	if !ok || len(secured.State.VerifiedChains) == 0 {
		return nil
	}
	return namesOf(secured.State.VerifiedChains[0][0])
}

func namesOf(certificate *x509.Certificate) []string {
	names := append([]string{}, certificate.DNSNames...)
	for _, uri := range certificate.URIs {
		names = append(names, uri.String())
	}
	if common := certificate.Subject.CommonName; common != "" {
		names = append(names, common)
	}
	return names
}

// checkBoard refuses what a manager asks about a board that is not its own. It stands before every method that needs a
// manager, so that none can forget it.
func checkBoard(caller identity.Caller, method string, request any) error {
	if needs[method] != identity.Manager || caller.Role == identity.Admin {
		return nil
	}
	id := ""
	switch named := request.(type) {
	case *rackloomv1.RegisterDeviceRequest:
		id = named.GetDevice().GetId()
	case interface{ GetId() string }:
		id = named.GetId()
	}
	if _, ok := caller.SpeaksFor(id); !ok {
		return &cluster.Error{
			Code: codes.PermissionDenied, What: method,
			Why:  fmt.Sprintf("the credential does not speak for board %.100q", id),
			Help: "use that of the board's node, or add the board to its line in the registry's file of tokens",
		}
	}
	return nil
}

// Unary is the interceptor of calls with one answer.
func (a *Auth) Unary(
	ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler,
) (any, error) {
	if Open(info.FullMethod) {
		return handler(ctx, request)
	}
	caller, err := a.admit(ctx, info.FullMethod)
	if err != nil {
		return nil, err
	}
	if err := checkBoard(caller, info.FullMethod, request); err != nil {
		return nil, err
	}
	return handler(context.WithValue(ctx, callerKey{}, caller), request)
}

// Stream is the interceptor of calls with many answers.
func (a *Auth) Stream(
	service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler,
) error {
	if Open(info.FullMethod) {
		return handler(service, stream)
	}
	one, err := a.guard(stream, info.FullMethod)
	if err != nil {
		return err
	}
	defer a.release(one)
	err = handler(service, one)
	if errors.Is(context.Cause(one.ctx), errRevoked) {
		return &cluster.Error{
			Code: codes.Unauthenticated, What: info.FullMethod, Why: "the credential was revoked or changed",
			Help: "call again with a good one",
		}
	}
	return err
}

// guard admits a stream, and takes note of it in the same moment: no change of the file comes in between.
func (a *Auth) guard(stream grpc.ServerStream, method string) (*guarded, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	caller, err := a.admitLocked(stream.Context(), method)
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancelCause(context.WithValue(stream.Context(), callerKey{}, caller))
	one := &guarded{ServerStream: stream, ctx: ctx, caller: caller, method: method, end: end}
	a.streams[one] = struct{}{}
	return one, nil
}

func (a *Auth) release(one *guarded) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.streams, one)
	one.end(nil)
}

var errRevoked = errors.New("the credential was revoked")

// guarded is a stream of a caller; it ends when the caller's credential does.
type guarded struct {
	grpc.ServerStream
	ctx    context.Context
	caller identity.Caller
	method string
	end    context.CancelCauseFunc
}

// Context is the stream's, with the caller.
func (s *guarded) Context() context.Context { return s.ctx }

// RecvMsg is the stream's; what asks about another's board is refused.
func (s *guarded) RecvMsg(message any) error {
	if err := s.ServerStream.RecvMsg(message); err != nil {
		return err
	}
	return checkBoard(s.caller, s.method, message)
}
