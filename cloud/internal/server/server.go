// Package server is the registry as a process: it opens the store, serves gRPC and HTTP, and stops in good order.
package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"

	rackloomv1 "rackloom/cloud/api/rackloom/v1"
	"rackloom/cloud/internal/cluster"
	"rackloom/cloud/internal/config"
	"rackloom/cloud/internal/door"
	"rackloom/cloud/internal/gather"
	"rackloom/cloud/internal/service"
	"rackloom/cloud/internal/store"
)

const (
	// messageMax bounds a request. The largest that is well formed has some 40 KiB.
	messageMax = 64 << 10
	// headersMax bounds what comes before a request, or a scrape.
	headersMax = 16 << 10
	// streamsMax bounds the calls of one connection at a time.
	streamsMax = 1024
	// window is how much one call may send ahead of being read; all calls of a connection four times as much.
	window = 64 << 10
	// stopTime is how long calls under way may take when the registry stops.
	stopTime = 5 * time.Second
)

// doors bounds the connections to the registry; scrapeDoors those to its metrics, where all are strangers.
var (
	doors       = door.Limits{Strangers: 512, Callers: 8192}
	scrapeDoors = door.Limits{Strangers: 64}
)

// Run serves until the context ends, and then stops. It reports where it listens on the log.
func Run(ctx context.Context, conf config.Config, log *slog.Logger) (err error) {
	options, err := conf.Options()
	if err != nil {
		return err
	}
	auth, err := service.NewAuth(conf.Tokens)
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	gatherer, err := gather.New(conf.Gather(), options.Time, registry, log)
	if err != nil {
		return err
	}
	opened, err := store.Open(conf.Store, cluster.Upgrade)
	if err != nil {
		return err
	}
	if opened.IsNew {
		log.Warn("there was no store: this registry knows nothing yet", "store", conf.Store)
	}
	c, err := cluster.Open(opened, options, gatherer, registry, log)
	if err != nil {
		return errors.Join(fmt.Errorf("read %s: %w", conf.Store, err), opened.Close())
	}
	defer func() { err = errors.Join(err, c.Close()) }()

	listener, shown, err := listen(conf.Listen)
	if err != nil {
		return err
	}
	calls := newCalls(registry, log, auth, shown)
	grpcServer, healthServer, err := newGRPC(conf, c, gatherer, calls)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	// The work besides calls ends with this context, after the last call.
	working, stopWork := context.WithCancel(context.Background())
	var work sync.WaitGroup
	defer work.Wait()
	defer stopWork()
	work.Go(func() { c.Run(working) })
	work.Go(func() { auth.Run(working, log) })
	work.Go(func() { gatherer.Run(working, c.MetricsURLs) })

	failed := make(chan error, 2)
	work.Go(func() { failed <- grpcServer.Serve(listener) })
	if conf.HTTP != "" {
		stopHTTP, err := serveHTTP(conf.HTTP, registry, log, failed)
		if err != nil {
			grpcServer.Stop()
			return err
		}
		defer stopHTTP()
	}
	log.Info("serving", "listen", listener.Addr().String(), "store", conf.Store, "tls", conf.TLS.Cert != "",
		"tokens", conf.Tokens != "")
	select {
	case <-ctx.Done():
		log.Info("stopping")
	case err = <-failed:
		err = fmt.Errorf("serve: %w", err)
	}
	healthServer.Shutdown()
	calls.stop()
	late := time.AfterFunc(stopTime, grpcServer.Stop)
	grpcServer.GracefulStop()
	late.Stop()
	return err
}

