import { join } from 'node:path';
import {
  type CallOptions,
  startUserspaceDevice,
  systemTools,
  type WireGuardTools,
  WireGuardToolsError,
} from '@kube-semaphore/wireguard-tools';
import type { WireGuardOptions } from '../config/options.ts';
import type { DesiredDevice, DeviceDiff } from '../desired/diff-device.ts';

/** A device can't be ours, can't be made, or can't have its port. The message is for the operator. */
export class DeviceError extends Error {
  readonly code = 'DEVICE';
  override readonly name = 'DeviceError';
  /** Somebody else is to make it, and may do so at any time. */
  readonly isAwaited: boolean;

  constructor(message: string, { isAwaited = false }: { readonly isAwaited?: boolean } = {}) {
    super(message);
    this.isAwaited = isAwaited;
  }
}

/** What devices are made and changed with. */
export type DeviceTools = {
  readonly tools: WireGuardTools;
  /** Undefined: what we start would end with our container, so a wireguard-go is only ever found. */
  readonly startUserspace: typeof startUserspaceDevice | undefined;
  /** `-userspace`. */
  readonly userspace: 'auto' | 'always' | 'never';
  /** Where a wireguard-go that we start writes its errors, by the device's name. */
  readonly logFile: (device: string) => string;
};

/** The tools of this machine. */
export function systemDevices({
  userspace,
  wgKeyPath,
}: Pick<WireGuardOptions, 'userspace' | 'wgKeyPath'>): DeviceTools {
  // In a Pod, or as the first process of a container, what we start ends with us.
  const isContained = process.env['KUBERNETES_SERVICE_HOST'] !== undefined || process.pid === 1;
  return {
    tools: systemTools(),
    startUserspace: isContained ? undefined : startUserspaceDevice,
    userspace,
    logFile: (device) => join(wgKeyPath, `${device}.log`),
  };
}

/**
 * Makes the device of a remote, which isn't there: by the kernel, or else by wireguard-go.
 *
 * @throws {DeviceError} if neither is to be had; {WireGuardToolsError}
 */
export async function makeDevice(
  { tools, startUserspace, userspace, logFile }: DeviceTools,
  { name, alias, mtuBytes }: Pick<DesiredDevice, 'name' | 'alias' | 'mtuBytes'>,
  { signal }: CallOptions,
): Promise<'kernel' | 'wireguard-go'> {
  if (userspace !== 'always' && (await tools.createDevice(name, { alias, mtuBytes }, { signal })) === 'created')
    return 'kernel';
  if (userspace === 'never') throw new DeviceError('this kernel has no WireGuard, and -userspace is never');
  const why = userspace === 'auto' ? ', and this kernel has no WireGuard' : '';
  if (startUserspace === undefined)
    throw new DeviceError(`no sidecar with wireguard-go has made ${name}${why}`, { isAwaited: true });
  try {
    await startUserspace({ name, logFile: logFile(name), signal });
  } catch (error) {
    const missing = error instanceof WireGuardToolsError && error.code === 'WG_NOT_INSTALLED';
    throw missing
      ? new DeviceError(`wireguard-go is not installed, nor has one that runs made ${name}${why}`, { isAwaited: true })
      : error;
  }
  return 'wireguard-go';
}

/**
 * Does what a diff says, but for the peers: our mark, so that the device is known for ours whatever fails then; the key, the
 * link, addresses, and at last routes, which need a device that is up.
 *
 * @returns destinations that turned out to be led elsewhere, and stay so
 * @throws {DeviceError} if its port is held by another; {WireGuardToolsError}
 */
export async function applyDevice(
  tools: WireGuardTools,
  { name, listenPort: port }: Pick<DesiredDevice, 'name' | 'listenPort'>,
  { diff, keyFile }: { readonly diff: DeviceDiff; readonly keyFile: string },
  options: CallOptions,
): Promise<readonly string[]> {
  const { setsKey, listenPort, addresses, routes } = diff;
  const { alias, ...link } = diff.link;
  if (alias !== undefined) await tools.changeLink(name, { alias }, options);
  if (setsKey || listenPort !== undefined) {
    const change = { ...(setsKey && { privateKeyFile: keyFile }), ...(listenPort !== undefined && { listenPort }) };
    await orNameHolder(tools, { name, port }, tools.changeDevice(name, change, options), options);
  }
  // A device of the kernel takes its port when it is set up.
  if (Object.keys(link).length > 0)
    await orNameHolder(tools, { name, port }, tools.changeLink(name, link, options), options);
  for (const address of addresses.delete) await tools.deleteAddress(name, address, options);
  for (const address of addresses.add) await unlessThere(tools.addAddress(name, address, options));
  for (const route of routes.delete) await tools.deleteRoute(route, options);
  for (const route of routes.replace) await tools.replaceRoute(route, options);
  const blocked: string[] = [];
  for (const route of routes.add)
    if (!(await unlessThere(tools.addRoute(route, options)))) blocked.push(route.destination);
  return blocked;
}

/** Says of a port that can't be had whose it is, as far as that is known. */
async function orNameHolder(
  tools: WireGuardTools,
  { name, port }: { readonly name: string; readonly port: number },
  changing: Promise<void>,
  options: CallOptions,
): Promise<void> {
  try {
    await changing;
  } catch (error) {
    if (!(error instanceof WireGuardToolsError) || error.code !== 'WG_PORT_TAKEN') throw error;
    const holder = (await tools.devices(options)).find((device) => device.name !== name && device.listenPort === port);
    throw new DeviceError(`port ${port} of ${name} is used by ${holder?.name ?? 'another program'}`);
  }
}

/** @returns false if what was to be added is there already, perhaps as somebody else's */
async function unlessThere(adding: Promise<void>): Promise<boolean> {
  try {
    await adding;
    return true;
  } catch (error) {
    if (error instanceof WireGuardToolsError && error.code === 'WG_EXISTS') return false;
    throw error;
  }
}
