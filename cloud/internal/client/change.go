package client

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	rackloomv1 "rackloom/cloud/api/rackloom/v1"
)

func queryFlags(flags *flag.FlagSet, o *options) {
	flags.StringVar(&o.query.Vendor, "vendor", "", "only boards of this `vendor`")
	flags.StringVar(&o.query.Platform, "platform", "", "only boards of this `platform`")
	flags.StringVar(&o.query.Accelerator, "accelerator", "", "it needs this `accelerator`")
	flags.Func("capability", "only boards with this `capability`; may be repeated", func(value string) error {
		o.query.Capabilities = append(o.query.Capabilities, value)
		return nil
	})
	flags.Uint64Var(&o.query.MemoryBytes, "memory", 0, "it needs so many `bytes` of the board's memory")
	flags.BoolVar(&o.exclusive, "exclusive", false, "each instance gets a board for itself")
	flags.DurationVar(&o.kernel, "longest-kernel", 0,
		"how long one kernel may keep others waiting, such as 500ms; 0 if that is the manager's to say")
	flags.UintVar(&o.weight, "weight", 1, "share of a board's time, relative to others: 1 to 1000")
}

func nodeFlag(flags *flag.FlagSet, o *options) {
	flags.StringVar(&o.node, "node", "", "it runs on this `node`")
}

func moveFlag(flags *flag.FlagSet, o *options) {
	flags.BoolVar(&o.move, "move", false, "and move its instances to other boards")
}

// note says what was done, unless it failed.
func (c *call) note(err error, format string, arguments ...string) error {
	if err != nil {
		return err
	}
	values := make([]any, len(arguments))
	for i, argument := range arguments {
		values[i] = argument
	}
	fmt.Fprintf(c.notes, format+"\n", values...)
	return nil
}

func putFunction(ctx context.Context, c *call) error {
	milliseconds, err := wholeMilliseconds(c.options.kernel)
	if err != nil {
		return err
	}
	function, err := c.functions.RegisterFunction(ctx, &rackloomv1.RegisterFunctionRequest{
		Function: &rackloomv1.Function{
			Name: c.arguments[0], Query: &c.options.query, Exclusive: c.options.exclusive,
			Weight: uint32(min(c.options.weight, 1<<31)), LongestKernelMs: milliseconds,
		},
	})
	if err != nil {
		return err
	}
	if c.options.json {
		return printJSON(c.out, "functions", []*rackloomv1.Function{function})
	}
	return c.note(nil, "function %s is registered", function.Name)
}

// wholeMilliseconds is a duration as the API has it. One that is too long is the registry's to refuse.
func wholeMilliseconds(of time.Duration) (uint32, error) {
	if of < 0 || of%time.Millisecond != 0 {
		return 0, fmt.Errorf("-longest-kernel is %s; write whole milliseconds, such as 500ms, or 0", of)
	}
	return uint32(min(of.Milliseconds(), math.MaxUint32)), nil
}

func deleteFunction(ctx context.Context, c *call) error {
	_, err := c.functions.DeleteFunction(ctx, &rackloomv1.DeleteFunctionRequest{Name: c.arguments[0]})
	return c.note(err, "function %s is forgotten", c.arguments[0])
}

func allocate(ctx context.Context, c *call) error {
	instance, err := c.functions.CreateInstance(ctx, &rackloomv1.CreateInstanceRequest{
		Function: c.arguments[0], Id: c.arguments[1], Node: c.options.node,
	})
	if err != nil {
		return err
	}
	if c.options.json {
		return printJSON(c.out, "allocations", []*rackloomv1.Instance{instance})
	}
	// As a shell's `export $(...)` or an environment file takes it.
	for _, name := range slices.Sorted(maps.Keys(instance.Environment)) {
		fmt.Fprintf(c.out, "%s=%s\n", name, instance.Environment[name])
	}
	return c.note(nil, "instance %s has %s, to run on %s", instance.Id, instance.Device, instance.Node)
}

func free(ctx context.Context, c *call) error {
	_, err := c.functions.DeleteInstance(ctx, &rackloomv1.DeleteInstanceRequest{Id: c.arguments[0]})
	return c.note(err, "instance %s is free of its board", c.arguments[0])
}

func drain(ctx context.Context, c *call) error {
	response, err := c.devices.DrainDevice(ctx, &rackloomv1.DrainDeviceRequest{
		Id: c.arguments[0], Drain: true, Move: c.options.move,
	})
	if err != nil {
		return err
	}
	if c.options.json {
		return printJSON(c.out, "drains", []*rackloomv1.DrainDeviceResponse{response})
	}
	for _, move := range response.Moves {
		fmt.Fprintf(c.out, "%s\t%s\t%s\n", move.Instance, move.From, move.To)
	}
	if len(response.Stuck) > 0 {
		fmt.Fprintf(c.notes, "no other board can take %s\n", strings.Join(response.Stuck, ", "))
	}
	return c.note(nil, "device %s gets no more instances", c.arguments[0])
}

func undrain(ctx context.Context, c *call) error {
	_, err := c.devices.DrainDevice(ctx, &rackloomv1.DrainDeviceRequest{Id: c.arguments[0]})
	return c.note(err, "device %s gets instances again", c.arguments[0])
}

func forget(ctx context.Context, c *call) error {
	_, err := c.devices.DeregisterDevice(ctx, &rackloomv1.DeregisterDeviceRequest{Id: c.arguments[0]})
	return c.note(err, "device %s is forgotten", c.arguments[0])
}
