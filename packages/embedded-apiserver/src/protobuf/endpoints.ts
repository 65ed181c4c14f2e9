import { objectMeta } from './meta.ts';
import { objectReference } from './object-reference.ts';
import { embedded, integer, message, optional, repeated, string, unknownFields } from './schema.ts';

// Field numbers: k8s.io/api v0.34, core/v1/generated.proto.

const address = message({
  ip: string(1),
  targetRef: optional(embedded(2, objectReference)),
  hostname: string(3),
  nodeName: optional(string(4)),
});

const port = message({ name: string(1), port: integer(2), protocol: string(3), appProtocol: optional(string(4)) });

const subset = message(
  {
    addresses: repeated(embedded(1, address)),
    notReadyAddresses: repeated(embedded(2, address)),
    ports: repeated(embedded(3, port)),
  },
  unknownFields,
);

export const endpoints = message(
  { metadata: embedded(1, objectMeta), subsets: repeated(embedded(2, subset)) },
  unknownFields,
);
