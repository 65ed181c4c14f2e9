import { blockAffinityKind, ipamBlockKind } from '@kube-semaphore/kube-objects';
import type { Cidr } from '@kube-semaphore/net';
import type { Claim } from '../desired/conflicts.ts';
import { type BorrowedAddresses, calicoClaims, type NodeBlock, readAffinity, readBlock } from './calico-blocks.ts';
import { type Watch, WatchedStore, type WatchOptions } from './watched-store.ts';

/** Calico's IPAM of a remote cluster: which Node has which block, and which addresses it borrows from blocks of others. */
export class RemoteBlocks {
  readonly #affinities: WatchedStore<typeof blockAffinityKind, NodeBlock>;
  readonly #blocks: WatchedStore<typeof ipamBlockKind, BorrowedAddresses>;

  constructor(watching: WatchOptions) {
    this.#affinities = new WatchedStore(watching, {
      kind: blockAffinityKind,
      project: readAffinity,
      hold: (block) => block,
      claims: ({ cidr }) => [cidr.text],
      withoutClaim: () => undefined,
    });
    this.#blocks = new WatchedStore(watching, {
      kind: ipamBlockKind,
      project: (block) => unlessEmpty(readBlock(block)),
      hold: (block) => block,
      claims: ({ borrowed }) => borrowed.map(({ cidr }) => cidr.text),
      withoutClaim: (block, claim) =>
        unlessEmpty({ ...block, borrowed: block.borrowed.filter(({ cidr }) => cidr.text !== claim) }),
    });
  }

  get watches(): readonly Watch[] {
    return [this.#affinities, this.#blocks];
  }

  /** As `calicoClaims`; undefined before the first lists. */
  claims(podSubnets: readonly Cidr[]): ReadonlyMap<string, readonly Claim[]> | undefined {
    const [affinities, blocks] = [this.#affinities.objects, this.#blocks.objects];
    if (affinities === undefined || blocks === undefined) return undefined;
    return calicoClaims(affinities.values(), blocks.values(), podSubnets);
  }
}

const unlessEmpty = (block: BorrowedAddresses): BorrowedAddresses | undefined =>
  block.borrowed.length === 0 ? undefined : block;
