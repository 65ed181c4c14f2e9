import { connect } from 'node:net';
import { generatePrivateKey, publicKeyOf } from '@kube-semaphore/wireguard-tools';
import { describe, expect, onTestFinished } from 'vitest';
import { ownNode, it } from './support/it.ts';

const scrapes = (count: number): string => 'GET /metrics HTTP/1.1\r\nhost: n1\r\n\r\n'.repeat(count);

describe('a flood of scrapes', () => {
  it.for([
    { name: '20,000 scrapes on one connection', connections: 1, count: 20_000 },
    { name: 'a scrape on each of 500 connections', connections: 500, count: 1 },
  ])(
    'runs wg once a second at most, and no probe fails: $name',
    async ({ connections, count }, { spawn, bareNode, addNode, local }) => {
      const key = generatePrivateKey();
      await addNode(local, ownNode);
      await bareNode.show({ remote: 'c2', privateKey: key.reveal(), publicKey: publicKeyOf(key) });
      const agent = await spawn();
      const { port } = await agent.logged('started');
      const observations = async () => (await bareNode.calls()).filter((call) => call === 'wg show all dump').length;
      const before = await observations();
      const beganMs = performance.now();
      const ends = Array.from({ length: connections }, () => {
        const socket = connect(Number(port), '127.0.0.1').resume();
        onTestFinished(() => void socket.destroy());
        socket.write(scrapes(count));
        // A socket that is closed during a write has an error, too.
        return new Promise((resolve) => void socket.on('error', () => {}).once('close', resolve));
      });
      expect(await agent.get('/healthz')).toMatchObject({ status: 200 });
      await Promise.all(ends);
      // The agent also observes its devices when it starts.
      const allowed = 3 + (performance.now() - beganMs) / 1_000;
      expect((await observations()) - before).toBeLessThanOrEqual(allowed);
      expect((await agent.get('/metrics')).body).toContain(`public_key="${publicKeyOf(key)}"`);
    },
  );
});
