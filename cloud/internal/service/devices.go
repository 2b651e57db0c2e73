// Package service is the registry's gRPC interface: it checks what requests hold, and who may make them, before the
// cluster sees them.
package service

import (
	"context"

	"google.golang.org/grpc"

	rackloomv1 "rackloom/cloud/api/rackloom/v1"
	"rackloom/cloud/internal/cluster"
	"rackloom/cloud/internal/identity"
)

// retryMillis is when a manager that has to wait for moves asks again. The moves' end is not told otherwise.
const retryMillis = 500

// Devices is the service for managers and administrators.
type Devices struct {
	rackloomv1.UnimplementedDevicesServiceServer
	Cluster *cluster.Cluster
	Metrics cluster.Metrics
}

// RegisterDevice is the API's.
func (s *Devices) RegisterDevice(
	ctx context.Context, request *rackloomv1.RegisterDeviceRequest,
) (*rackloomv1.RegisterDeviceResponse, error) {
	device, err := deviceOf(request)
	if err != nil {
		return nil, err
	}
	device.Owner, _ = callerOf(ctx).SpeaksFor(device.ID)
	lease, tenants, err := s.Cluster.RegisterDevice(device)
	if err != nil {
		return nil, err
	}
	return &rackloomv1.RegisterDeviceResponse{
		Lease: lease.ID, LeaseMs: uint32(lease.Length.Milliseconds()), Tenants: tenantsMessage(tenants),
	}, nil
}

// Heartbeat is the API's.
func (s *Devices) Heartbeat(
	_ context.Context, request *rackloomv1.HeartbeatRequest,
) (*rackloomv1.HeartbeatResponse, error) {
	check := checks{what: "heartbeat"}
	check.device(request.GetId())
	check.text("accelerator", request.GetAccelerator(), textMax)
	if check.err != nil {
		return nil, check.err
	}
	device, tenants, err := s.Cluster.Heartbeat(
		request.GetId(), request.GetLease(), request.GetAccelerator(), request.GetTenantsRevision())
	if err != nil {
		return nil, err
	}
	response := &rackloomv1.HeartbeatResponse{
		LeaseMs: uint32(s.Cluster.Lease().Milliseconds()), Reconfiguration: flagMessage(s.Cluster.Clock(), device.Flag),
	}
	if tenants != nil {
		response.Tenants = tenantsMessage(*tenants)
	}
	return response, nil
}

// WatchTenants is the API's.
func (s *Devices) WatchTenants(
	request *rackloomv1.WatchTenantsRequest, stream grpc.ServerStreamingServer[rackloomv1.TenantList],
) error {
	check := checks{what: "watch tenants"}
	if check.device(request.GetId()); check.err != nil {
		return check.err
	}
	watch, err := s.Cluster.WatchTenants(request.GetId())
	if err != nil {
		return err
	}
	defer watch.Close()
	for sent := uint64(0); ; {
		watch.Changed()
		tenants, err := s.Cluster.Tenants(request.GetId(), request.GetLease())
		if err != nil {
			return err
		}
		if tenants.Revision != sent {
			if err := stream.Send(tenantsMessage(tenants)); err != nil {
				return err
			}
			sent = tenants.Revision
		}
		select {
		case <-stream.Context().Done():
			return stream.Context().Err()
		case <-watch.Wake():
		}
	}
}

// DeregisterDevice is the API's.
func (s *Devices) DeregisterDevice(
	ctx context.Context, request *rackloomv1.DeregisterDeviceRequest,
) (*rackloomv1.DeregisterDeviceResponse, error) {
	check := checks{what: "deregister device"}
	check.device(request.GetId())
	if request.GetLease() == 0 && !callerOf(ctx).Role.May(identity.Admin) {
		check.fault("there is no lease", "only administrators leave it out")
	}
	if check.err != nil {
		return nil, check.err
	}
	if err := s.Cluster.DeregisterDevice(request.GetId(), request.GetLease()); err != nil {
		return nil, err
	}
	return &rackloomv1.DeregisterDeviceResponse{}, nil
}

// GetDevice is the API's.
func (s *Devices) GetDevice(_ context.Context, request *rackloomv1.GetDeviceRequest) (*rackloomv1.Device, error) {
	check := checks{what: "get device"}
	if check.device(request.GetId()); check.err != nil {
		return nil, check.err
	}
	device, instances, err := s.Cluster.GetDevice(request.GetId())
	if err != nil {
		return nil, err
	}
	return deviceMessage(s.Cluster.Clock(), device, instances, s.Metrics.Of(device)), nil
}

// ListDevices is the API's.
func (s *Devices) ListDevices(
	_ context.Context, request *rackloomv1.ListDevicesRequest,
) (*rackloomv1.ListDevicesResponse, error) {
	check := checks{what: "list devices"}
	size := check.page(request.GetPageSize(), request.GetPageToken())
	if check.err != nil {
		return nil, check.err
	}
	devices, instances, more := s.Cluster.Devices(request.GetPageToken(), size)
	response := &rackloomv1.ListDevicesResponse{}
	for i, device := range devices {
		message := deviceMessage(s.Cluster.Clock(), device, instances[i], s.Metrics.Of(device))
		response.Devices = append(response.Devices, message)
	}
	if more {
		response.NextPageToken = devices[len(devices)-1].ID
	}
	return response, nil
}

