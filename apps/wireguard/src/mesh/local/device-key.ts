import { join } from 'node:path';
import { generatePrivateKey, publicKeyOf, type WireGuardTools } from '@kube-semaphore/wireguard-tools';
import type { RemoteSettings } from '../../config/settings.ts';
import { keyFileName, remoteOfAlias } from '../../names.ts';
import { KeyFileError, readKeyFile, writeKeyFile } from './key-file.ts';
import type { Observation } from './observe.ts';

/**
 * Where the private key of a device is.
 *
 * - `file`: in its file, as always after the first start.
 * - `device`: only in the device, which is ours. The Go program's DaemonSet kept its files in the container, so they are lost
 *   with it.
 * - `new`: nowhere yet.
 */
export type DeviceKey = { readonly file: string } & (
  | { readonly from: 'file' | 'device'; readonly publicKey: string }
  | { readonly from: 'new' }
);

export type DeviceKeyInput = {
  /** `-wg-key-path`. */
  readonly folder: string;
  readonly observation: Pick<Observation, 'device' | 'link'>;
  /** The public key that our Node announces to the remote. */
  readonly announced: string | undefined;
};

/** Finds the key of a remote's device; changes nothing. @throws {KeyFileError} if its file can't be trusted */
export async function findDeviceKey(
  { name }: Pick<RemoteSettings, 'name'>,
  { folder, observation: { device, link }, announced }: DeviceKeyInput,
): Promise<DeviceKey> {
  const file = join(folder, keyFileName(name));
  const known = await readKeyFile(file);
  if (known !== undefined) return { file, from: 'file', publicKey: known.publicKey };
  const deviceKey = device?.publicKey;
  const isOurs = remoteOfAlias(link?.alias ?? '') === name || deviceKey === announced;
  return deviceKey !== undefined && isOurs ? { file, from: 'device', publicKey: deviceKey } : { file, from: 'new' };
}

/**
 * Writes the key to its file, from which `wg` reads it, unless it is there.
 *
 * @returns its public key
 * @throws {KeyFileError}; {WireGuardToolsError} if the device doesn't give its key
 */
export async function saveDeviceKey(
  key: DeviceKey,
  { tools, device, signal }: { tools: Pick<WireGuardTools, 'privateKey'>; device: string; signal: AbortSignal },
): Promise<string> {
  if (key.from === 'file') return key.publicKey;
  const privateKey = key.from === 'device' ? await tools.privateKey(device, { signal }) : generatePrivateKey();
  if (privateKey === undefined) throw new KeyFileError(`${key.file} is missing, and ${device} has lost its key`);
  await writeKeyFile(key.file, privateKey);
  return publicKeyOf(privateKey);
}
