import { deviceDiagnostics } from '../desired/device.ts';
import type { OwnNode } from '../desired/own-node.ts';
import { changesOf, type RemotePlan } from '../plan.ts';
import type { Decision } from '../reconciler.ts';
import type { Remote } from './cluster.ts';

/** What a decision about a remote's device comes to. */
export function remotePlan(
  { settings, held, skipped, failure }: Pick<Remote, 'settings' | 'held' | 'skipped' | 'failure'>,
  node: OwnNode,
  decision: Decision,
): RemotePlan {
  const { look, desired, diff, left } = decision;
  const reached = desired.peers !== undefined;
  return {
    remote: settings.name,
    reached,
    failure: reached ? undefined : failure,
    changes: changesOf(decision),
    unknown: reached ? [] : (look.device?.peers.map(({ publicKey }) => publicKey).toSorted() ?? []),
    heldDeletions: reached ? held : 0,
    hindrances: deviceDiagnostics(settings, { node, links: look.links, blocked: diff.routes.blocked }).map(
      ({ detail }) => detail,
    ),
    skipped: [...skipped, ...left],
  };
}
