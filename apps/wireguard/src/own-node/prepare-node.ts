import type { RunOptions } from '@kube-semaphore/kube-client';
import { ConfigError } from '@kube-semaphore/runtime';
import type { WireGuardOptions } from '../config/options.ts';
import type { RemoteSettings } from '../config/settings.ts';
import { clashesWith } from './desired/own-node.ts';
import { remoteOfAlias } from '../names.ts';
import type { DeviceTools } from '../mesh/local/device.ts';
import { KeyFileError } from '../mesh/local/key-file.ts';
import type { KnownNode, LocalNode } from './local-node.ts';
import { deviceOf, type ObservedNode, observeNode } from '../mesh/local/observe.ts';
import { type Orphans, orphansOf } from '../orphans/orphans.ts';
import { examineDevice } from '../mesh/local/ownership.ts';

/** Only `run` changes the node. `plan` checks it as `run` does; `status` doesn't, so it works where `run` can't. */
export type Purpose = 'run' | 'plan' | 'status';

export type NodeInput = {
  readonly purpose: Purpose;
  readonly options: Pick<WireGuardOptions, 'wgKeyPath'>;
  readonly remotes: readonly RemoteSettings[];
  readonly devices: Pick<DeviceTools, 'tools' | 'userspace'>;
};

/**
 * Checks that the config can work on this node, and removes what is in its way.
 *
 * @returns what is on the node then
 * @throws {ConfigError} with all problems
 */
export async function prepareNode(
  input: NodeInput,
  { local, orphans, signal }: RunOptions & { readonly local: LocalNode; readonly orphans: Orphans },
): Promise<ObservedNode> {
  const { purpose, remotes, devices } = input;
  const { tools } = devices;
  const observed = await observeNode(tools, { signal });
  if (purpose === 'status') return observed;
  const problems = await nodeProblems(input, local.required(), observed);
  if (problems.length > 0) throw new ConfigError(problems);
  if (purpose === 'plan') return observed;
  // Port 0 is any free one.
  for (const device of displacedDevices(observed, remotes))
    await tools.changeDevice(device, { listenPort: 0 }, { signal });
  return (await orphans.remove(observed, { signal })) ? observeNode(tools, { signal }) : observed;
}

/** Why a valid config can't work on this node: a sentence for each problem. */
export async function nodeProblems(
  { options, remotes, devices: { userspace } }: Omit<NodeInput, 'purpose'>,
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
  remotes: readonly Pick<RemoteSettings, 'device' | 'listenPort'>[],
): readonly string[] {
  return remotes.flatMap(({ device, listenPort }) =>
    devices
      .filter((other) => other.listenPort === listenPort && !remotes.some((remote) => remote.device === other.name))
      .map((other) => `port ${listenPort} of ${device} is used by ${other.name}`),
  );
}

/** Devices of ours that hold a port which the config gives to another remote. They have to free it before that remote binds it. */
export function displacedDevices(
  { links, devices }: ObservedNode,
  remotes: readonly Pick<RemoteSettings, 'device' | 'listenPort'>[],
): readonly string[] {
  const ours = new Set(links.filter(({ alias }) => remoteOfAlias(alias) !== undefined).map(({ name }) => name));
  return remotes
    .filter(({ device: name, listenPort }) => {
      const port = devices.find((device) => device.name === name)?.listenPort;
      return (
        ours.has(name) &&
        port !== listenPort &&
        remotes.some((other) => other.device !== name && other.listenPort === port)
      );
    })
    .map(({ device }) => device);
}
