import { json, message, stringMap, strings } from '../fields.ts';
import { identity, type Kind, type KubeObject } from '../kind.ts';

/** Custom resources have no protobuf, so the numbers in this table aren't used. */
const fields = {
  metadata: message(1, {
    ...identity,
    labels: stringMap(11),
    annotations: stringMap(12),
    // Complete, because a PUT without them would remove them.
    ownerReferences: json,
    finalizers: json,
  }),
  // The limit of an IP set in Felix; etcd accepts fewer.
  spec: message(2, { nets: strings(1, 1_048_576) }),
} as const;

const calicoApis = ['projectcalico.org/v3', 'crd.projectcalico.org/v1'] as const;
export type CalicoApi = (typeof calicoApis)[number];

/**
 * A GlobalNetworkSet, from Calico's aggregated API server (`projectcalico.org/v3`) or from the custom resource that backs
 * it (`crd.projectcalico.org/v1`).
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