func newGRPC(
	conf config.Config, c *cluster.Cluster, metrics cluster.Metrics, calls *calls,
) (*grpc.Server, *health.Server, error) {
	options := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(messageMax), grpc.MaxConcurrentStreams(streamsMax), grpc.ConnectionTimeout(10 * time.Second),
		grpc.MaxHeaderListSize(headersMax), grpc.InitialWindowSize(window), grpc.InitialConnWindowSize(4 * window),
		grpc.InTapHandle(calls.tap),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}),
		// A client whose machine has vanished does not keep its watch for ever.
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: time.Minute, Timeout: 20 * time.Second}),
		grpc.ChainUnaryInterceptor(calls.unary, calls.auth.Unary),
		grpc.ChainStreamInterceptor(calls.stream, calls.auth.Stream),
	}
	if conf.TLS.Cert != "" {
		tlsConfig, err := readTLS(conf.TLS)
		if err != nil {
			return nil, nil, err
		}
		options = append(options, grpc.Creds(credentials.NewTLS(tlsConfig)))
	}
	server := grpc.NewServer(options...)
	rackloomv1.RegisterDevicesServiceServer(server, &service.Devices{Cluster: c, Metrics: metrics})
	rackloomv1.RegisterFunctionsServiceServer(server, &service.Functions{Cluster: c})
	healthServer := health.NewServer()
	for name := range server.GetServiceInfo() {
		healthServer.SetServingStatus(name, healthv1.HealthCheckResponse_SERVING)
	}
	healthv1.RegisterHealthServer(server, healthServer)
	return server, healthServer, nil
}

func readTLS(files config.TLS) (*tls.Config, error) {
	// Certificates are renewed while the registry runs, so the files are read for each connection: there are few.
	read := func() (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(files.Cert, files.Key)
		if err != nil {
			return nil, fmt.Errorf("read the certificate: %w", err)
		}
		return &pair, nil
	}
	if _, err := read(); err != nil {
		return nil, err
	}
	result := &tls.Config{
		MinVersion:     tls.VersionTLS13,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return read() },
	}
	if files.ClientCA != "" {
		content, err := os.ReadFile(files.ClientCA)
		if err != nil {
			return nil, fmt.Errorf("read the clients' authorities: %w", err)
		}
		result.ClientCAs = x509.NewCertPool()
		if !result.ClientCAs.AppendCertsFromPEM(content) {
			return nil, fmt.Errorf("read the clients' authorities: there is no certificate in %s", files.ClientCA)
		}
		result.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return result, nil
}

// listen opens the address. A socket that a killed registry left behind is taken away: the store's lock says that none
// is alive. What it returns beside the listener takes note of callers that have shown a right to call; a socket
// in a folder keeps strangers out by its mode.
func listen(address string) (net.Listener, func(net.Addr), error) {
	network := "tcp"
	if path, local := strings.CutPrefix(address, "unix:"); local {
		network, address = "unix", path
		if info, err := os.Lstat(path); err == nil && info.Mode().Type() == os.ModeSocket {
			if err := os.Remove(path); err != nil {
				return nil, nil, fmt.Errorf("take the old socket away: %w", err)
			}
		}
	}
	listener, err := net.Listen(network, address)
	if err != nil {
		return nil, nil, err
	}
	if network == "unix" {
		if err := os.Chmod(address, 0o600); err != nil {
			return nil, nil, errors.Join(err, listener.Close())
		}
		return listener, func(net.Addr) {}, nil
	}
	guarded := door.New(listener, doors)
	return guarded, guarded.Admit, nil
}

// serveHTTP serves metrics and a health check beside gRPC, and returns what stops it.
func serveHTTP(address string, registry *prometheus.Registry, log *slog.Logger, failed chan<- error) (func(), error) {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	server := &http.Server{
		Handler: mux, ReadTimeout: 2 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: headersMax,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	// A connection carries one request: idle ones would keep others out.
	server.SetKeepAlivesEnabled(false)
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve metrics: %w", err)
	}
	log.Info("serving metrics", "http", listener.Addr().String())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(door.New(listener, scrapeDoors)); !errors.Is(err, http.ErrServerClosed) {
			failed <- err
		}
	}()
	return func() {
		server.Close() // Nobody needs the end of a scrape.
		<-done
	}, nil
}
