import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeTools } from '../../test/support/fake-tools.ts';
import type { KnownNode } from './node.ts';
import { observeNode } from './observe.ts';
import { nodeProblems } from './node-check.ts';
import { Reconciler } from '../reconciler.ts';
import { remoteSettings, silentLog } from '../../test/support/builders.ts';

const { signal } = new AbortController();
const node: KnownNode = {
  uid: 'u',
  resourceVersion: '1',
  annotations: {},
  internalIps: ['198.51.100.1'],
  podCidrs: [],
};
const settings = remoteSettings();

let keyFolder: string;
beforeEach(async () => {
  keyFolder = await mkdtemp(join(tmpdir(), 'node-check-'));
});
afterEach(() => rm(keyFolder, { recursive: true }));

describe('nodeProblems', () => {
  it.each([
    {
      name: 'finds somebody else’s device',
      alias: '',
      remotes: [settings],
      want: ['wireguard.c2 has neither our mark nor our key'],
    },
    {
      name: 'finds the port that another device holds',
      device: 'wg0',
      alias: '',
      remotes: [settings],
      want: ['port 51820 of wireguard.c2 is that of wg0'],
    },
    {
      name: 'passes over a device of ours that goes with the remote that it led to',
      alias: 'semaphore-wireguard c9',
      remotes: [settings],
      want: [],
    },
    {
      name: 'lets two remotes swap their devices',
      alias: 'semaphore-wireguard c3',
      remotes: [settings, remoteSettings({ name: 'c3', device: 'wireguard.c3', listenPort: 51_821 })],
      want: [],
    },
  ])('$name', async ({ device = 'wireguard.c2', alias, remotes, want }) => {
    const tools = new FakeTools();
    tools.put(device, { alias });
    const reconciler = new Reconciler({
      tools,
      startUserspace: () => Promise.reject(new Error('nothing is to be started')),
      userspace: 'auto',
      logFile: (name) => join(keyFolder, name),
      local: { node, announce: () => Promise.reject(new Error('nothing is to be announced')) },
      keyFolder,
      staleSeconds: 180,
      nowSeconds: () => 0,
      log: silentLog,
      onLook: () => undefined,
      onStanding: () => undefined,
    });
    const around = await observeNode(tools, { signal });
    expect(
      await nodeProblems(remotes, { node, around, examine: (...args) => reconciler.examine(...args), signal }),
    ).toEqual(want);
  });
});
