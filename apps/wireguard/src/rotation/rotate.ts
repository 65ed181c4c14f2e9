import { setTimeout as delay } from 'node:timers/promises';
import type { RunOptions } from '@kube-semaphore/kube-client';
import { ConfigError } from '@kube-semaphore/runtime';
import { pageOf } from '@kube-semaphore/text';
import { type Device, type WireGuardTools, WireGuardToolsError } from '@kube-semaphore/wireguard-tools';
import type { RemoteSettings } from '../config/settings.ts';
import type { Keys } from './desired/planes.ts';
import type { KeyRotation } from './desired/schedule.ts';
import { readKeys, requestRotation } from './local/keys.ts';

export type RotateOptions = {
  readonly tools: Pick<WireGuardTools, 'device'>;
  /** `-wg-key-path`. */
  readonly folder: string;
  /** As the user named it. */
  readonly cluster: string | undefined;
  readonly waitsForAll: boolean;
  readonly print: (text: string) => void;
  /** Between two looks at a rotation; default 1 s. */
  readonly periodMs?: number;
};

/**
 * Asks the agent of this node for new keys, and prints each step until they are there, and the second devices are gone.
 *
 * @throws {ConfigError} if the keys of no remote rotate, or one has no key yet; {KeyFileError}
 */
export async function rotate(
  remotes: readonly Pick<RemoteSettings, 'name' | 'keyRotation'>[],
  options: RotateOptions,
  { signal }: RunOptions,
): Promise<void> {
  const { folder, cluster, waitsForAll, print } = options;
  const chosen = remotes.flatMap(({ name, keyRotation }) => (keyRotation === undefined ? [] : [{ name, keyRotation }]));
  if (chosen.length === 0)
    throw new ConfigError(
      `${cluster ?? 'no remote'} has ${cluster === undefined ? '' : 'no '}keyRotation in the config`,
    );
  await Promise.all(
    chosen.map(async ({ name, keyRotation }) => {
      const place = { folder, remote: name };
      const keys = await readKeys(place);
      if (keys === undefined) throw new ConfigError(`${name} has no key yet: the agent makes it at its first start`);
      // One that runs becomes the one that was asked for: there is no second one after it.
      await requestRotation(place, { waitsForAll, ...(keys.next && { atMs: keys.next.writtenMs - 1 }) });
      print(pageOf([`${name}: asked the agent, which looks within its -observe-period`]));
      await follow(name, keyRotation, { ...options, before: keys, signal });
    }),
  );
}

async function follow(
  remote: string,
  { secondDevice }: KeyRotation,
  { tools, folder, print, before, periodMs = 1_000, signal }: RotateOptions & RunOptions & { readonly before: Keys },
): Promise<void> {
  let last = '';
  for (;;) {
    const keys = await readKeys({ folder, remote });
    // `wg` fails if the device goes while it is read.
    const second = await tools.device(secondDevice, { signal }).catch((error: unknown) => {
      if (error instanceof WireGuardToolsError) return 'unknown' as const;
      throw error;
    });
    const step = keys && second !== 'unknown' ? stepOf(keys, second, before) : undefined;
    if (step !== undefined && step !== last) print(pageOf([`${remote}: ${step}`]));
    if (step === DONE) return;
    last = step ?? last;
    await delay(periodMs, undefined, { signal });
  }
}

const DONE = 'done: the second device is gone';

/** @param device the second one; without a key, it waits for the next rotation */
function stepOf({ current, next }: Keys, device: Device | undefined, before: Keys): string | undefined {
  const second = device?.publicKey === undefined ? undefined : device;
  const isNew = current.publicKey !== before.current.publicKey;
  if (next === undefined && !isNew) return undefined;
  if (next === undefined && second === undefined) return DONE;
  if (isNew) return `the key is ${current.publicKey}; the nodes come back to the first device`;
  const answers = second?.peers.filter(({ latestHandshakeSeconds }) => latestHandshakeSeconds !== undefined).length;
  return `the next key is ${next?.publicKey}; ${answers ?? 0} of ${second?.peers.length ?? 0} nodes answer to it`;
}
