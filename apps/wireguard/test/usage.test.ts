import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { it } from './support/it.ts';

/** The lines that name a problem, without the program's name. */
const problems = (stderr: string): readonly string[] =>
  stderr
    .split('\n')
    .filter((line) => line.startsWith('semaphore-wireguard: '))
    .map((line) => line.slice('semaphore-wireguard: '.length));

describe('an invalid config ends the program with 2, and all problems are printed', () => {
  it.for([
    {
      name: 'no such file',
      flags: { 'clusters-config': '/no/such/file' },
      want: [/^\/no\/such\/file can't be read: ENOENT$/],
    },
    {
      name: 'a file with many problems',
      flags: {},
      remote: {
        name: 'a-name-that-is-long',
        podSubnet: ['10.4.0.0/33', '0.0.0.0/0'],
        wgListenPort: 70_000,
        allowedIPsFrom: 'thin-air',
      },
      want: [
        /remotes\[0\]\.podSubnet\[0\]/,
        /remotes\[0\]\.podSubnet\[1\]/,
        /remotes\[0\]\.deviceName: it is required/,
        /remotes\[0\]\.wgListenPort/,
        /remotes\[0\]\.allowedIPsFrom/,
      ],
    },
    {
      name: 'a device of Calico',
      flags: {},
      remote: { deviceName: 'wireguard.cali' },
      want: [/remotes\[0\]\.deviceName: "wireguard\.cali" is a device of Calico/],
    },
  ])('$name', async ({ flags, remote, want }, { run }) => {
    const { code, stderr } = await run({ flags, ...(remote !== undefined && { remote }) });
    expect({ code, problems: problems(stderr) }).toEqual({
      code: 2,
      problems: want.map((line) => expect.stringMatching(line) as string),
    });
  });
});

describe('a config that can’t work on this node ends the program with 2, and all problems are printed', () => {
  it('there is no such Node', async ({ run }) => {
    const { code, stderr } = await run();
    expect({ code, problems: problems(stderr) }).toEqual({
      code: 2,
      problems: ['there is no Node n1 in the local cluster: -node-name or SWG_NODE_NAME'],
    });
  });

  it('the Node is in the remote’s pod subnet, and a key file is broken', async ({ run, addNode, local, keyFolder }) => {
    await addNode(local, { name: 'n1', podCIDRs: ['10.4.7.0/24'], internalIPs: ['10.4.0.1'] });
    const file = join(keyFolder, 'wireguard.c2.key');
    await writeFile(file, 'no key', { mode: 0o600 });
    const { code, stderr } = await run();
    expect({ code, problems: problems(stderr) }).toEqual({
      code: 2,
      problems: [
        "the pod subnet 10.4.0.0/16 of c2 overlaps with our own Node's 10.4.7.0/24",
        "the pod subnet 10.4.0.0/16 of c2 contains our own Node's address 10.4.0.1",
        `${file} has no valid private key: not a WireGuard key, which is base64 of 32 bytes`,
      ],
    });
  });

  it('others can write to the key folder', async ({ run, addNode, local, keyFolder }) => {
    await addNode(local, { name: 'n1', internalIPs: ['192.0.2.1'] });
    await chmod(keyFolder, 0o777);
    const { code, stderr } = await run();
    expect({ code, problems: problems(stderr) }).toEqual({
      code: 2,
      problems: [`${keyFolder} has mode 0777, so others can replace the key: it must be 0700`],
    });
  });
});
