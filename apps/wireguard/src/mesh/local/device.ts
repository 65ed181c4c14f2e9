import { join } from 'node:path';
import {
  type CallOptions,
  startUserspaceDevice,
  systemTools,
  type WireGuardTools,
  WireGuardToolsError,
} from '@kube-semaphore/wireguard-tools';
import type { WireGuardOptions } from '../../config/options.ts';
import type { DesiredDevice, DeviceDiff } from '../desired/diff/device.ts';

/** A device isn't ours, can't be created, or can't have its port. The message is for the operator. */
export class DeviceError extends Error {
  readonly code = 'DEVICE';
  override readonly name = 'DeviceError';
  /** Another program has to create it, and may do so at any time. */
  readonly isAwaited: boolean;

  constructor(message: string, { isAwaited = false }: { readonly isAwaited?: boolean } = {}) {
    super(message);
    this.isAwaited = isAwaited;
  }
}

/** How devices are created and changed. */
export type DeviceTools = {
  readonly tools: WireGuardTools;
  /** Undefined: a wireguard-go that we start would end with our container, so a sidecar has to start it. */
  readonly startUserspace: typeof startUserspaceDevice | undefined;
  /** `-userspace`. */
  readonly userspace: 'auto' | 'always' | 'never';
  /** The file for the errors of a wireguard-go that we start. */
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

/** Creates a device: in the kernel, or else by wireguard-go. @throws {DeviceError} if neither works; {WireGuardToolsError} */
export async function createDevice(
  { tools, startUserspace, userspace, logFile }: DeviceTools,
  { name, alias, mtuBytes }: Pick<DesiredDevice, 'name' | 'alias' | 'mtuBytes'>,
  { signal }: CallOptions,
): Promise<'kernel' | 'wireguard-go'> {
  if (userspace !== 'always' && (await tools.createDevice(name, { alias, mtuBytes }, { signal })) === 'created')
    return 'kernel';
  if (userspace === 'never') throw new DeviceError('this kernel has no WireGuard, and -userspace is never');
  const why = userspace === 'auto' ? ', and this kernel has no WireGuard' : '';
  if (startUserspace === undefined)
    throw new DeviceError(`no sidecar with wireguard-go has created ${name}${why}`, { isAwaited: true });
  try {
    await startUserspace({ name, logFile: logFile(name), signal });
  } catch (error) {
    const missing = error instanceof WireGuardToolsError && error.code === 'WG_NOT_INSTALLED';
    throw missing
      ? new DeviceError(`wireguard-go is not installed here, and no other has created ${name}${why}`, {
          isAwaited: true,
        })
      : error;
  }
  return 'wireguard-go';
}

/**
 * Applies a diff, except for the peers: our mark, so that the device is ours whatever fails later; key, link and addresses; then
 * routes, which need a device that is up.
 *
 * @returns destinations that have another route by now, which stays
 * @throws {DeviceError} if another program has its port; {WireGuardToolsError}
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
    await withPort(tools, { name, port }, tools.changeDevice(name, change, options), options);
  }
  // A kernel device binds its port when it is set up.
  if (Object.keys(link).length > 0)
    await withPort(tools, { name, port }, tools.changeLink(name, link, options), options);
  for (const address of addresses.delete) await tools.deleteAddress(name, address, options);
  for (const address of addresses.add) await unlessExists(tools.addAddress(name, address, options));
  for (const route of routes.delete) await tools.deleteRoute(route, options);
  for (const route of routes.replace) await tools.replaceRoute(route, options);
  const blocked: string[] = [];
  for (const route of routes.add)
    if (!(await unlessExists(tools.addRoute(route, options)))) blocked.push(route.destination);
  return blocked;
}

/** Names the device that has the port, if a change fails because the port is taken. */
async function withPort(
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

/** @returns false if the address or route exists already; it may be somebody else's */
async function unlessExists(adding: Promise<void>): Promise<boolean> {
  try {
    await adding;
    return true;
  } catch (error) {
    if (error instanceof WireGuardToolsError && error.code === 'WG_EXISTS') return false;
    throw error;
  }
}
