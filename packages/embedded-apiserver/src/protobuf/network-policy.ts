import { objectMeta } from './meta.ts';
import { embedded, integer, intOrString, map, message, optional, repeated, string, unknownFields } from './schema.ts';

// Field numbers: k8s.io/api v0.34, networking/v1/generated.proto, and apimachinery's meta/v1/generated.proto.

const labelSelector = message({
  matchLabels: map(1, string),
  matchExpressions: repeated(
    embedded(2, message({ key: string(1), operator: string(2), values: repeated(string(3)) })),
  ),
});

const peer = message({
  podSelector: optional(embedded(1, labelSelector)),
  namespaceSelector: optional(embedded(2, labelSelector)),
  ipBlock: optional(embedded(3, message({ cidr: string(1), except: repeated(string(2)) }))),
});

const ports = repeated(
  embedded(
    1,
    message({
      protocol: optional(string(1)),
      port: optional(intOrString(2)),
      endPort: optional(integer(3)),
    }),
  ),
);

export const networkPolicy = message({
  metadata: embedded(1, objectMeta),
  spec: embedded(
    2,
    message(
      {
        podSelector: embedded(1, labelSelector),
        ingress: repeated(embedded(2, message({ ports, from: repeated(embedded(2, peer)) }))),
        egress: repeated(embedded(3, message({ ports, to: repeated(embedded(2, peer)) }))),
        policyTypes: repeated(string(4)),
      },
      unknownFields,
    ),
  ),
});
