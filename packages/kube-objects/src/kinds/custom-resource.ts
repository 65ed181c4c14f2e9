import { deepJson, message } from '../fields.ts';
import type { Kind, KubeObject } from '../kind.ts';
import { ownedMetadata } from './metadata.ts';

/** Custom resources have no protobuf, so the numbers in this table aren't used. */
const fields = { metadata: message(1, ownedMetadata), spec: deepJson, specs: deepJson } as const;

/** A custom resource that is read and written as a whole. */
export function customResourceKind({ apiVersion, kind, plural }: Record<'apiVersion' | 'kind' | 'plural', string>) {
  const [group, version] = apiVersion.split('/') as [string, string];
  return { group, version, kind, plural, protobuf: false, fields } as const satisfies Kind;
}

/** `specs` is a second list of rules in a CiliumNetworkPolicy; undefined anywhere else. */
export type CustomResource = KubeObject<ReturnType<typeof customResourceKind>>;
