// Blocks of Calico's IPAM, by docs/wireguard.md#with-calico.
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import type { Dice } from '@kube-semaphore/fault-proxy';
import type { Change, Remote } from '../subject.ts';

const API = '/apis/crd.projectcalico.org/v1';
export const [AFFINITIES, BLOCKS] = [`${API}/blockaffinities`, `${API}/ipamblocks`] as const;
const apiVersion = 'crd.projectcalico.org/v1';

/** Of c3: some of its Pod subnets, and one that it doesn't share. */
const CIDRS = [
  ...Array.from({ length: 6 }, (_, nth) => `10.5.${64 + nth}.0/26`),
  'fd00:5:0:64::/122',
  'fd00:5:0:65::/122',
  '10.9.1.0/26',
];

const nameOf = (cidr: string): string => cidr.replaceAll(/[.:/]+/g, '-');

const affinityOf = (
  cluster: Remote,
  spec: { readonly cidr: string; readonly node: string; readonly state: string; readonly deleted: string },
): Change => {
  const name = `${spec.node}-${nameOf(spec.cidr)}`;
  return {
    cluster,
    collection: AFFINITIES,
    name,
    object: { apiVersion, kind: 'BlockAffinity', metadata: { name }, spec },
  };
};

/** A block of a Node that stays. */
export const stayingBlock = (cluster: Remote, node: string, cidr: string): Change =>
  affinityOf(cluster, { cidr, node, state: 'confirmed', deleted: 'false' });

/** Nodes get blocks, lose them, and borrow addresses of others. */
export function changedBlock(dice: Dice, cluster: Remote, nodes: readonly string[]): Change {
  const [cidr, node] = [dice.pick(CIDRS), dice.pick(nodes)];
  const orGone = (change: Change): Change => (dice.integer(1, 4) === 1 ? { ...change, object: null } : change);
  if (dice.integer(1, 3) > 1) {
    const state = dice.pick(['confirmed', 'confirmed', 'confirmed', 'pending', 'pendingDeletion']);
    return orGone(affinityOf(cluster, { cidr, node, state, deleted: dice.pick(['false', 'false', 'false', 'true']) }));
  }
  const users = Array.from({ length: dice.integer(0, 3) }, () => dice.pick(nodes));
  const allocations = Array.from({ length: 64 }, (_, ordinal) => (ordinal < users.length ? ordinal : null));
  const attributes = users.map((user) => ({ secondary: { node: user } }));
  const name = nameOf(cidr);
  const spec = { cidr, affinity: `host:${node}`, allocations, attributes, deleted: false };
  return orGone({
    cluster,
    collection: BLOCKS,
    name,
    object: { apiVersion, kind: 'IPAMBlock', metadata: { name }, spec },
  });
}

/** A CIDR of a Node; `borrowed`: one address of another Node's block, which stays that Node's otherwise. */
export type Claim = { readonly cidr: string; readonly borrowed: boolean };

type Affinity = { readonly cidr: string; readonly node: string; readonly state: string; readonly deleted: string };
type Block = {
  readonly cidr: string;
  readonly affinity: string;
  readonly allocations: readonly (number | null)[];
  readonly attributes: readonly { readonly secondary: { readonly node: string } }[];
};

/** What each Node has by these objects. */
export function claimsBy(
  affinities: readonly KubeObject[],
  blocks: readonly KubeObject[],
): (node: string) => readonly Claim[] {
  const own = affinities
    .map(({ spec }) => spec as Affinity)
    .filter(({ state, deleted }) => state === 'confirmed' && deleted === 'false');
  const used = blocks
    .map(({ spec }) => spec as Block)
    .flatMap(({ cidr, affinity, allocations, attributes }) =>
      allocations.flatMap((index, ordinal) => {
        const node = index === null ? undefined : attributes[index]!.secondary.node;
        return node === undefined || affinity === `host:${node}`
          ? []
          : [{ node, block: cidr, cidr: addressIn(cidr, ordinal) }];
      }),
    );
  return (node) => {
    const whole = own.filter((each) => each.node === node).map(({ cidr }) => cidr);
    const borrowed = used.filter((each) => each.node === node && !whole.includes(each.block)).map(({ cidr }) => cidr);
    return [...whole.map((cidr) => ({ cidr, borrowed: false })), ...borrowed.map((cidr) => ({ cidr, borrowed: true }))];
  };
}

/** One of the first addresses of a block, as a range. */
function addressIn(cidr: string, ordinal: number): string {
  const [network = ''] = cidr.split('/');
  if (network.includes(':')) return `${network}${ordinal === 0 ? '' : ordinal}/128`;
  return `${network.replace(/\d+$/, String(ordinal))}/32`;
}
