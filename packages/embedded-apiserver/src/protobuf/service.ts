import { objectMeta } from './meta.ts';
import {
  bool,
  embedded,
  integer,
  intOrString,
  map,
  message,
  optional,
  repeated,
  string,
  unknownFields,
} from './schema.ts';

// Field numbers: k8s.io/api v0.34, core/v1/generated.proto. Without the fields that only load balancers write.

const port = message(
  {
    name: string(1),
    protocol: string(2),
    port: integer(3),
    targetPort: intOrString(4),
    nodePort: integer(5),
    appProtocol: optional(string(6)),
  },
  unknownFields,
);

const clientIP = message({ timeoutSeconds: optional(integer(1)) });

const spec = message(
  {
    ports: repeated(embedded(1, port)),
    selector: map(2, string),
    clusterIP: string(3),
    type: string(4),
    externalIPs: repeated(string(5)),
    sessionAffinity: string(7),
    loadBalancerIP: string(8),
    loadBalancerSourceRanges: repeated(string(9)),
    externalName: string(10),
    externalTrafficPolicy: string(11),
    healthCheckNodePort: integer(12),
    publishNotReadyAddresses: bool(13),
    sessionAffinityConfig: optional(embedded(14, message({ clientIP: optional(embedded(1, clientIP)) }))),
    ipFamilyPolicy: optional(string(17)),
    clusterIPs: repeated(string(18)),
    ipFamilies: repeated(string(19)),
    allocateLoadBalancerNodePorts: optional(bool(20)),
    loadBalancerClass: optional(string(21)),
    internalTrafficPolicy: optional(string(22)),
    trafficDistribution: optional(string(23)),
  },
  unknownFields,
);

const loadBalancer = message({ ingress: repeated(embedded(1, message({ ip: string(1), hostname: string(2) }))) });

export const service = message(
  {
    metadata: embedded(1, objectMeta),
    spec: embedded(2, spec),
    status: embedded(3, message({ loadBalancer: embedded(1, loadBalancer) })),
  },
  unknownFields,
);
