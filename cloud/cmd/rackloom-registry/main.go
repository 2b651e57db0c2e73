// Command rackloom-registry allocates the boards of a cluster: it serves, or asks one that does.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"rackloom/cloud/internal/client"
	"rackloom/cloud/internal/config"
	"rackloom/cloud/internal/local"
	"rackloom/cloud/internal/server"
)

// Exit codes, as those of the rackloom command.
const (
	exitOK      = 0
	exitRefused = 1
	exitError   = 2
	exitTimeout = 4
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:]))
}

func run(ctx context.Context, arguments []string) int {
	name := "help"
	if len(arguments) > 0 {
		name, arguments = arguments[0], arguments[1:]
	}
	var err error
	command, known := client.Find(name)
	ofFiles, isLocal := local.Find(name)
	switch {
	case known:
		err = client.Run(ctx, command, arguments, os.Stdout, os.Stderr)
	case isLocal:
		err = local.Run(ofFiles, arguments, os.Stdout, os.Stderr)
	case name == "serve":
		err = serve(ctx, arguments)
	case name == "help" || name == "-h" || name == "--help":
		fmt.Print(help())
	default:
		err = fmt.Errorf("there is no command %q; `rackloom-registry help` lists them", name)
	}
	return exit(err)
}

func exit(err error) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	text := err.Error()
	if said, ok := status.FromError(err); ok {
		text = said.Message()
	}
	fmt.Fprintln(os.Stderr, "error:", text)
	switch status.Code(err) {
	case codes.DeadlineExceeded:
		return exitTimeout
	case codes.ResourceExhausted, codes.FailedPrecondition, codes.NotFound, codes.AlreadyExists, codes.PermissionDenied:
		return exitRefused
	}
	return exitError
}

func help() string {
	var text strings.Builder
	text.WriteString("Allocates the boards of a cluster to functions.\n\nrackloom-registry COMMAND [OPTIONS]\n\n")
	line := func(name, arguments, usage string) {
		fmt.Fprintf(&text, "  %-27s %s\n", strings.TrimSpace(name+" "+arguments), usage)
	}
	line("serve", "", "be the registry")
	for _, command := range local.Commands() {
		line(command.Name, command.Arguments, command.Usage)
	}
	for _, command := range client.Commands() {
		line(command.Name, command.Arguments, command.Usage)
	}
	text.WriteString("\nEach takes -h. Exit codes: 0 done, 1 refused, 2 error, 4 no answer in time.\n")
	return text.String()
}

func serve(ctx context.Context, arguments []string) error {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	conf, err := config.Parse(flags, arguments)
	if err != nil {
		return err
	}
	log, err := logger(conf)
	if err != nil {
		return err
	}
	return server.Run(ctx, conf, log)
}

func logger(conf config.Config) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(conf.LogLevel)); err != nil {
		return nil, fmt.Errorf("log level %q: write debug, info, warn or error", conf.LogLevel)
	}
	options := &slog.HandlerOptions{Level: level}
	switch conf.LogFormat {
	case "text":
		return slog.New(slog.NewTextHandler(os.Stderr, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(os.Stderr, options)), nil
	}
	return nil, fmt.Errorf("log format %q: write text or json", conf.LogFormat)
}
