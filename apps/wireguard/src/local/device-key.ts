import { join } from 'node:path';
import { keyFileName, remoteOfAlias } from '../names.ts';
import { generatePrivateKey, publicKeyOf, type WireGuardTools } from '@kube-semaphore/wireguard-tools';
import { KeyFileError, readKeyFile, writeKeyFile } from './key-file.ts';
import type { Look } from './observe.ts';
import type { RemoteSettings } from '../config/settings.ts';

/**
 * Where the private key of a device is.
 *
 * - `file`: in its file, as always after the first start.
 * - `device`: only in the device, which is ours. The Go program's DaemonSet kept its files in the container, and they went
 *   with it.
 * - `none`: one is to be made.
 */
export type DeviceKey = { readonly file: string } & (
  | { readonly from: 'file' | 'device'; readonly publicKey: string }
  | { readonly from: 'none' }
);

export type DeviceKeyInput = {
  /** `-wg-key-path`. */
  readonly folder: string;
  readonly look: Look;
  /** The public key that our Node announces to the remote. */
  readonly announced: string | undefined;
};

/** The file of a remote's private key. */
export const keyFileOf = ({ name }: Pick<RemoteSettings, 'name'>, folder: string): string =>
  join(folder, keyFileName(name));

/**
 * Finds the key of a remote's device; changes nothing.
 *
 * @throws {KeyFileError} if its file isn't to be trusted
 */
export async function findDeviceKey(
  remote: Pick<RemoteSettings, 'name'>,
  { folder, look, announced }: DeviceKeyInput,
): Promise<DeviceKey> {
  const file = keyFileOf(remote, folder);
  const publicKey = await readKeyFile(file);
  if (publicKey !== undefined) return { file, from: 'file', publicKey };
  const held = look.device?.publicKey;
  const isOurs = remoteOfAlias(look.link?.alias ?? '') === remote.name || held === announced;
  return held !== undefined && isOurs ? { file, from: 'device', publicKey: held } : { file, from: 'none' };
}

/** The public keys that only we can have given the device: a device that has one of them is ours. */
export function provingKeys(key: DeviceKey, announced: string | undefined): ReadonlySet<string> {
  return new Set([announced, key.from === 'none' ? undefined : key.publicKey].filter((known) => known !== undefined));
}

/**
 * Sees to it that the key is in its file, from which `wg` reads it.
 *
 * @returns its public key
 * @throws {KeyFileError}; {WireGuardToolsError} if the device doesn't give its key
 */
export async function keepDeviceKey(
  key: DeviceKey,
  { tools, device, signal }: { tools: Pick<WireGuardTools, 'privateKey'>; device: string; signal: AbortSignal },
): Promise<string> {
  if (key.from === 'file') return key.publicKey;
  const privateKey = key.from === 'device' ? await tools.privateKey(device, { signal }) : generatePrivateKey();
  if (privateKey === undefined) throw new KeyFileError(`${key.file} is missing, and ${device} has lost its key`);
  await writeKeyFile(key.file, privateKey);
  return publicKeyOf(privateKey);
}
