import { json, message, messages, string, stringMap } from '../fields.ts';
import { identity, type Kind, type KubeObject } from '../kind.ts';

// Custom resources have no protobuf, so the numbers in these tables aren't used.
const calico = { group: 'crd.projectcalico.org', version: 'v1', protobuf: false } as const;

/** Which node a block of Calico's IPAM belongs to. */
export const blockAffinityKind = {
  ...calico,
  kind: 'BlockAffinity',
  plural: 'blockaffinities',
  fields: {
    metadata: message(1, identity),
    spec: message(2, {
      cidr: string(1),
      node: string(2),
      /** `confirmed`, `pending` or `pendingDeletion`. */
      state: string(3),
      /** `host` or `virtual`; older versions omit it, which means `host`. */
      type: string(4),
      /** The text `"true"` or `"false"`, as in old releases; a boolean in v3. */
      deleted: json,
    }),
  },
} as const satisfies Kind;

export type BlockAffinity = KubeObject<typeof blockAffinityKind>;

/** A block of Calico's IPAM with its allocations. */
export const ipamBlockKind = {
  ...calico,
  kind: 'IPAMBlock',
  plural: 'ipamblocks',
  fields: {
    metadata: message(1, identity),
    spec: message(2, {
      cidr: string(1),
      /** `host:<node>` or `virtual:<name>`; missing after the node released the block. */
      affinity: string(2),
      deleted: json,
      /** For each address: null, or the index of its attributes. */
      allocations: json,
      /** `secondary` names the user: `node`, and `pod` and `namespace`, or `type`. */
      attributes: messages(5, { secondary: stringMap(2) }, 65_536),
    }),
  },
} as const satisfies Kind;

export type IpamBlock = KubeObject<typeof ipamBlockKind>;
