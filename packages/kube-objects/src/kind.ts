import type { Fields, Projected } from './fields.ts';
import { string } from './fields.ts';

/** The `metadata` in every table: enough to name an object, and to continue a watch after it. */
export const identity = { name: string(1), namespace: string(3), uid: string(5), resourceVersion: string(6) } as const;

type Metadata = { type: 'message'; number: number; fields: typeof identity & Fields };

/**
 * One kind of object: its names and its path in the API, and the fields that we read. `protobuf: false` is for custom
 * resources, which have only JSON.
 */
export type Kind<F extends Fields = Fields> = {
  /** `''` is the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly protobuf: boolean;
  readonly fields: F & { readonly metadata: Metadata };
};

export type KubeObject<K extends Kind> = Projected<K['fields']>;

export const apiVersion = ({ group, version }: Kind): string => (group === '' ? version : `${group}/${version}`);

/** `/api/v1/pods`, `/apis/discovery.k8s.io/v1/namespaces/ns/endpointslices`; with `name`, one object. */
export function resourcePath(
  kind: Kind,
  { namespace, name }: { namespace?: string | undefined; name?: string | undefined } = {},
): string {
  const root = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  const scope = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${root}${scope}/${kind.plural}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
}
