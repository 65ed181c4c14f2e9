import { startEmbeddedCluster } from '@kube-semaphore/embedded-apiserver';
import { expect, it, onTestFinished } from 'vitest';
import { contextsOf } from '../src/clusters/contexts.ts';
import { request } from '../src/clusters/objects.ts';
import { remove } from '../src/unlink/objects.ts';

it('a deletion names the object that was seen, and its body ends before the next request', async () => {
  const cluster = await startEmbeddedCluster({ name: 'c1' });
  onTestFinished(() => cluster.stop());
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
  const { metadata } = await cluster.admin.create('/api/v1/namespaces', namespace);
  const [context] = await contextsOf({ kubeconfig: cluster.adminKubeconfig });
  const { signal } = new AbortController();
  const shown = { kind: 'Namespace', namespace: undefined, isOurs: true, hasOtherManager: false, goes: false };
  const stored = { ...shown, name: 'Namespace shop', path: '/api/v1/namespaces/shop' };
  await expect(remove(context!, { ...stored, uid: 'another' }, { signal })).rejects.toThrow(/UID in the precondition/);
  expect(await request(context!, stored.path, { signal })).toMatchObject({ known: true, value: { metadata } });
  await remove(context!, { ...stored, uid: metadata.uid! }, { signal });
  expect(await request(context!, stored.path, { signal })).toEqual({ known: true, value: undefined });
});
