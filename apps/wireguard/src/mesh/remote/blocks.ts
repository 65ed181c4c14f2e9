import type { Change } from '@kube-semaphore/informers';
import { blockAffinityKind, ipamBlockKind } from '@kube-semaphore/kube-objects';
import type { Cidr } from '@kube-semaphore/net';
import {
  type BorrowedAddresses,
  CalicoClaims,
  claimsOf,
  type NodeBlock,
  readAffinity,
  readBlock,
} from './calico-blocks.ts';
import { type Watch, watch, type WatchOptions } from './watch.ts';

/** Calico's IPAM of a remote cluster: which Node has which block, and which addresses it borrows from blocks of others. */
export class RemoteBlocks {
  readonly claims: Pick<CalicoClaims, 'get'>;
  readonly watches: readonly Watch[];

  constructor(watching: WatchOptions, podSubnets: readonly Cidr[]) {
    const all = new CalicoClaims(podSubnets);
    const onChange =
      (kind: string) =>
      ({ key, previous, current }: Change<NodeBlock | BorrowedAddresses>): void => {
        const [before, now] = [previous, current].map((object) => (object === undefined ? [] : claimsOf(object)));
        all.replace(`${kind} ${key}`, { before: before!, now: now! });
        for (const node of new Set([...before!, ...now!].map((claim) => claim.node))) watching.onChange(node);
      };
    const affinities = watch<typeof blockAffinityKind, NodeBlock>(watching, {
      kind: blockAffinityKind,
      project: readAffinity,
      hold: (block) => block,
      claims: ({ cidr }) => [cidr.text],
      withoutClaim: () => undefined,
      onChange: onChange('affinity'),
    });
    const blocks = watch<typeof ipamBlockKind, BorrowedAddresses>(watching, {
      kind: ipamBlockKind,
      project: (block) => unlessEmpty(readBlock(block)),
      hold: (block) => block,
      claims: ({ borrowed }) => borrowed.map(({ cidr }) => cidr.text),
      withoutClaim: (block, claim) =>
        unlessEmpty({ ...block, borrowed: block.borrowed.filter(({ cidr }) => cidr.text !== claim) }),
      onChange: onChange('block'),
    });
    this.claims = all;
    this.watches = [affinities, blocks];
  }
}

const unlessEmpty = (block: BorrowedAddresses): BorrowedAddresses | undefined =>
  block.borrowed.length === 0 ? undefined : block;
