import { objectMeta } from './meta.ts';
import { embedded, message, repeated, string, unknownFields } from './schema.ts';

// Field numbers: k8s.io/api v0.34, core/v1/generated.proto.

export const namespace = message({
  metadata: embedded(1, objectMeta),
  spec: embedded(2, message({ finalizers: repeated(string(1)) }, unknownFields)),
  status: embedded(3, message({ phase: string(1) })),
});
