import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { wireGuardFlags } from './commands.ts';

it('writes a config file for the agent', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'wireguard-commands-'));
  try {
    const flags = await wireGuardFlags({ local: '/l', remotes: [{ name: 'c2', kubeconfig: '/r' }], dir });
    expect(flags).toMatchObject({
      'node-name': 'n1',
      'wg-key-path': join(dir, 'keys'),
      userspace: 'always',
      'listen-address': '127.0.0.1:7773',
    });
    expect(JSON.parse(await readFile(flags['clusters-config']!, 'utf8'))).toMatchObject({
      local: { name: 'c1', kubeConfigPath: '/l' },
      remotes: [{ name: 'c2', kubeConfigPath: '/r', podSubnet: '10.64.0.0/10' }],
    });
  } finally {
    await rm(dir, { recursive: true });
  }
});
