import { once } from 'node:events';
import { Agent, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Connection } from '@kube-semaphore/cluster-auth';
import { expect, it, onTestFinished } from 'vitest';
import type { NamedReference } from '../config/cluster-references.ts';
import { otherCluster, SameCluster, sameClusters } from './same-cluster.ts';

const cluster = (at: string, url: string, keyIds: readonly string[]) => ({ at, server: new URL(url), keyIds });
const local = cluster('-kube-config', 'https://10.96.0.1', ['old', 'new']);
const warning = 'remotes[0] leads to the same cluster as -kube-config, by another address: is it the right cluster?';

it.each([
  { name: 'a cluster that signs with one of its keys', url: 'https://c1:6443', keyIds: ['new'], want: [warning] },
  { name: 'a cluster with keys of its own', url: 'https://c2:6443', keyIds: ['other'], want: [] },
  { name: 'a cluster whose keys are unknown', url: 'https://c2:6443', keyIds: [], want: [] },
  { name: 'the same address, which another warning names', url: 'https://10.96.0.1/', keyIds: ['new'], want: [] },
])('finds $want beside another in $name', ({ url, keyIds, want }) => {
  expect(sameClusters([local, cluster('remotes[0]', url, keyIds)])).toEqual(want);
});

const known = [['of-c1'], ['of-c2', 'next-of-c2'], [], ['of-c4']];

it.each([
  { name: 'the same cluster', own: 1, keyIds: ['next-of-c2'], want: undefined },
  { name: 'a server that does not say', own: 1, keyIds: [], want: undefined },
  { name: 'a cluster that was never reached', own: 2, keyIds: ['of-c3'], want: undefined },
  { name: 'a cluster with other keys', own: 1, keyIds: ['of-c9'], want: 'unlike before' },
  { name: 'the local cluster', own: 1, keyIds: ['of-c1'], want: 0 },
  { name: 'another remote, in place of one that was never reached', own: 2, keyIds: ['of-c4'], want: 3 },
])('takes another server of $name for $want', ({ own, keyIds, want }) => {
  expect(otherCluster(keyIds, { own, known })).toBe(want);
});

/** A connection to a server whose cluster signs with these keys. */
async function serverWith(...keyIds: readonly string[]): Promise<Connection> {
  const keySet = JSON.stringify({ keys: keyIds.map((kid) => ({ kid })) });
  const listener = createServer((_, response) => void response.end(keySet)).listen(0, '127.0.0.1');
  onTestFinished(() => void listener.close());
  await once(listener, 'listening');
  const server = new URL(`http://127.0.0.1:${(listener.address() as AddressInfo).port}`);
  const never = () => Promise.resolve(false);
  return {
    server,
    authorize: () => Promise.resolve({ server, agent: new Agent(), headers: {} }),
    unauthorized: never,
    connectionFailed: never,
    close: () => undefined,
  };
}

it('knows a cluster by its newest keys, when a kubeconfig names one server after the other', async () => {
  const run = { signal: new AbortController().signal };
  const say = () => undefined;
  const [local, remote] = ['-kube-config', 'remotes[0]'].map((at) => ({
    at,
    reference: { kind: 'in-cluster' } as const,
  })) as [NamedReference, NamedReference];
  const warningLog = { trace: say, debug: say, info: say, warn: say, error: say };
  const same = new SameCluster({ local, warningLog, userAgent: 'test' });
  await same.admit(
    [
      { cluster: local, connection: await serverWith('of-c1') },
      { cluster: remote, connection: await serverWith('old') },
    ],
    run,
  );
  await same.confirm(remote, await serverWith('old', 'new'), run);
  await same.confirm(remote, await serverWith('new'), run);
  await expect(same.confirm(remote, await serverWith('old'), run)).rejects.toThrow('a cluster with other signing keys');
});

it('warns of a remote that comes later and is a cluster that is known, and forgets one that leaves', async () => {
  const run = { signal: new AbortController().signal };
  const warnings: string[] = [];
  const say = () => undefined;
  const warningLog = {
    trace: say,
    debug: say,
    info: say,
    warn: (_: object, text: string) => warnings.push(text),
    error: say,
  };
  const named = (at: string): NamedReference => ({ at, reference: { kind: 'in-cluster' } });
  const [local, first, again] = [named('-kube-config'), named('remotes[0] (c2)'), named('remotes[1] (c3)')];
  const same = new SameCluster({ local, warningLog, userAgent: 'test' });
  await same.admit([{ cluster: local, connection: await serverWith('of-c1') }], run);
  await same.admit([{ cluster: first, connection: await serverWith('of-c2') }], run);
  expect(warnings).toEqual([]);
  await same.admit([{ cluster: again, connection: await serverWith('of-c2') }], run);
  const want =
    'remotes[1] (c3) leads to the same cluster as remotes[0] (c2), by another address: is it the right cluster?';
  expect(warnings).toEqual([want]);
  same.forget(first);
  same.forget(again);
  await same.admit([{ cluster: again, connection: await serverWith('of-c2') }], run);
  expect(warnings).toEqual([want]);
});
