package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	rackloomv1 "rackloom/cloud/api/rackloom/v1"
)

// width is what a table has at most.
const width = 80

// printTable writes rows below a head, cells cut so that lines fit. The columns that may be cut are the widest.
func printTable(out io.Writer, rows [][]string) {
	widths := make([]int, len(rows[0]))
	total := 2 * (len(widths) - 1)
	for column := range widths {
		for _, row := range rows {
			widths[column] = max(widths[column], utf8.RuneCountInString(row[column]))
		}
		total += widths[column]
	}
	for ; total > width; total-- {
		widest := 0
		for column := range widths {
			if widths[column] > widths[widest] {
				widest = column
			}
		}
		widths[widest]--
	}
	for _, row := range rows {
		var line strings.Builder
		for column, cell := range row {
			line.WriteString(cut(cell, widths[column]))
			line.WriteString(strings.Repeat(" ", widths[column]-utf8.RuneCountInString(cut(cell, widths[column]))+2))
		}
		fmt.Fprintln(out, strings.TrimRight(line.String(), " "))
	}
}

// cut keeps the end of what is too long: ids of one origin differ there.
func cut(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return "…" + string(runes[len(runes)-most+1:])
}

// printJSON writes messages as one document: {"NAME": [...]}.
func printJSON[M proto.Message](out io.Writer, name string, messages []M) error {
	list := make([]json.RawMessage, len(messages))
	for i, message := range messages {
		text, err := protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(message)
		if err != nil {
			return err
		}
		list[i] = text
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(map[string]any{name: list})
}

func none(text string) string {
	if text == "" {
		return "<none>"
	}
	return text
}

func listDevices(ctx context.Context, c *call) error {
	var all []*rackloomv1.Device
	for token, more := "", true; more; {
		page, err := c.devices.ListDevices(ctx, &rackloomv1.ListDevicesRequest{PageToken: token})
		if err != nil {
			return err
		}
		all = append(all, page.Devices...)
		token = page.NextPageToken
		more = token != ""
	}
	if c.options.json {
		return printJSON(c.out, "devices", all)
	}
	rows := [][]string{{"NAME", "PLATFORM", "ACCELERATOR", "INSTANCES", "UTILISATION", "STATE"}}
	for _, device := range all {
		spec := device.Spec
		utilisation := "<unknown>"
		if device.Metrics.Utilisation != nil {
			utilisation = fmt.Sprintf("%.0f%%", 100*device.Metrics.GetUtilisation())
		}
		rows = append(rows, []string{
			spec.Id, none(spec.Platform), none(spec.Accelerator),
			fmt.Sprintf("%d/%d", device.Instances, spec.InstancesMax), utilisation, deviceState(device),
		})
	}
	printTable(c.out, rows)
	return nil
}

func deviceState(device *rackloomv1.Device) string {
	state := "online"
	if device.State == rackloomv1.DeviceState_DEVICE_STATE_LOST {
		state = "lost"
	}
	if device.Draining {
		state += ",draining"
	}
	if device.Reconfiguration != nil {
		state += ",to " + device.Reconfiguration.Accelerator
	}
	return state
}

func listFunctions(ctx context.Context, c *call) error {
	var all []*rackloomv1.Function
	for token, more := "", true; more; {
		page, err := c.functions.ListFunctions(ctx, &rackloomv1.ListFunctionsRequest{PageToken: token})
		if err != nil {
			return err
		}
		all = append(all, page.Functions...)
		token = page.NextPageToken
		more = token != ""
	}
	if c.options.json {
		return printJSON(c.out, "functions", all)
	}
	rows := [][]string{{"NAME", "VENDOR", "PLATFORM", "ACCELERATOR", "SHARED", "WEIGHT", "KERNEL", "INSTANCES"}}
	for _, function := range all {
		shared := "yes"
		if function.Exclusive {
			shared = "no"
		}
		query := function.Query
		rows = append(rows, []string{
			function.Name, anything(query.GetVendor()), anything(query.GetPlatform()), anything(query.GetAccelerator()), shared,
			fmt.Sprint(function.Weight), longest(function.LongestKernelMs), fmt.Sprint(function.Instances),
		})
	}
	printTable(c.out, rows)
	return nil
}

func longest(milliseconds uint32) string {
	if milliseconds == 0 {
		return anything("")
	}
	return (time.Duration(milliseconds) * time.Millisecond).String()
}

func anything(text string) string {
	if text == "" {
		return "<any>"
	}
	return text
}

func listAllocations(ctx context.Context, c *call) error {
	var all []*rackloomv1.Instance
	for token, more := "", true; more; {
		page, err := c.functions.ListInstances(ctx, &rackloomv1.ListInstancesRequest{PageToken: token})
		if err != nil {
			return err
		}
		all = append(all, page.Instances...)
		token = page.NextPageToken
		more = token != ""
	}
	if c.options.json {
		return printJSON(c.out, "allocations", all)
	}
	rows := [][]string{{"NAME", "FUNCTION", "NODE", "DEVICE", "STATE"}}
	for _, instance := range all {
		state := strings.ToLower(strings.TrimPrefix(instance.State.String(), "INSTANCE_STATE_"))
		if instance.Move != nil {
			state = "to " + instance.Move.To
		}
		rows = append(rows, []string{instance.Id, instance.Function, instance.Node, instance.Device, state})
	}
	printTable(c.out, rows)
	return nil
}
