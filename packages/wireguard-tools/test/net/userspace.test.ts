import { eventually } from '@kube-semaphore/eventually';
import type { NetworkNode } from '@kube-semaphore/testnet';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DEVICE, Lab, signal, toolsOn } from './lab.ts';

let lab: Lab;
let node: NetworkNode;
beforeEach(async () => {
  lab = await Lab.start(['n1']);
  node = lab.network.node('n1');
});
afterEach(() => lab.stop());

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // no such process
  }
};

it('outlives the process that started it, in a session of its own, and ends with its device', async () => {
  const pid = Number(await lab.startDevice(node, DEVICE));
  expect(await toolsOn(node).device(DEVICE, { signal })).toMatchObject({
    name: DEVICE,
    publicKey: undefined,
    peers: [],
  });
  const [session] = (await node.run('ps', ['-o', 'sid=', '-p', String(pid)])).trim().split(/\s+/);
  expect(session).toBe(String(pid));
  await toolsOn(node).deleteLink(DEVICE, { signal });
  await eventually(() => isAlive(pid), false);
});

it('starts despite the socket of a killed one', async () => {
  const pid = Number(await lab.startDevice(node, DEVICE));
  process.kill(pid, 'SIGKILL');
  await eventually(() => isAlive(pid), false);
  expect(await node.run('ls', ['/run/wireguard'])).toBe(`${DEVICE}.sock\n`);
  expect(Number(await lab.startDevice(node, DEVICE))).toBeGreaterThan(0);
  expect(await toolsOn(node).device(DEVICE, { signal })).toMatchObject({ name: DEVICE });
});

it('says in its own words why it could not start', async () => {
  expect(await lab.startDevice(node, 'eth0')).toMatch(/^WG_FAILED wireguard-go eth0: .*Failed to create TUN device: /);
});

it('says that the program is not installed', async () => {
  expect(await lab.startDevice(node, DEVICE, 'no-such-program')).toBe('WG_NOT_INSTALLED wireguard-go is not installed');
});
