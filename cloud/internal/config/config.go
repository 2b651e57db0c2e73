// Package config is the registry's configuration: defaults, then a TOML file, then flags.
package config

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"rackloom/cloud/allocate"
	"rackloom/cloud/internal/clock"
	"rackloom/cloud/internal/cluster"
	"rackloom/cloud/internal/gather"
)

// Config is what an owner of a registry decides. Paths are relative to the working directory.
type Config struct {
	// Listen is where gRPC is served: ADDRESS:PORT or unix:PATH.
	Listen string `toml:"listen"`
	// HTTP is where /metrics and /healthz are served, ADDRESS:PORT; empty for nowhere.
	HTTP string `toml:"http"`
	// Store is the file of all that the registry knows.
	Store string `toml:"store"`
	// LogLevel is debug, info, warn or error; LogFormat is text or json.
	LogLevel  string `toml:"log_level"`
	LogFormat string `toml:"log_format"`
	// Tokens is a file of credentials and what they may; empty lets everybody do everything.
	Tokens string `toml:"tokens"`
	// Insecure allows to listen on the network without TLS or without a way to tell callers.
	Insecure   bool       `toml:"insecure"`
	TLS        TLS        `toml:"tls"`
	Allocation Allocation `toml:"allocation"`
	Leases     Leases     `toml:"leases"`
	Metrics    Metrics    `toml:"metrics"`
}

// TLS names files in PEM.
type TLS struct {
	Cert string `toml:"cert"`
	Key  string `toml:"key"`
	// ClientCA has the authorities of clients' certificates, which are then required.
	ClientCA string `toml:"client_ca"`
}

// Allocation is the policy.
type Allocation struct {
	Filters          []string `toml:"filters"`
	Order            []string `toml:"order"`
	InstancesDefault int      `toml:"instances_default"`
}

// Leases are the times after which things are no longer waited for.
type Leases struct {
	Lease              Duration `toml:"lease"`
	LostGrace          Duration `toml:"lost_grace"`
	MoveGrace          Duration `toml:"move_grace"`
	ReconfigureTimeout Duration `toml:"reconfigure_timeout"`
}

// Metrics say how boards are measured.
type Metrics struct {
	Prometheus string   `toml:"prometheus"`
	Interval   Duration `toml:"interval"`
	Window     Duration `toml:"window"`
}

// Duration is written as Go writes it: 30s, 5m.
type Duration time.Duration

// UnmarshalText is encoding.TextUnmarshaler's.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// MarshalText is encoding.TextMarshaler's.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// Default is a registry for one machine.
func Default() Config {
	options := cluster.DefaultOptions()
	config := Config{
		Listen: "127.0.0.1:7440", HTTP: "127.0.0.1:7441", Store: filepath.Join(stateFolder(), "registry.db"),
		LogLevel: "info", LogFormat: "text",
		Allocation: Allocation{InstancesDefault: options.InstancesDefault},
		Leases: Leases{
			Lease: Duration(options.Lease), LostGrace: Duration(options.LostGrace),
			MoveGrace: Duration(options.MoveGrace), ReconfigureTimeout: Duration(options.ReconfigureTimeout),
		},
		Metrics: Metrics{Interval: Duration(5 * time.Second), Window: Duration(time.Minute)},
	}
	for _, filter := range options.Policy.Filters {
		config.Allocation.Filters = append(config.Allocation.Filters, filter.String())
	}
	for _, key := range options.Policy.Order {
		config.Allocation.Order = append(config.Allocation.Order, key.String())
	}
	return config
}

func stateFolder() string {
	if folder := os.Getenv("XDG_STATE_HOME"); folder != "" {
		return filepath.Join(folder, "rackloom")
	}
	if home, err := os.UserHomeDir(); err == nil && os.Getuid() != 0 {
		return filepath.Join(home, ".local", "state", "rackloom")
	}
	return "/var/lib/rackloom"
}

