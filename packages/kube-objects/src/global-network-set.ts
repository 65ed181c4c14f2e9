import { json, message, stringMap, strings } from './fields.ts';
import { identity, type Kind, type KubeObject } from './kind.ts';

/** Custom resources have no protobuf: the numbers in this table are never used. */
const fields = {
  metadata: message(1, {
    ...identity,
    labels: stringMap(11),
    annotations: stringMap(12),
    // Kept whole, because a PUT that leaves them out would remove them.
    ownerReferences: json,
    finalizers: json,
  }),
  // As many as Felix takes in one IP set; etcd takes fewer.
  spec: message(2, { nets: strings(1, 1_048_576) }),
} as const;

export const calicoApis = ['projectcalico.org/v3', 'crd.projectcalico.org/v1'] as const;
export type CalicoApi = (typeof calicoApis)[number];

/**
 * A GlobalNetworkSet, by Calico's aggregated API server (`projectcalico.org/v3`) or straight from the custom
 * resource that backs it (`crd.projectcalico.org/v1`).
 */
export function globalNetworkSetKind(api: CalicoApi) {
  const [group, version] = api.split('/') as [string, string];
  return {
    group,
    version,
    kind: 'GlobalNetworkSet',
    plural: 'globalnetworksets',
    protobuf: false,
    fields,
  } as const satisfies Kind;
}

export type GlobalNetworkSet = KubeObject<ReturnType<typeof globalNetworkSetKind>>;
