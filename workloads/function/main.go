// Function is an HTTP function around an OpenCL workload: it keeps one process of it alive and hands it one request
// at a time, as the functions of the BlastFunction paper do.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	log.SetFlags(0)
	listen := flag.String("listen", "127.0.0.1:8080", "address to listen on; port 0 takes a free one")
	queue := flag.Int64("queue", 64, "requests that may wait; more are refused with 503")
	timeout := flag.Duration("timeout", time.Minute, "for one request, and for the workload to become ready")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "Usage: function [OPTIONS] PROGRAM [ARGUMENTS]\n\n"+
			"Serves PROGRAM ARGUMENTS --serve over HTTP: / is a request, /healthz says whether requests have a chance.\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 || *queue < 0 || *timeout <= 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := serve(*listen, *queue, *timeout, append(flag.Args(), "--serve")); err != nil {
		log.Fatalf("error: %v", err)
	}
}

// serve answers requests until SIGTERM or SIGINT; those that are in are finished.
func serve(listen string, queue int64, timeout time.Duration, command []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	worker := newWorker(command, timeout)
	if err := worker.start(); err != nil {
		return err
	}
	defer worker.close()
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", listen, err)
	}
	s := &server{worker: worker, queue: queue}
	web := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(listener) }()
	log.Printf("listening on http://%s", listener.Addr())

	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	stop() // A second signal ends the program at once.
	grace, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if err := web.Shutdown(grace); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("shut down: %w", err)
	}
	return nil
}
