import { message, stringMap } from '../fields.ts';
import { identity, type Kind, type KubeObject } from '../kind.ts';

/** A ConfigMap, with the texts of `data` only. We read single ones, as JSON; numbers from k8s.io/api/core/v1/generated.proto. */
export const configMapKind = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  protobuf: false,
  fields: { metadata: message(1, identity), data: stringMap(2) },
} as const satisfies Kind;

export type ConfigMap = KubeObject<typeof configMapKind>;
