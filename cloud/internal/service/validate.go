package service

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"

	"rackloom/cloud/allocate"
	rackloomv1 "rackloom/cloud/api/rackloom/v1"
	"rackloom/cloud/internal/cluster"
)

// Limits of what a request may hold. A message as a whole is bounded by the server.
const (
	textMax         = 256
	errorMax        = 1024
	managerMax      = 128
	endpointsMax    = 8
	setMax          = 64
	weightMax       = 1000
	kernelMsMax     = 24 * 60 * 60 * 1000
	instancesMaxMax = 4096
	// memoryMax keeps sums of memory far from overflow: a pebibyte times 4096.
	memoryMax = 1 << 50
	// pageMax keeps the largest page below gRPC's usual bound of 4 MiB for a message.
	pageMax = 100
)

var (
	label = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$`)
	name  = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]{0,251}[a-z0-9])?$`)
)

// checks collects the first fault of a request.
type checks struct {
	what string
	err  error
}

func (c *checks) fault(why, help string) {
	if c.err == nil {
		c.err = &cluster.Error{Code: codes.InvalidArgument, What: c.what, Why: why, Help: help}
	}
}

func (c *checks) device(id string) {
	node, board, _ := strings.Cut(id, "/")
	if !name.MatchString(node) || !label.MatchString(board) {
		c.fault(fmt.Sprintf("%.100q is no id of a device", id),
			"write NODE/BOARD, 1 to 253 and 1 to 63 of a-z, 0-9, and inside also . _ -")
	}
}

func (c *checks) name(field, value string) {
	if !name.MatchString(value) {
		c.fault(fmt.Sprintf("%s %.100q is no name", field, value), "write 1 to 253 of a-z, 0-9, and inside also . _ -")
	}
}

func (c *checks) node(value string) {
	if value != "" {
		c.name("node", value)
	}
}

// text is printable: it comes into logs, tables and environments.
func (c *checks) text(field, value string, most int) {
	bad := func(r rune) bool { return r < ' ' || r == 0x7f }
	if len(value) > most {
		c.fault(fmt.Sprintf("%s has %d bytes", field, len(value)), fmt.Sprintf("write at most %d", most))
	} else if strings.ContainsFunc(value, bad) {
		c.fault(fmt.Sprintf("%s %.100q has control characters", field, value), "write printable text")
	}
}

func (c *checks) set(field string, values []string) {
	if len(values) > setMax {
		c.fault(fmt.Sprintf("%d %s", len(values), field), fmt.Sprintf("name at most %d", setMax))
		return
	}
	for _, value := range values {
		if value == "" {
			c.fault(field+" has an empty name", "leave it out")
		}
		c.text(field, value, textMax)
	}
}

func (c *checks) atMost(field string, value, most uint64) {
	if value > most {
		c.fault(fmt.Sprintf("%s is %d", field, value), fmt.Sprintf("write at most %d", most))
	}
}

func (c *checks) endpoints(endpoints []string) {
	if len(endpoints) == 0 || len(endpoints) > endpointsMax {
		c.fault(fmt.Sprintf("%d endpoints", len(endpoints)), fmt.Sprintf("name 1 to %d", endpointsMax))
	}
	for _, endpoint := range endpoints {
		c.text("endpoint", endpoint, textMax)
		// A comma would divide it in the list of managers that a program gets.
		if !isEndpoint(endpoint) || strings.Contains(endpoint, ",") {
			c.fault(fmt.Sprintf("invalid endpoint %.100q", endpoint),
				"write unix:/PATH, tls:HOST:PORT#sha256:DIGEST or tcp:ADDRESS:PORT")
		}
	}
}

// isEndpoint says whether programs can connect so. The digest of a key, with which they know a manager within TLS, is
// 64 digits of a hash.
func isEndpoint(endpoint string) bool {
	kind, where, _ := strings.Cut(endpoint, ":")
	if kind == "unix" {
		return strings.HasPrefix(where, "/")
	}
	address, pin, pinned := strings.Cut(where, "#")
	if pinned {
		digits, known := strings.CutPrefix(pin, "sha256:")
		digest, err := hex.DecodeString(digits)
		if kind != "tls" || !known || err != nil || len(digest) != sha256.Size {
			return false
		}
	}
	_, port, err := net.SplitHostPort(address)
	return (kind == "tcp" || kind == "tls") && err == nil && port != ""
}

