import { message, messages, string, stringMap } from '../fields.ts';
import { identity, type Kind, type KubeObject } from '../kind.ts';

/** Who has a role in the whole cluster. We only list them as JSON, so the field numbers of this table aren't used. */
export const clusterRoleBindingKind = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  protobuf: false,
  fields: {
    metadata: message(1, { ...identity, labels: stringMap(11) }),
    subjects: messages(2, { kind: string(1), name: string(3), namespace: string(4) }),
    roleRef: message(3, { kind: string(2), name: string(3) }),
  },
} as const satisfies Kind;

export type ClusterRoleBinding = KubeObject<typeof clusterRoleBindingKind>;
