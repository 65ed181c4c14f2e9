import { message, string } from './schema.ts';

/** Field numbers: k8s.io/api v0.34, core/v1/generated.proto. */
export const objectReference = message({
  kind: string(1),
  namespace: string(2),
  name: string(3),
  uid: string(4),
  apiVersion: string(5),
  resourceVersion: string(6),
  fieldPath: string(7),
});
