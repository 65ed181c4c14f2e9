import { eventually } from '@kube-semaphore/eventually';
import { startFaultProxy } from '@kube-semaphore/fault-proxy';
import { mirrorClusterLabel } from '../src/names.ts';
import { endpointSlice, service, startHostileServer, TOKEN } from '@kube-semaphore/testkit';
import { describe, expect, onTestFinished } from 'vitest';
import { itWithTwoRemotes as it, type RemoteEntry } from './support/remotes.ts';

const labels = { global: 'true', mirror: 'false' };
const web = { name: 'web', labels };
const slice = (name: string, ...endpoints: string[]) => ({ name, service: 'web', labels, endpoints });
const global = { globalSvcLabelSelector: 'global=true' };
const GLOBAL = 'gl-default-73736d-web';
const gauge = 'semaphore_service_mirror_skipped_objects';

/** A Service of a remote may have so many ports, and an appProtocol may be so long. */
const PORTS = 1_000;
const APP_PROTOCOL = `${['a', 'b', 'c', 'd'].map((letter) => letter.repeat(61)).join('.')}/${'e'.repeat(63)}`;

/** Their ports together take 3.5 MB. An API server takes 3 MiB, and etcd 1.5 MiB. */
const REMOTES = Array.from({ length: 8 }, (_, i) => `h${i}`);

/** Its Service is older than those of the others, with ports that no other has. */
async function hostileRemote(name: string, i: number): Promise<RemoteEntry> {
  const ports = Array.from({ length: PORTS }, (_, port) => ({
    name: `${name}-${port}-${'x'.repeat(40)}`,
    port: 1_000 + PORTS * i + port,
    protocol: 'TCP',
    appProtocol: APP_PROTOCOL,
  }));
  const object = service({ ...web, ports, spec: { type: 'ClusterIP', clusterIP: '10.9.0.1', ipFamilies: ['IPv4'] } });
  const old = { ...object, metadata: { ...object.metadata, creationTimestamp: '2001-01-01T00:00:00Z' } };
  const itsSlice = endpointSlice({ ...slice('web-a', `10.6.0.${i}`), ports: ports.slice(0, 1) });
  const server = await startHostileServer({ token: TOKEN, objects: [old, itsSlice] });
  onTestFinished(() => server.stop());
  return { name, kubeConfigPath: server.kubeconfig, servicePrefix: name };
}

describe('a global Service', () => {
  it('is small enough to be written, whatever the remotes have, and has ports of each', async ({
    sources,
    secondSources,
    mirrors,
    startWithFile,
  }) => {
    await sources.add(web);
    await sources.addSlice(slice('web-a', '10.4.0.1'));
    await secondSources.add(web);
    await secondSources.addSlice(slice('web-a', '10.5.0.1'));
    const program = await startWithFile(global, { others: await Promise.all(REMOTES.map(hostileRemote)) });
    const theirs = REMOTES.map((_, i) => `10.6.0.${i}`);
    const endpoints = async () => (await mirrors.endpoints())[GLOBAL];
    await eventually(endpoints, ['10.4.0.1', '10.5.0.1', ...theirs]);
    const { ports } = (await mirrors.service(GLOBAL))['spec'] as { ports: readonly { name: string }[] };
    expect(Map.groupBy(ports, ({ name }) => name.slice(0, 2)).get('ht')).toMatchObject([{ name: 'http', port: 80 }]);
    for (const remote of REMOTES) {
      await eventually(() => program.metric(gauge, { remote, reason: 'port-conflict', kind: 'problem' }), 1);
    }
    await sources.remove('endpointslices', { name: 'web-a' });
    await eventually(endpoints, ['10.5.0.1', ...theirs]);
  });

  it('is updated, like other objects, while an API server refuses one slice as too large', async ({
    local,
    accounts,
    sources,
    secondSources,
    mirrors,
    startWithFile,
  }) => {
    const proxy = await startFaultProxy(local);
    onTestFinished(() => proxy.stop());
    await sources.add(web);
    await sources.addSlice(slice('web-a', '10.4.0.1'));
    await secondSources.add(web);
    await secondSources.addSlice(slice('web-a', '10.5.0.1'));
    await secondSources.addSlice(slice('web-b', '10.5.0.2'));
    const program = await startWithFile(global, { kubeconfig: await proxy.kubeconfig(accounts.local) });
    await mirrors.become({ [GLOBAL]: ['10.4.0.1', '10.5.0.1', '10.5.0.2'] });
    const slices = await mirrors.slices(GLOBAL);
    const { name } = slices.find(({ metadata }) => metadata.labels?.[mirrorClusterLabel] === 'c2')!.metadata;
    await proxy.set({ kind: 'answer', status: 413 }, { method: 'PUT', target: new RegExp(`/endpointslices/${name}$`) });
    await sources.patch('endpointslices', { name: 'web-a' }, { endpoints: [{ addresses: ['10.4.0.3'] }] });
    const refused = () => program.metric(gauge, { remote: 'c2', reason: 'refused', kind: 'problem' });
    await eventually(refused, 1);

    await secondSources.remove('endpointslices', { name: 'web-b' });
    await sources.add({ name: 'shop' });
    await mirrors.become({ [GLOBAL]: ['10.4.0.1', '10.5.0.1'], 'c2-default-73736d-shop': [] });
    await proxy.clear();
    await sources.patch('endpointslices', { name: 'web-a' }, { endpoints: [{ addresses: ['10.4.0.4'] }] });
    await eventually(async () => (await mirrors.endpoints())[GLOBAL], ['10.4.0.4', '10.5.0.1']);
    await eventually(refused, 0);
  });
});
