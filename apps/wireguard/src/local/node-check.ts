import { remoteOfAlias } from '../names.ts';
import { KeyFileError } from './key-file.ts';
import type { KnownNode } from './node.ts';
import { type NodeDevices, orphanDevices, takenPorts } from './ownership.ts';
import { clashesWith } from '../desired/own-node.ts';
import type { Reconciler } from '../reconciler.ts';
import type { RemoteSettings } from '../config/settings.ts';

/** What keeps a sound config from working on this node, all of it: a sentence for each problem. */
export async function nodeProblems(
  remotes: readonly RemoteSettings[],
  {
    node,
    around,
    examine,
    signal,
  }: { node: KnownNode; around: NodeDevices; examine: Reconciler['examine']; signal: AbortSignal },
): Promise<readonly string[]> {
  const strays = new Set(orphanDevices(around, remotes).ours);
  const found = await Promise.all(
    remotes.map(async (settings) => {
      try {
        const { ownership } = await examine(settings, node, { signal });
        // One that leads to another remote goes before this one needs the name.
        return ownership.kind === 'foreign' && !strays.has(settings.device) ? [ownership.reason] : [];
      } catch (error) {
        if (error instanceof KeyFileError) return [error.message];
        throw error;
      }
    }),
  );
  return [
    ...remotes.flatMap((remote) => clashesWith(node, remote)),
    ...found.flat(),
    ...takenPorts(withoutOurStrays(around, remotes), remotes),
  ];
}

/** A device of ours that no remote has any more, with the remote that it led to. */
export type Orphan = { readonly device: string; readonly remote: string };

/** The devices of ours that go before anything else: they may have what others need. */
export function ourOrphans(around: NodeDevices, remotes: readonly RemoteSettings[]): readonly Orphan[] {
  const aliases = new Map(around.links.map(({ name, alias }) => [name, alias]));
  return orphanDevices(around, remotes).ours.map((device) => ({
    device,
    remote: remoteOfAlias(aliases.get(device) ?? '') ?? '',
  }));
}

function withoutOurStrays({ links, devices }: NodeDevices, remotes: readonly RemoteSettings[]): NodeDevices {
  const strays = new Set(orphanDevices({ links, devices }, remotes).ours);
  return { links, devices: devices.filter(({ name }) => !strays.has(name)) };
}
