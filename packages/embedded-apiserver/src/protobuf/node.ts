import { objectMeta } from './meta.ts';
import { quantity } from './quantity.ts';
import { bool, embedded, integer, map, message, optional, repeated, string, time, unknownFields } from './schema.ts';

// Field numbers: k8s.io/api v0.34, core/v1/generated.proto. Only the fields that Nodes in our tests use.

const taint = message({ key: string(1), value: string(2), effect: string(3), timeAdded: optional(time(4)) });

const spec = message(
  {
    podCIDR: string(1),
    externalID: string(2),
    providerID: string(3),
    unschedulable: bool(4),
    taints: repeated(embedded(5, taint)),
    podCIDRs: repeated(string(7)),
  },
  unknownFields,
);

const condition = message({
  type: string(1),
  status: string(2),
  lastHeartbeatTime: time(3),
  lastTransitionTime: time(4),
  reason: string(5),
  message: string(6),
});

const nodeInfo = message({
  machineID: string(1),
  systemUUID: string(2),
  bootID: string(3),
  kernelVersion: string(4),
  osImage: string(5),
  containerRuntimeVersion: string(6),
  kubeletVersion: string(7),
  kubeProxyVersion: string(8),
  operatingSystem: string(9),
  architecture: string(10),
});

const status = message(
  {
    capacity: map(1, quantity),
    allocatable: map(2, quantity),
    phase: string(3),
    conditions: repeated(embedded(4, condition)),
    addresses: repeated(embedded(5, message({ type: string(1), address: string(2) }))),
    daemonEndpoints: embedded(6, message({ kubeletEndpoint: embedded(1, message({ Port: integer(1) })) })),
    nodeInfo: embedded(7, nodeInfo),
  },
  unknownFields,
);

export const node = message(
  { metadata: embedded(1, objectMeta), spec: embedded(2, spec), status: embedded(3, status) },
  unknownFields,
);
