import { nodeKind } from '@kube-semaphore/kube-objects';
import type { Diagnostic, Watched } from '@kube-semaphore/multicluster';
import { problemOf } from '../desired/diagnostic.ts';
import { type NodeReading, type NodeRules, readNode } from './node.ts';
import { claimsOf } from './seed.ts';
import { watch, type WatchOptions } from './watch.ts';

/** A Node in the store: the candidate for a peer, and what of it is skipped. */
type StoredNode = NodeReading & { readonly uid: string };

export type RemoteNodes = Watched<typeof nodeKind, StoredNode>;

export type NodesOptions = {
  /** The rules of now; `relist` when they change. */
  readonly rules: () => NodeRules;
  /** What of a Node is skipped from now on. */
  readonly onSkipped: (node: string, skipped: readonly Diagnostic[]) => void;
};

/** The Nodes of a remote cluster, as candidates for peers. */
export const watchNodes = (watching: WatchOptions, { rules, onSkipped }: NodesOptions): RemoteNodes =>
  watch<typeof nodeKind, StoredNode>(watching, {
    kind: nodeKind,
    project: (node) => ({ uid: node.metadata.uid, ...readNode(node, rules()) }),
    projectTooLarge: ({ metadata, tooLarge }) => ({
      uid: metadata.uid,
      node: undefined,
      skipped: problemOf('too-large', [tooLarge]),
    }),
    onChange: ({ key, previous, current }) => {
      onSkipped(key, current?.skipped ?? []);
      if (previous?.node !== undefined || current?.node !== undefined) watching.onChange(key);
    },
    hold: (stored) => (stored.node === undefined ? stored : { ...stored, node: { ...stored.node, held: true } }),
    claims: ({ node }) => (node === undefined ? [] : claimsOf(node)),
    withoutClaim,
  });

/** A held Node when another Node has its key, or one of its blocks; undefined if no block is left. */
function withoutClaim(stored: StoredNode, claim: string): StoredNode | undefined {
  if (stored.node === undefined || claim === stored.node.publicKey) return undefined;
  const podCidrs = stored.node.podCidrs.filter(({ text }) => text !== claim);
  return podCidrs.length === 0 ? undefined : { ...stored, node: { ...stored.node, podCidrs } };
}
