import { remoteOfAlias } from '../../names.ts';
import type { RemoteSettings } from '../../config/settings.ts';
import { announcedKey } from '../desired/device.ts';
import { type DeviceKey, findDeviceKey } from './device-key.ts';
import type { Observation } from './observe.ts';

/**
 * What the device of a remote is to us, before we touch it.
 *
 * - `absent`: no device has its name, so we make it.
 * - `ours`: it has our mark.
 * - `adopted`: it has no mark. It has a key that only we can have set, as the devices of the Go program do; or it has no key
 *   at all, as a wireguard-go that was started for us. We mark it.
 * - `awaited`: a TUN device that doesn't speak WireGuard yet: a wireguard-go is probably starting.
 * - `foreign`: it belongs to somebody else, or to another remote. `reason` is for the operator.
 */
export type Ownership =
  | { readonly kind: 'absent' | 'ours' | 'adopted' }
  | { readonly kind: 'awaited' | 'foreign'; readonly reason: string };

/** How a device without our mark is recognized. */
export type OwnershipRules = {
  /** Public keys that only we can have set. */
  readonly knownKeys: ReadonlySet<string>;
  /** `-userspace`. */
  readonly userspace: 'auto' | 'always' | 'never';
};

/** Decides whether a remote's device is ours. */
export function ownershipOf(
  { name, device: deviceName }: Pick<RemoteSettings, 'name' | 'device'>,
  { device, link }: Pick<Observation, 'device' | 'link'>,
  { knownKeys, userspace }: OwnershipRules,
): Ownership {
  if (link === undefined) return { kind: 'absent' };
  const marked = remoteOfAlias(link.alias);
  if (marked === name) return { kind: 'ours' };
  if (marked !== undefined) return { kind: 'foreign', reason: `${deviceName} leads to ${marked}` };
  const isUserspace = link.kind === 'tun' && userspace !== 'never';
  if (device === undefined)
    return { kind: isUserspace ? 'awaited' : 'foreign', reason: `${deviceName} is not a WireGuard device` };
  const isOurs =
    device.publicKey === undefined ? isUserspace && device.peers.length === 0 : knownKeys.has(device.publicKey);
  return isOurs ? { kind: 'adopted' } : { kind: 'foreign', reason: `${deviceName} has neither our mark nor our key` };
}

export type ExamineOptions = Pick<OwnershipRules, 'userspace'> & {
  readonly observation: Pick<Observation, 'device' | 'link'>;
  /** Of our own Node. */
  readonly annotations: Readonly<Record<string, string>>;
  /** `-wg-key-path`. */
  readonly keyFolder: string;
};

/** Whose a remote's device is, and where its key is. Changes nothing. @throws {KeyFileError} */
export async function examineDevice(
  settings: Pick<RemoteSettings, 'name' | 'device'>,
  { observation, annotations, keyFolder, userspace }: ExamineOptions,
): Promise<{ readonly ownership: Ownership; readonly key: DeviceKey }> {
  const announced = announcedKey(settings, annotations);
  const key = await findDeviceKey(settings, { folder: keyFolder, observation, announced });
  // The key file of the Go program may be lost with its container; then the announced key proves that the device is ours.
  const proofs = [announced, key.from === 'new' ? undefined : key.publicKey];
  const knownKeys = new Set(proofs.filter((publicKey) => publicKey !== undefined));
  return { key, ownership: ownershipOf(settings, observation, { knownKeys, userspace }) };
}
