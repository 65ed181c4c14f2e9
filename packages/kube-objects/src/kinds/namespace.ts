import { message, stringMap } from '../fields.ts';
import { identity, type Kind, type KubeObject } from '../kind.ts';

/** Numbers from k8s.io/api/core/v1/generated.proto. */
export const namespaceKind = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  protobuf: true,
  fields: { metadata: message(1, { ...identity, labels: stringMap(11) }) },
} as const satisfies Kind;

export type Namespace = KubeObject<typeof namespaceKind>;
