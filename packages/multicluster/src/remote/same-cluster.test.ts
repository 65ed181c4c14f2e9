import { expect, it } from 'vitest';
import { sameClusters } from './same-cluster.ts';

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
