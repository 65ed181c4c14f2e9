import { isDeepStrictEqual } from 'node:util';
import { Reflector, Store, type Stored } from '@kube-semaphore/informers';
import type { RunOptions } from '@kube-semaphore/kube-client';
import { blockAffinityKind, ipamBlockKind } from '@kube-semaphore/kube-objects';
import type { Cidr } from '@kube-semaphore/net';
import { type BorrowedAddresses, calicoClaims, type NodeBlock, readAffinity, readBlock } from './calico-blocks.ts';
import type { Claim } from '../desired/conflicts.ts';
import type { WatchOptions } from './nodes.ts';

/** Calico's books of a remote cluster: which Node has which block, and which addresses out of others' blocks. */
export class RemoteBlocks {
  readonly #affinities: Store<NodeBlock>;
  readonly #blocks: Store<BorrowedAddresses>;
  readonly #reflectors: readonly [
    Reflector<typeof blockAffinityKind, NodeBlock>,
    Reflector<typeof ipamBlockKind, BorrowedAddresses>,
  ];

  constructor({ client, idleTimeoutMs, pollIntervalMs, budget, guard, holdMs, hooks, onChange }: WatchOptions) {
    // They are served by kube-apiserver itself, which can do WatchList.
    const common = () =>
      ({ client, budget, watchList: 'auto', idleTimeoutMs, pollIntervalMs, holdMs, hooks: hooks() }) as const;
    const equal = (a: Stored, b: Stored): boolean => isDeepStrictEqual(a, b);
    this.#affinities = new Store<NodeBlock>({
      equal,
      onChange,
      holding: { guard, hold: (block) => block, claims: ({ cidr }) => [cidr.text], withoutClaim: () => undefined },
    });
    this.#blocks = new Store<BorrowedAddresses>({
      equal,
      onChange,
      holding: {
        guard,
        hold: (block) => block,
        claims: ({ borrowed }) => borrowed.map(({ cidr }) => cidr.text),
        withoutClaim,
      },
    });
    this.#reflectors = [
      new Reflector({ ...common(), kind: blockAffinityKind, project: readAffinity, store: this.#affinities }),
      new Reflector({
        ...common(),
        kind: ipamBlockKind,
        project: (block) => withSomething(readBlock(block)),
        store: this.#blocks,
      }),
    ];
  }

  get synced(): boolean {
    return this.#affinities.view.synced && this.#blocks.view.synced;
  }

  /** How many blocks a list lacked that isn't believed yet. */
  get held(): number {
    return this.#affinities.held + this.#blocks.held;
  }

  /** Milliseconds since the watch that is silent for longer last stirred. */
  get silentMs(): number {
    return Math.max(...this.#reflectors.map(({ silentMs }) => silentMs));
  }

  /** As `calicoClaims`; undefined before the first lists. */
  claims(podSubnets: readonly Cidr[]): ReadonlyMap<string, readonly Claim[]> | undefined {
    const [affinities, blocks] = [this.#affinities.view, this.#blocks.view];
    if (!affinities.synced || !blocks.synced) return undefined;
    return calicoClaims(affinities.objects.values(), blocks.objects.values(), podSubnets);
  }

  /** Watches until `signal` is aborted; once. */
  async run({ signal }: RunOptions): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector.run({ signal })));
  }
}

const withSomething = (block: BorrowedAddresses): BorrowedAddresses | undefined =>
  block.borrowed.length === 0 ? undefined : block;

function withoutClaim(block: BorrowedAddresses, claim: string): BorrowedAddresses | undefined {
  return withSomething({ ...block, borrowed: block.borrowed.filter(({ cidr }) => cidr.text !== claim) });
}
