import type { RunOptions } from '@kube-semaphore/kube-client';
import { ConfigError } from '@kube-semaphore/runtime';
import type { WireGuardOptions } from '../config/options.ts';
import type { RemoteSettings } from '../config/settings.ts';
import { devicesOf, portsOf } from '../mesh/desired/settings.ts';
import { clashesWith } from './desired/own-node.ts';
import type { DeviceTools } from '../mesh/local/device.ts';
import { KeyFileError } from '../mesh/local/key-file.ts';
import type { KnownNode, LocalNode } from './local-node.ts';
import { deviceOf, type ObservedNode, observeNode } from '../mesh/local/observe.ts';
import { orphansOf } from '../orphans/orphans.ts';
import { examineDevice } from '../mesh/local/ownership.ts';

export type NodeInput = {
  readonly options: Pick<WireGuardOptions, 'wgKeyPath'>;
  readonly devices: Pick<DeviceTools, 'tools' | 'userspace'>;
};

/**
 * Checks that a config can work on this node. Changes nothing.
 *
 * @returns what is on the node
 * @throws {ConfigError} with all problems, or if the node can't be observed
 */
export async function checkNode(
  input: NodeInput,
  remotes: readonly RemoteSettings[],
  { local, signal }: RunOptions & { readonly local: Pick<LocalNode, 'required'> },
): Promise<ObservedNode> {
  const observed = await observeNode(input.devices.tools, { signal }).catch((error: Error) => {
    signal.throwIfAborted();
    throw new ConfigError(`the devices of this node can't be read: ${error.message}`, { exitCode: 1 });
  });
  const problems = await nodeProblems({ ...input, remotes }, local.required(), observed);
  if (problems.length > 0) throw new ConfigError(problems);
  return observed;
}

/** Why a valid config can't work on this node: a sentence for each problem. */
export async function nodeProblems(
  { options, remotes, devices: { userspace } }: NodeInput & { readonly remotes: readonly RemoteSettings[] },
  node: KnownNode,
  observed: ObservedNode,
): Promise<readonly string[]> {
  // Our orphans are removed before a remote needs their names and ports.
  const orphans = new Set(orphansOf(observed, remotes).ours.map(({ device }) => device));
  const found = await Promise.all(
    remotes.map(async (remote) => {
      try {
        const { ownership } = await examineDevice(remote, {
          observation: deviceOf(observed, remote.device),
          annotations: node.annotations,
          keyFolder: options.wgKeyPath,
          userspace,
        });
        return ownership.kind === 'foreign' && !orphans.has(remote.device) ? [ownership.reason] : [];
      } catch (error) {
        if (error instanceof KeyFileError) return [error.message];
        throw error;
      }
    }),
  );
  const devices = observed.devices.filter(({ name }) => !orphans.has(name));
  return [
    ...remotes.flatMap((remote) => clashesWith(node, remote)),
    ...found.flat(),
    ...takenPorts({ devices }, remotes),
  ];
}

/** Configured ports that a device without a remote has: a sentence for each. */
export function takenPorts(
  { devices }: Pick<ObservedNode, 'devices'>,
  remotes: readonly Pick<RemoteSettings, 'device' | 'listenPort' | 'keyRotation'>[],
): readonly string[] {
  const ours = new Set(remotes.flatMap(devicesOf));
  return remotes.flatMap((remote) => {
    const names = devicesOf(remote);
    return portsOf(remote).flatMap((port, plane) =>
      devices
        .filter((other) => other.listenPort === port && !ours.has(other.name))
        .map((other) => `port ${port} of ${names[plane]} is used by ${other.name}`),
    );
  });
}
