package client

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"strings"

	"rackloom/cloud/internal/attend"
	"rackloom/cloud/internal/gather"
)

func attendFlags(flags *flag.FlagSet, o *options) {
	queryText := func(name, usage string, into *string) { flags.StringVar(into, name, "", usage) }
	flags.Func("endpoint", "programs reach the manager at this `endpoint`, unix:/PATH or tcp:ADDRESS:PORT; may be repeated",
		func(value string) error {
			o.device.Endpoints = append(o.device.Endpoints, value)
			return nil
		})
	queryText("metrics-url", "the manager's `URL` of metrics", &o.device.MetricsUrl)
	queryText("metrics-board", "the `label` board of its metrics; else the board's name, or the only one there", &o.device.MetricsBoard)
	queryText("vendor", "the board's `vendor`", &o.device.Vendor)
	queryText("platform", "the board's `platform`", &o.device.Platform)
	queryText("accelerator", "the `accelerator` that is configured", &o.device.Accelerator)
	flags.Func("capability", "the board has this `capability`; may be repeated", func(value string) error {
		o.device.Capabilities = append(o.device.Capabilities, value)
		return nil
	})
	flags.Uint64Var(&o.device.MemoryBytes, "memory", 0, "`bytes` of the board's memory to share out")
	flags.UintVar(&o.instancesMax, "instances", 0, "the most instances at a time; 0 for the registry's default")
	queryText("manager", "`name` of the manager's installation; else the node's", &o.manager)
	queryText("tokens", "keep the tokens of those who may use the board in this `file`", &o.tokens)
}

func attendDevice(ctx context.Context, c *call) error {
	device := &c.options.device
	device.Id = c.arguments[0]
	device.InstancesMax = uint32(min(c.options.instancesMax, 1<<31))
	if len(device.Endpoints) == 0 {
		return errors.New("there is no --endpoint; name one where programs reach the manager")
	}
	manager := c.options.manager
	if manager == "" {
		manager, _, _ = strings.Cut(device.Id, "/")
	}
	attendant := &attend.Attendant{
		Client: c.devices, Manager: manager, Device: device, Tokens: c.options.tokens,
		Alive: attend.Probe(device.MetricsUrl, device.Endpoints[0]),
		Log:   slog.New(slog.NewTextHandler(c.notes, nil)),
	}
	if device.MetricsUrl != "" {
		attendant.Boards = func(ctx context.Context) ([]string, error) { return gather.Boards(ctx, device.MetricsUrl) }
	}
	return attendant.Run(ctx)
}
