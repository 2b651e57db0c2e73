// Package client is the registry's commands for people and scripts: lists, and what an administrator does now and then.
//
// Results go to standard output, as tables of at most 80 columns or, with --json, as one JSON document; all else goes
// to standard error.
package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	rackloomv1 "rackloom/cloud/api/rackloom/v1"
)

// timeout bounds a command: a registry answers at once or not at all.
const timeout = 10 * time.Second

// Command is one that calls a registry.
type Command struct {
	Name, Arguments, Usage string
	// count is the number of arguments it takes.
	count int
	flags func(*flag.FlagSet, *options)
	run   func(context.Context, *call) error
}

// Commands are all, in the order of the help.
func Commands() []Command {
	return []Command{
		{Name: "devices", Usage: "list boards", run: listDevices},
		{Name: "functions", Usage: "list functions", run: listFunctions},
		{Name: "allocations", Usage: "list instances and their boards", run: listAllocations},
		{Name: "function", Arguments: "NAME", Usage: "register a function", count: 1, flags: queryFlags, run: putFunction},
		{Name: "unfunction", Arguments: "NAME", Usage: "forget a function", count: 1, run: deleteFunction},
		{
			Name: "allocate", Arguments: "FUNCTION INSTANCE", Usage: "give an instance a board; prints its environment",
			count: 2, flags: nodeFlag, run: allocate,
		},
		{Name: "free", Arguments: "INSTANCE", Usage: "free an instance's board", count: 1, run: free},
		{Name: "drain", Arguments: "DEVICE", Usage: "take a board out of allocation", count: 1, flags: moveFlag, run: drain},
		{Name: "undrain", Arguments: "DEVICE", Usage: "take a board back", count: 1, run: undrain},
		{Name: "forget", Arguments: "DEVICE", Usage: "forget a board for good", count: 1, run: forget},
	}
}

// options are those of a call.
type options struct {
	registry, tokenFile, ca, cert, key string
	json                               bool
	query                              rackloomv1.DeviceQuery
	exclusive, move                    bool
	weight                             uint
	kernel                             time.Duration
	node                               string
}

// call is a command under way.
type call struct {
	options   *options
	arguments []string
	devices   rackloomv1.DevicesServiceClient
	functions rackloomv1.FunctionsServiceClient
	out       io.Writer
	notes     io.Writer
}

// Run runs a command.
func Run(ctx context.Context, command Command, arguments []string, out, notes io.Writer) error {
	options := &options{}
	flags := flag.NewFlagSet(command.Name, flag.ContinueOnError)
	flags.SetOutput(notes)
	flags.Usage = func() {
		fmt.Fprintf(notes, "rackloom-registry %s [OPTIONS] %s\n\n%s\n\n", command.Name, command.Arguments, command.Usage)
		flags.PrintDefaults()
	}
	registry := os.Getenv("RACKLOOM_REGISTRY")
	if registry == "" {
		registry = "127.0.0.1:7440"
	}
	flags.StringVar(&options.registry, "registry", registry, "the registry's `address`; or set RACKLOOM_REGISTRY")
	flags.StringVar(&options.tokenFile, "token-file", os.Getenv("RACKLOOM_REGISTRY_TOKEN_FILE"),
		"show the token in this `file`; or set RACKLOOM_REGISTRY_TOKEN_FILE")
	flags.StringVar(&options.ca, "tls-ca", "", "use TLS, and trust the authorities in this `file`")
	flags.StringVar(&options.cert, "tls-cert", "", "show this certificate `file`")
	flags.StringVar(&options.key, "tls-key", "", "and use this key `file`")
	flags.BoolVar(&options.json, "json", false, "print JSON")
	if command.flags != nil {
		command.flags(flags, options)
	}
	positional, err := parse(flags, arguments)
	if err != nil {
		return err
	}
	if len(positional) != command.count {
		return fmt.Errorf("%s takes %d arguments: %s", command.Name, command.count, command.Arguments)
	}
	connection, err := dial(options)
	if err != nil {
		return err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if options.tokenFile != "" {
		token, err := os.ReadFile(options.tokenFile)
		if err != nil {
			return fmt.Errorf("read the token: %w", err)
		}
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	return command.run(ctx, &call{
		options: options, arguments: positional, out: out, notes: notes,
		devices:   rackloomv1.NewDevicesServiceClient(connection),
		functions: rackloomv1.NewFunctionsServiceClient(connection),
	})
}

// parse takes options before, between and behind the arguments.
func parse(flags *flag.FlagSet, arguments []string) ([]string, error) {
	var positional []string
	for {
		if err := flags.Parse(arguments); err != nil {
			return nil, err
		}
		if flags.NArg() == 0 {
			return positional, nil
		}
		positional = append(positional, flags.Arg(0))
		arguments = flags.Args()[1:]
	}
}

func dial(options *options) (*grpc.ClientConn, error) {
	transport := insecure.NewCredentials()
	if options.ca != "" || options.cert != "" {
		config := &tls.Config{MinVersion: tls.VersionTLS13}
		if options.ca != "" {
			content, err := os.ReadFile(options.ca)
			if err != nil {
				return nil, fmt.Errorf("read the authorities: %w", err)
			}
			config.RootCAs = x509.NewCertPool()
			if !config.RootCAs.AppendCertsFromPEM(content) {
				return nil, errors.New("read the authorities: there is no certificate in " + options.ca)
			}
		}
		if options.cert != "" {
			pair, err := tls.LoadX509KeyPair(options.cert, options.key)
			if err != nil {
				return nil, fmt.Errorf("read the certificate: %w", err)
			}
			config.Certificates = []tls.Certificate{pair}
		}
		transport = credentials.NewTLS(config)
	}
	target := options.registry
	if path, local := strings.CutPrefix(target, "unix:"); local {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		target = "unix:" + absolute
	} else {
		// Else gRPC takes the text before a colon for a way to find addresses.
		target = "dns:///" + target
	}
	return grpc.NewClient(target, grpc.WithTransportCredentials(transport))
}

// Find is the command of a name.
func Find(name string) (Command, bool) {
	all := Commands()
	at := slices.IndexFunc(all, func(c Command) bool { return c.Name == name })
	if at < 0 {
		return Command{}, false
	}
	return all[at], true
}
