import { globalNetworkSetCrd } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { itBehindProxies } from './support/it.ts';
import { labelsOf, Sets } from './support/sets.ts';

/** A test on a local cluster that serves Calico's own API as well. */
const it = itBehindProxies
  .extend('calico', { scope: 'file', auto: true }, async ({ local }) => {
    await local.defineResource(globalNetworkSetCrd('projectcalico.org'));
  })
  .extend('v3Sets', ({ local }, { onCleanup }) => {
    const sets = new Sets(local, 'projectcalico.org');
    onCleanup(() => sets.clear());
    return sets;
  });

const pod = { name: 'a', app: 'app', ips: ['10.4.0.1'] };
const nets = { 'c2-default-app': ['10.4.0.1/32'] };

describe('-calico-api', () => {
  it('uses projectcalico.org/v3 if that is served', async ({ pods, sets, v3Sets, start }) => {
    await pods.add(pod);
    await start();
    await v3Sets.become(nets);
    const { apiVersion, metadata } = await v3Sets.get('c2-default-app');
    expect(apiVersion).toBe('projectcalico.org/v3');
    expect(metadata.labels).toEqual(labelsOf('app'));
    await v3Sets.patch('c2-default-app', { spec: { nets: ['192.0.2.0/24'] } });
    await v3Sets.become(nets);
    await pods.remove('a');
    await v3Sets.become({});
    expect(await sets.nets()).toEqual({});
  });

  it('uses the API in the flag', async ({ pods, sets, v3Sets, start }) => {
    await pods.add(pod);
    await start({ 'calico-api': 'crd.projectcalico.org/v1' });
    await sets.become(nets);
    expect(await v3Sets.nets()).toEqual({});
  });

  it('waits while /apis answers 503', async ({ localProxy, viaLocalProxy, pods, sets, v3Sets, start }) => {
    await pods.add(pod);
    await localProxy.set({ kind: 'answer', status: 503 }, { target: /^\/apis$/ });
    const policy = await start(viaLocalProxy, { ready: false });
    await policy.logged('API groups not listed, retrying', { level: 'warn' });
    expect((await policy.get('/readyz')).status).toBe(503);
    await localProxy.clear();
    await v3Sets.become(nets);
    expect(await sets.nets()).toEqual({});
  });
});