func (c *checks) metricsURL(text string) {
	c.text("metrics_url", text, textMax)
	if parsed, err := url.Parse(text); text != "" && (err != nil || parsed.Scheme != "http" || parsed.Host == "") {
		c.fault(fmt.Sprintf("%.100q is no URL of metrics", text), "write http://HOST:PORT/metrics")
	}
}

func (c *checks) page(size uint32, token string) int {
	c.text("page_token", token, textMax)
	c.atMost("page_size", uint64(size), pageMax)
	if size == 0 {
		return pageMax
	}
	return int(size)
}

// deviceOf reads what a manager says of its board.
func deviceOf(request *rackloomv1.RegisterDeviceRequest) (*cluster.Device, error) {
	spec := request.GetDevice()
	check := checks{what: "register device"}
	check.device(spec.GetId())
	check.text("manager", request.GetManager(), managerMax)
	if request.GetManager() == "" {
		check.fault("manager is empty", "name the manager's installation")
	}
	check.endpoints(spec.GetEndpoints())
	check.metricsURL(spec.GetMetricsUrl())
	check.text("metrics_board", spec.GetMetricsBoard(), textMax)
	check.text("vendor", spec.GetVendor(), textMax)
	check.text("platform", spec.GetPlatform(), textMax)
	check.text("accelerator", spec.GetAccelerator(), textMax)
	check.set("loadable", spec.GetLoadable())
	check.set("capabilities", spec.GetCapabilities())
	check.atMost("instances_max", uint64(spec.GetInstancesMax()), instancesMaxMax)
	check.atMost("memory_bytes", spec.GetMemoryBytes(), memoryMax)
	policy := spec.GetReconfiguration()
	if rackloomv1.ReconfigurationPolicy_name[int32(policy)] == "" {
		check.fault(fmt.Sprintf("reconfiguration policy %d is unknown", policy), "")
	}
	return &cluster.Device{
		ID: spec.GetId(), Manager: request.GetManager(), Endpoints: spec.GetEndpoints(),
		MetricsURL: spec.GetMetricsUrl(), MetricsBoard: spec.GetMetricsBoard(),
		Vendor: spec.GetVendor(), Platform: spec.GetPlatform(), Accelerator: spec.GetAccelerator(),
		Reconfigurable: policy == rackloomv1.ReconfigurationPolicy_RECONFIGURATION_POLICY_ON_REQUEST,
		Loadable:       spec.GetLoadable(), Capabilities: spec.GetCapabilities(),
		InstancesMax: int(spec.GetInstancesMax()), MemoryBytes: spec.GetMemoryBytes(),
	}, check.err
}

// functionOf reads a function.
func functionOf(function *rackloomv1.Function) (*cluster.Function, error) {
	query := function.GetQuery()
	check := checks{what: "register function"}
	check.name("function", function.GetName())
	check.text("vendor", query.GetVendor(), textMax)
	check.text("platform", query.GetPlatform(), textMax)
	check.text("accelerator", query.GetAccelerator(), textMax)
	check.set("capabilities", query.GetCapabilities())
	check.atMost("memory_bytes", query.GetMemoryBytes(), memoryMax)
	check.atMost("weight", uint64(function.GetWeight()), weightMax)
	check.atMost("longest_kernel_ms", uint64(function.GetLongestKernelMs()), kernelMsMax)
	// In one order, so that the same function registered again is seen to be the same.
	capabilities := slices.Compact(slices.Sorted(slices.Values(query.GetCapabilities())))
	return &cluster.Function{
		Name: function.GetName(),
		Query: allocate.Query{
			Vendor: query.GetVendor(), Platform: query.GetPlatform(), Accelerator: query.GetAccelerator(),
			Capabilities: capabilities, MemoryBytes: query.GetMemoryBytes(),
		},
		Exclusive: function.GetExclusive(), Weight: max(function.GetWeight(), 1),
		LongestKernelMs: function.GetLongestKernelMs(),
	}, check.err
}
