import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '@kube-semaphore/eventually';
import { generatePrivateKey, WireGuardToolsError } from '@kube-semaphore/wireguard-tools';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { key, observedPeer, remoteSettings } from '../../test/support/builders.ts';
import { FakeTools } from '../../test/support/fake-tools.ts';
import { writeKeyFile } from '../mesh/local/key-file.ts';
import { commitNextKey, makeNextKey, readKeys, readRequest } from './local/keys.ts';
import { rotate } from './rotate.ts';

const { signal } = new AbortController();
const rotating = remoteSettings({ keyRotation: { everyMs: 0, secondPort: 51_920, secondDevice: 'wireguard.c2.1' } });

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rotate-'));
});
afterEach(() => rm(folder, { recursive: true }));

const options = (tools: FakeTools, print: (text: string) => void = () => {}, cluster?: string) => ({
  tools,
  folder,
  cluster,
  waitsForAll: false,
  print,
  periodMs: 5,
});

it('asks the agent, and prints what it does', async () => {
  const place = { folder, remote: 'c2' };
  const tools = new FakeTools();
  let printed = '';
  const saying = (words: string) =>
    eventually(
      () => printed,
      (text) => text.includes(words),
      { what: words },
    );
  await writeKeyFile(join(folder, 'wireguard.c2.key'), generatePrivateKey());
  const before = (await readKeys(place))!.current;
  const ended = rotate(
    [rotating, remoteSettings({ name: 'c3' })],
    options(tools, (text) => (printed += text)),
    { signal },
  );
  await saying('asked the agent');
  expect(await readRequest(place)).toEqual({ atMs: expect.any(Number), waitsForAll: false });
  expect((await readRequest(place))!.atMs).toBeGreaterThanOrEqual(before.writtenMs);
  await makeNextKey(place);
  await saying('0 of 0 nodes answer');
  const quiet = observedPeer(key(2), { latestHandshakeSeconds: undefined });
  tools.put('wireguard.c2.1', { peers: [observedPeer(key(1)), quiet] });
  await saying('1 of 2 nodes answer');
  await commitNextKey(place);
  await saying('the nodes come back');
  const { device } = tools;
  tools.device = () => Promise.reject(new WireGuardToolsError('WG_FAILED', 'Protocol error'));
  await delay(20);
  tools.device = device;
  await tools.deleteLink('wireguard.c2.1');
  await ended;
  expect(printed).toMatch(/c2: done: the second device is gone\n$/);
});

it.each([
  { name: 'no remote whose keys rotate', remotes: [remoteSettings()], want: 'no remote has keyRotation in the config' },
  { name: 'a remote whose keys stay', remotes: [], cluster: 'c2', want: 'c2 has no keyRotation in the config' },
  { name: 'a remote without a key', remotes: [rotating], want: /^c2 has no key yet/ },
])('refuses $name', async ({ remotes, cluster, want }) => {
  await expect(rotate(remotes, options(new FakeTools(), undefined, cluster), { signal })).rejects.toThrow(want);
});