// WatchDevices is the API's.
func (s *Devices) WatchDevices(
	_ *rackloomv1.WatchDevicesRequest, stream grpc.ServerStreamingServer[rackloomv1.DeviceEvent],
) error {
	watch, err := s.Cluster.WatchDevices()
	if err != nil {
		return err
	}
	defer watch.Close()
	send := func(device *cluster.Device, instances int) error {
		message := deviceMessage(s.Cluster.Clock(), device, instances, s.Metrics.Of(device))
		return stream.Send(&rackloomv1.DeviceEvent{Event: &rackloomv1.DeviceEvent_Changed{Changed: message}})
	}
	for after, more := "", true; more; {
		var devices []*cluster.Device
		var instances []int
		devices, instances, more = s.Cluster.Devices(after, pageMax)
		for i, device := range devices {
			if err := send(device, instances[i]); err != nil {
				return err
			}
			after = device.ID
		}
	}
	if err := stream.Send(&rackloomv1.DeviceEvent{Event: &rackloomv1.DeviceEvent_Synced{Synced: true}}); err != nil {
		return err
	}
	return follow(stream.Context(), watch, func(id string) error {
		device, instances, err := s.Cluster.GetDevice(id)
		if err != nil {
			return stream.Send(&rackloomv1.DeviceEvent{Event: &rackloomv1.DeviceEvent_Deleted{Deleted: id}})
		}
		return send(device, instances)
	})
}

// follow calls a function with each id that changes, until the stream ends or a call fails.
func follow(ctx context.Context, watch *cluster.Watch, changed func(id string) error) error {
	for {
		for _, id := range watch.Changed() {
			if err := changed(id); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-watch.Wake():
		}
	}
}

// DrainDevice is the API's.
func (s *Devices) DrainDevice(
	_ context.Context, request *rackloomv1.DrainDeviceRequest,
) (*rackloomv1.DrainDeviceResponse, error) {
	check := checks{what: "drain device"}
	check.device(request.GetId())
	if request.GetMove() && !request.GetDrain() {
		check.fault("move is set, and drain is not", "set both to empty the board")
	}
	if check.err != nil {
		return nil, check.err
	}
	plan, err := s.Cluster.DrainDevice(request.GetId(), request.GetDrain(), request.GetMove())
	if err != nil {
		return nil, err
	}
	return &rackloomv1.DrainDeviceResponse{Moves: movesMessage(plan.Moves), Stuck: plan.Stuck}, nil
}

var decisions = map[cluster.Decision]rackloomv1.ReconfigurationDecision{
	cluster.Granted:  rackloomv1.ReconfigurationDecision_RECONFIGURATION_DECISION_GRANTED,
	cluster.Wait:     rackloomv1.ReconfigurationDecision_RECONFIGURATION_DECISION_WAIT,
	cluster.Refused:  rackloomv1.ReconfigurationDecision_RECONFIGURATION_DECISION_REFUSED,
	cluster.Unneeded: rackloomv1.ReconfigurationDecision_RECONFIGURATION_DECISION_UNNEEDED,
}

// ValidateReconfiguration is the API's.
func (s *Devices) ValidateReconfiguration(
	_ context.Context, request *rackloomv1.ValidateReconfigurationRequest,
) (*rackloomv1.ValidateReconfigurationResponse, error) {
	check := checks{what: "validate reconfiguration"}
	check.device(request.GetId())
	check.name("instance", request.GetInstance())
	check.text("accelerator", request.GetAccelerator(), textMax)
	if request.GetAccelerator() == "" {
		check.fault("accelerator is empty", "name what is to be loaded")
	}
	if check.err != nil {
		return nil, check.err
	}
	verdict, err := s.Cluster.ValidateReconfiguration(
		request.GetId(), request.GetLease(), request.GetInstance(), request.GetAccelerator())
	if err != nil {
		return nil, err
	}
	response := &rackloomv1.ValidateReconfigurationResponse{
		Decision: decisions[verdict.Decision], Reason: verdict.Reason, Moves: movesMessage(verdict.Moves),
	}
	switch verdict.Decision {
	case cluster.Wait:
		response.RetryMs = retryMillis
	case cluster.Granted:
		// Not 0, which a registry says that knows no end.
		response.GrantMs = uint32(max(verdict.Good.Milliseconds(), 1))
	}
	return response, nil
}

// ReportReconfiguration is the API's.
func (s *Devices) ReportReconfiguration(
	_ context.Context, request *rackloomv1.ReportReconfigurationRequest,
) (*rackloomv1.ReportReconfigurationResponse, error) {
	check := checks{what: "report reconfiguration"}
	check.device(request.GetId())
	check.text("accelerator", request.GetAccelerator(), textMax)
	check.text("error", request.GetError(), errorMax)
	if check.err != nil {
		return nil, check.err
	}
	err := s.Cluster.ReportReconfiguration(
		request.GetId(), request.GetLease(), request.GetAccelerator(), request.GetError())
	if err != nil {
		return nil, err
	}
	return &rackloomv1.ReportReconfigurationResponse{}, nil
}
