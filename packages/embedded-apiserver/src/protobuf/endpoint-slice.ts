import { objectMeta } from './meta.ts';
import { objectReference } from './object-reference.ts';
import { bool, embedded, integer, map, message, optional, repeated, string, unknownFields } from './schema.ts';

// Field numbers: k8s.io/api v0.34, discovery/v1/generated.proto.

const conditions = message({ ready: optional(bool(1)), serving: optional(bool(2)), terminating: optional(bool(3)) });

const hint = message({ name: string(1) });

const endpoint = message(
  {
    addresses: repeated(string(1)),
    conditions: embedded(2, conditions),
    hostname: optional(string(3)),
    targetRef: optional(embedded(4, objectReference)),
    deprecatedTopology: map(5, string),
    nodeName: optional(string(6)),
    zone: optional(string(7)),
    hints: optional(
      embedded(8, message({ forZones: repeated(embedded(1, hint)), forNodes: repeated(embedded(2, hint)) })),
    ),
  },
  unknownFields,
);

const port = message({
  name: optional(string(1)),
  protocol: optional(string(2)),
  port: optional(integer(3)),
  appProtocol: optional(string(4)),
});

export const endpointSlice = message(
  {
    metadata: embedded(1, objectMeta),
    endpoints: repeated(embedded(2, endpoint)),
    ports: repeated(embedded(3, port)),
    addressType: string(4),
  },
  unknownFields,
);
