import type { RunOptions } from '@kube-semaphore/kube-client';
import type { Diagnostic } from '@kube-semaphore/multicluster';
import type { WireGuardOptions } from '../config/options.ts';
import type { RemoteSettings } from '../config/settings.ts';
import { problemOf } from '../mesh/desired/diagnostic.ts';
import type { DeviceTools } from '../mesh/local/device.ts';
import { remoteOfAlias } from '../names.ts';
import { dialsOut } from '../own-node/desired/own-node.ts';
import type { LocalNode } from '../own-node/local-node.ts';
import type { KeyRotation } from './desired/schedule.ts';
import { readKeys } from './local/keys.ts';
import { observeBoth } from './local/observe.ts';
import { canLoosen } from './local/reverse-path.ts';

export type ObstacleOptions = RunOptions & {
  readonly devices: DeviceTools;
  readonly local: Pick<LocalNode, 'node'>;
  readonly options: Pick<WireGuardOptions, 'wgKeyPath'>;
};

/**
 * What keeps the keys of a remote from rotating on this node, before anything rotates: then the node is as one without
 * `keyRotation`, so that the others don't wait for it.
 */
export async function obstacleTo(
  rotation: KeyRotation,
  settings: RemoteSettings,
  { devices, options, local, signal }: ObstacleOptions,
): Promise<Diagnostic | undefined> {
  const { device, podSubnets, name } = settings;
  const { secondDevice } = rotation;
  const keys = await readKeys({ folder: options.wgKeyPath, remote: name });
  const seen = await observeBoth(devices.tools, [device, secondDevice], { signal });
  if (keys?.next !== undefined) return undefined;
  const link = seen.links.find((each) => each.name === secondDevice);
  const marked = link && remoteOfAlias(link.alias);
  const isSidecar =
    devices.startUserspace === undefined && seen.links.some((each) => each.name === device && each.kind === 'tun');
  const isFree =
    link === undefined || marked === name || (isSidecar && marked === undefined && seen.devices[1] === undefined);
  const problems = [
    ...(dialsOut(local.node, settings) ? ['this node dials out, so others would not know which device speaks'] : []),
    ...(isFree ? [] : [`${secondDevice} is not ours`]),
    ...(isSidecar && link === undefined ? [`no sidecar with wireguard-go has created ${secondDevice}`] : []),
    ...(!podSubnets.some(({ family }) => family === 4) || (await canLoosen(devices.tools, device))
      ? []
      : [`net.ipv4.conf.${device}.rp_filter is 1 and can't be changed: set net.ipv4.conf.all.rp_filter to 2 or 0`]),
  ];
  return seen.devices[1] !== undefined && isFree
    ? undefined
    : problemOf('no-rotation', problems.length === 0 ? [] : [`keys can't rotate: ${problems.join('; ')}`])[0];
}
