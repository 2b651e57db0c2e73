package service

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"rackloom/cloud/allocate"
	rackloomv1 "rackloom/cloud/api/rackloom/v1"
	"rackloom/cloud/internal/clock"
	"rackloom/cloud/internal/cluster"
)

func timestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

func deviceMessage(
	now *clock.Clock, device *cluster.Device, instances int, metrics allocate.Metrics,
) *rackloomv1.Device {
	policy := rackloomv1.ReconfigurationPolicy_RECONFIGURATION_POLICY_FIXED
	if device.Reconfigurable {
		policy = rackloomv1.ReconfigurationPolicy_RECONFIGURATION_POLICY_ON_REQUEST
	}
	state := rackloomv1.DeviceState_DEVICE_STATE_ONLINE
	if !device.LostSince.IsZero() {
		state = rackloomv1.DeviceState_DEVICE_STATE_LOST
	}
	return &rackloomv1.Device{
		Spec: &rackloomv1.DeviceSpec{
			Id: device.ID, Endpoints: device.Endpoints, MetricsUrl: device.MetricsURL, MetricsBoard: device.MetricsBoard,
			Vendor: device.Vendor, Platform: device.Platform, Accelerator: device.Accelerator,
			Reconfiguration: policy, Loadable: device.Loadable, Capabilities: device.Capabilities,
			InstancesMax: uint32(device.InstancesMax), MemoryBytes: device.MemoryBytes,
		},
		State: state, LostSince: timestamp(now.When(device.LostSince)), Draining: device.Draining,
		Reconfiguration: flagMessage(now, device.Flag), Instances: uint32(instances),
		Metrics: &rackloomv1.DeviceMetrics{
			Utilisation: reading(metrics.Utilisation), QueueDepth: reading(metrics.QueueDepth),
			Tenants: reading(metrics.Tenants), TaskSeconds: reading(metrics.TaskSeconds),
		},
	}
}

func reading(r allocate.Reading) *float64 {
	if !r.Known {
		return nil
	}
	return &r.Value
}

func flagMessage(now *clock.Clock, flag *cluster.Reconfiguration) *rackloomv1.Reconfiguration {
	if flag == nil {
		return nil
	}
	return &rackloomv1.Reconfiguration{
		Accelerator: flag.Accelerator, Instance: flag.Instance, FlaggedAt: timestamp(now.When(flag.FlaggedAt)),
		GrantedAt: timestamp(now.When(flag.GrantedAt)),
	}
}

func tenantsMessage(list cluster.TenantList) *rackloomv1.TenantList {
	message := &rackloomv1.TenantList{Revision: list.Revision}
	for _, tenant := range list.Tenants {
		message.Tenants = append(message.Tenants, &rackloomv1.Tenant{
			Instance: tenant.Instance.ID, Function: tenant.Function.Name, Token: tenant.Instance.Token,
			Accelerator: tenant.Function.Query.Accelerator, Exclusive: tenant.Function.Exclusive,
			Weight: tenant.Function.Weight, MemoryBytes: tenant.Function.Query.MemoryBytes, Leaving: tenant.Leaving,
			LongestKernelMs: tenant.Function.LongestKernelMs,
		})
	}
	return message
}

func movesMessage(moves []allocate.Move) []*rackloomv1.PlannedMove {
	var messages []*rackloomv1.PlannedMove
	for _, move := range moves {
		messages = append(messages, &rackloomv1.PlannedMove{Instance: move.Instance, From: move.From, To: move.To})
	}
	return messages
}

func functionMessage(function *cluster.Function, instances int) *rackloomv1.Function {
	query := &function.Query
	return &rackloomv1.Function{
		Name: function.Name,
		Query: &rackloomv1.DeviceQuery{
			Vendor: query.Vendor, Platform: query.Platform, Accelerator: query.Accelerator,
			Capabilities: query.Capabilities, MemoryBytes: query.MemoryBytes,
		},
		Exclusive: function.Exclusive, Weight: function.Weight, Instances: uint32(instances),
		LongestKernelMs: function.LongestKernelMs,
	}
}

// instanceMessage says how an instance stands; with its tokens only if told.
func instanceMessage(now *clock.Clock, view cluster.View, environment bool) *rackloomv1.Instance {
	message := &rackloomv1.Instance{
		Id: view.ID, Function: view.Function, Node: view.Node(), Device: view.Device, Generation: view.Generation,
		State: rackloomv1.InstanceState_INSTANCE_STATE_ALLOCATED, CreatedAt: timestamp(view.CreatedAt),
	}
	if !view.On.LostSince.IsZero() {
		message.State = rackloomv1.InstanceState_INSTANCE_STATE_DEVICE_LOST
	}
	if environment {
		message.Environment = view.Environment(view.On)
	}
	if view.Move != nil {
		message.State = rackloomv1.InstanceState_INSTANCE_STATE_MOVING
		message.Move = &rackloomv1.Move{
			To: view.Move.To, Node: view.NextNode(), Deadline: timestamp(now.When(view.Move.Deadline)),
		}
		if environment {
			message.Move.Environment = view.Environment(view.To)
		}
	}
	return message
}