// Parse reads the command line and the file it names. It returns flag.ErrHelp when help was asked for and given.
func Parse(flags *flag.FlagSet, arguments []string) (Config, error) {
	config := Default()
	// Flags are set behind the file, which they may come before on the command line.
	var overrides []func() error
	file := flags.String("config", "", "read this TOML `file`; flags win over it")
	option := func(name, usage string, set func(value string) error) {
		flags.Func(name, usage, func(value string) error {
			overrides = append(overrides, func() error {
				if err := set(value); err != nil {
					return fmt.Errorf("-%s %s: %w", name, value, err)
				}
				return nil
			})
			return nil
		})
	}
	text := func(name, usage string, into *string) {
		option(name, usage, func(value string) error { *into = value; return nil })
	}
	duration := func(name, usage string, into *Duration) {
		option(name, usage, func(value string) error { return into.UnmarshalText([]byte(value)) })
	}
	list := func(name, usage string, into *[]string) {
		option(name, usage, func(value string) error { *into = splitList(value); return nil })
	}
	text("listen", "serve gRPC at this `address`: ADDRESS:PORT or unix:PATH", &config.Listen)
	text("http", "serve /metrics and /healthz at this `address`; empty for nowhere", &config.HTTP)
	text("store", "keep everything in this `file`", &config.Store)
	text("log-level", "`level`: debug, info, warn or error", &config.LogLevel)
	text("log-format", "`format`: text or json", &config.LogFormat)
	text("tokens", "admit callers by this `file` of roles and tokens", &config.Tokens)
	text("tls-cert", "serve TLS with this certificate `file`", &config.TLS.Cert)
	text("tls-key", "and this key `file`", &config.TLS.Key)
	text("tls-client-ca", "require clients' certificates by the authorities in this `file`", &config.TLS.ClientCA)
	list("filters", "eligible are boards with these `conditions`, such as 'utilisation < 0.9, tenants < 8'",
		&config.Allocation.Filters)
	list("order", "prefer boards by these `metrics`, such as 'utilisation / 0.1, instances'", &config.Allocation.Order)
	duration("lease", "a manager silent for this `time` has lost its boards", &config.Leases.Lease)
	duration("lost-grace", "instances of a board lost for this `time` get others; 0 for never", &config.Leases.LostGrace)
	duration("move-grace", "an instance may take this `time` to leave a board", &config.Leases.MoveGrace)
	duration("reconfigure-timeout", "a manager may take this `time` to load an accelerator",
		&config.Leases.ReconfigureTimeout)
	text("prometheus", "measure boards through this `URL` of Prometheus; else managers are asked",
		&config.Metrics.Prometheus)
	duration("metrics-interval", "measure boards every so much `time`", &config.Metrics.Interval)
	duration("metrics-window", "average rates over this `time`", &config.Metrics.Window)
	option("insecure", "`true` allows to listen on the network without TLS and tokens", func(value string) (err error) {
		config.Insecure, err = strconv.ParseBool(value)
		return err
	})
	if err := flags.Parse(arguments); err != nil {
		return Config{}, err
	}
	if flags.NArg() > 0 {
		return Config{}, fmt.Errorf("%q is not understood; options begin with -", flags.Arg(0))
	}
	if *file != "" {
		if err := config.read(*file); err != nil {
			return Config{}, fmt.Errorf("read %s: %w", *file, err)
		}
	}
	for _, override := range overrides {
		if err := override(); err != nil {
			return Config{}, err
		}
	}
	return config, config.check()
}

func splitList(value string) []string {
	var list []string
	for part := range strings.SplitSeq(value, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

func (c *Config) read(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	decoder := toml.NewDecoder(bytes.NewReader(content)).DisallowUnknownFields()
	err = decoder.Decode(c)
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) {
		return fmt.Errorf("there are options that are unknown:\n%s", strict.String())
	}
	return err
}

func (c *Config) check() error {
	if _, err := c.Options(); err != nil {
		return err
	}
	for name, d := range map[string]Duration{
		"lease": c.Leases.Lease, "move_grace": c.Leases.MoveGrace, "reconfigure_timeout": c.Leases.ReconfigureTimeout,
		"metrics.interval": c.Metrics.Interval, "metrics.window": c.Metrics.Window,
	} {
		if d < Duration(100*time.Millisecond) || d > Duration(24*time.Hour) {
			return fmt.Errorf("%s is %s; write 100ms to 24h", name, time.Duration(d))
		}
	}
	if c.Leases.LostGrace < 0 {
		return errors.New("lost_grace is negative; write 0 for never")
	}
	if c.Metrics.Window < 2*c.Metrics.Interval {
		return fmt.Errorf("the window of %s holds fewer than two rounds of %s; make it longer",
			time.Duration(c.Metrics.Window), time.Duration(c.Metrics.Interval))
	}
	if (c.TLS.Cert == "") != (c.TLS.Key == "") || c.TLS.ClientCA != "" && c.TLS.Cert == "" {
		return errors.New("TLS needs a certificate and its key; name both")
	}
	if c.TLS.ClientCA != "" && c.Tokens == "" {
		return errors.New("client certificates say who calls, and not what they may; name a file of tokens with a line " +
			"for each: ROLE cert:NAME")
	}
	if most := 4096; c.Allocation.InstancesDefault < 1 || c.Allocation.InstancesDefault > most {
		return fmt.Errorf("instances_default is %d; write 1 to %d", c.Allocation.InstancesDefault, most)
	}
	return c.checkExposed()
}

// checkExposed refuses to serve strangers: who can reach the registry can have every board.
func (c *Config) checkExposed() error {
	guarded := c.TLS.Cert != "" && c.Tokens != ""
	if guarded || c.Insecure || strings.HasPrefix(c.Listen, "unix:") {
		return nil
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return fmt.Errorf("listen at %q: write ADDRESS:PORT or unix:PATH", c.Listen)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("listen at %s: everybody on the network could allocate boards; "+
		"set TLS and tokens, or insecure = true", c.Listen)
}

// Options are those of the cluster.
func (c *Config) Options() (cluster.Options, error) {
	options := cluster.Options{
		Lease: time.Duration(c.Leases.Lease), LostGrace: time.Duration(c.Leases.LostGrace),
		MoveGrace: time.Duration(c.Leases.MoveGrace), ReconfigureTimeout: time.Duration(c.Leases.ReconfigureTimeout),
		InstancesDefault: c.Allocation.InstancesDefault, Time: clock.System(),
	}
	for _, text := range c.Allocation.Filters {
		filter, err := allocate.ParseFilter(text)
		if err != nil {
			return options, fmt.Errorf("filters: %w", err)
		}
		options.Policy.Filters = append(options.Policy.Filters, filter)
	}
	for _, text := range c.Allocation.Order {
		key, err := allocate.ParseKey(text)
		if err != nil {
			return options, fmt.Errorf("order: %w", err)
		}
		options.Policy.Order = append(options.Policy.Order, key)
	}
	return options, nil
}

// Gather is how boards are measured.
func (c *Config) Gather() gather.Options {
	return gather.Options{
		Prometheus: c.Metrics.Prometheus, Interval: time.Duration(c.Metrics.Interval),
		Window: time.Duration(c.Metrics.Window),
	}
}
