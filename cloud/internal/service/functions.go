package service

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	rackloomv1 "rackloom/cloud/api/rackloom/v1"
	"rackloom/cloud/internal/cluster"
	"rackloom/cloud/internal/identity"
)

// Functions is the service for orchestrators.
type Functions struct {
	rackloomv1.UnimplementedFunctionsServiceServer
	Cluster *cluster.Cluster
}

// RegisterFunction is the API's.
func (s *Functions) RegisterFunction(
	_ context.Context, request *rackloomv1.RegisterFunctionRequest,
) (*rackloomv1.Function, error) {
	function, err := functionOf(request.GetFunction())
	if err != nil {
		return nil, err
	}
	instances, err := s.Cluster.RegisterFunction(function)
	if err != nil {
		return nil, err
	}
	return functionMessage(function, instances), nil
}

// DeleteFunction is the API's.
func (s *Functions) DeleteFunction(
	_ context.Context, request *rackloomv1.DeleteFunctionRequest,
) (*rackloomv1.DeleteFunctionResponse, error) {
	check := checks{what: "delete function"}
	if check.name("function", request.GetName()); check.err != nil {
		return nil, check.err
	}
	if err := s.Cluster.DeleteFunction(request.GetName()); err != nil {
		return nil, err
	}
	return &rackloomv1.DeleteFunctionResponse{}, nil
}

// ListFunctions is the API's.
func (s *Functions) ListFunctions(
	_ context.Context, request *rackloomv1.ListFunctionsRequest,
) (*rackloomv1.ListFunctionsResponse, error) {
	check := checks{what: "list functions"}
	size := check.page(request.GetPageSize(), request.GetPageToken())
	if check.err != nil {
		return nil, check.err
	}
	functions, instances, more := s.Cluster.Functions(request.GetPageToken(), size)
	response := &rackloomv1.ListFunctionsResponse{}
	for i, function := range functions {
		response.Functions = append(response.Functions, functionMessage(function, instances[i]))
	}
	if more {
		response.NextPageToken = functions[len(functions)-1].Name
	}
	return response, nil
}

// CreateInstance is the API's.
func (s *Functions) CreateInstance(
	_ context.Context, request *rackloomv1.CreateInstanceRequest,
) (*rackloomv1.Instance, error) {
	check := checks{what: "create instance"}
	check.name("instance", request.GetId())
	check.name("function", request.GetFunction())
	check.node(request.GetNode())
	if check.err != nil {
		return nil, check.err
	}
	view, err := s.Cluster.CreateInstance(request.GetId(), request.GetFunction(), request.GetNode())
	if err != nil {
		return nil, err
	}
	return instanceMessage(s.Cluster.Clock(), view, true), nil
}

// DeleteInstance is the API's.
func (s *Functions) DeleteInstance(
	_ context.Context, request *rackloomv1.DeleteInstanceRequest,
) (*rackloomv1.DeleteInstanceResponse, error) {
	check := checks{what: "delete instance"}
	if check.name("instance", request.GetId()); check.err != nil {
		return nil, check.err
	}
	if err := s.Cluster.DeleteInstance(request.GetId()); err != nil {
		return nil, err
	}
	return &rackloomv1.DeleteInstanceResponse{}, nil
}

// GetInstance is the API's.
func (s *Functions) GetInstance(
	ctx context.Context, request *rackloomv1.GetInstanceRequest,
) (*rackloomv1.Instance, error) {
	check := checks{what: "get instance"}
	if check.name("instance", request.GetId()); check.err != nil {
		return nil, check.err
	}
	view, err := s.Cluster.GetInstance(request.GetId())
	if err != nil {
		return nil, err
	}
	return instanceMessage(s.Cluster.Clock(), view, callerOf(ctx).Role.May(identity.Orchestrator)), nil
}

// ListInstances is the API's.
func (s *Functions) ListInstances(
	ctx context.Context, request *rackloomv1.ListInstancesRequest,
) (*rackloomv1.ListInstancesResponse, error) {
	check := checks{what: "list instances"}
	size := check.page(request.GetPageSize(), request.GetPageToken())
	if request.GetFunction() != "" {
		check.name("function", request.GetFunction())
	}
	if request.GetDevice() != "" {
		check.device(request.GetDevice())
	}
	if check.err != nil {
		return nil, check.err
	}
	if request.GetEnvironment() && !callerOf(ctx).Role.May(identity.Orchestrator) {
		return nil, &cluster.Error{
			Code: codes.PermissionDenied, What: "list instances", Why: "environments hold tokens",
			Help: "leave out environment, or use an orchestrator's token",
		}
	}
	views, more := s.Cluster.Instances(request.GetPageToken(), size, request.GetFunction(), request.GetDevice())
	response := &rackloomv1.ListInstancesResponse{}
	for _, view := range views {
		response.Instances = append(response.Instances, instanceMessage(s.Cluster.Clock(), view, request.GetEnvironment()))
	}
	if more {
		response.NextPageToken = views[len(views)-1].ID
	}
	return response, nil
}

// WatchInstances is the API's.
func (s *Functions) WatchInstances(
	request *rackloomv1.WatchInstancesRequest, stream grpc.ServerStreamingServer[rackloomv1.InstanceEvent],
) error {
	check := checks{what: "watch instances"}
	if request.GetFunction() != "" {
		check.name("function", request.GetFunction())
	}
	if check.err != nil {
		return check.err
	}
	watch, err := s.Cluster.WatchInstances()
	if err != nil {
		return err
	}
	defer watch.Close()
	environment := callerOf(stream.Context()).Role.May(identity.Orchestrator)
	// Of the deleted, only those that were sent concern who watches one function.
	sent := map[string]struct{}{}
	send := func(view cluster.View) error {
		sent[view.ID] = struct{}{}
		message := instanceMessage(s.Cluster.Clock(), view, environment)
		return stream.Send(&rackloomv1.InstanceEvent{Event: &rackloomv1.InstanceEvent_Changed{Changed: message}})
	}
	for after, more := "", true; more; {
		var views []cluster.View
		views, more = s.Cluster.Instances(after, pageMax, request.GetFunction(), "")
		for _, view := range views {
			if err := send(view); err != nil {
				return err
			}
			after = view.ID
		}
	}
	synced := &rackloomv1.InstanceEvent{Event: &rackloomv1.InstanceEvent_Synced{Synced: true}}
	if err := stream.Send(synced); err != nil {
		return err
	}
	return follow(stream.Context(), watch, func(id string) error {
		view, err := s.Cluster.GetInstance(id)
		if err == nil && (request.GetFunction() == "" || view.Function == request.GetFunction()) {
			return send(view)
		}
		if _, known := sent[id]; !known {
			return nil
		}
		delete(sent, id)
		return stream.Send(&rackloomv1.InstanceEvent{Event: &rackloomv1.InstanceEvent_Deleted{Deleted: id}})
	})
}

// ConfirmMove is the API's.
func (s *Functions) ConfirmMove(
	_ context.Context, request *rackloomv1.ConfirmMoveRequest,
) (*rackloomv1.Instance, error) {
	check := checks{what: "confirm move"}
	check.name("instance", request.GetId())
	check.device(request.GetDevice())
	if check.err != nil {
		return nil, check.err
	}
	view, err := s.Cluster.ConfirmMove(request.GetId(), request.GetDevice())
	if err != nil {
		return nil, err
	}
	return instanceMessage(s.Cluster.Clock(), view, true), nil
}
