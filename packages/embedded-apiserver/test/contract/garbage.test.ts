import { eventually } from '@kube-semaphore/eventually';
import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/index.ts';
import { onEachServer, read } from './harness.ts';
import { lease, object, paths, service, slice } from './objects.ts';

/** An owner reference of `object`, as ours are. */
const ownedBy = (...owners: KubeObject[]) => ({
  ownerReferences: owners.map(({ apiVersion, kind, metadata: { name, uid } }) => ({ apiVersion, kind, name, uid })),
});

onEachServer(
  'a deletion, for those that belong to the object',
  (server) => {
    const create = (path: string, body: KubeObject) => server().cluster.admin.create(path, body);
    const remove = async (path: string, body?: unknown) => {
      const { status } = await server().send('DELETE', path, { ...(body !== undefined && { body }) });
      expect(status).toBe(200);
    };
    const isGone = async (path: string) => (await server().send('GET', path)).status === 404;

    /** Two Services and a slice of the first, of both, and one that belongs to the slice of the first. */
    async function family() {
      const namespace = await server().namespace();
      const [services, slices] = [paths.services(namespace), paths.slices(namespace)];
      const a = await create(services, service('a', { clusterIP: 'None' }));
      const b = await create(services, service('b', { clusterIP: 'None' }));
      const ofA = await create(slices, slice('of-a', {}, ownedBy(a)));
      await create(slices, slice('of-both', {}, ownedBy(a, b)));
      await create(slices, slice('of-slice', {}, ownedBy(ofA)));
      await create(slices, slice('of-nobody', {}));
      return { a: `${services}/a`, services, slices, b };
    }

    /** Waits until a garbage collector knows what there is: what was made last it has seen to. */
    async function isNoticed({
      services,
      slices,
    }: {
      readonly services: string;
      readonly slices: string;
    }): Promise<void> {
      const passing = await create(services, service('passing', { clusterIP: 'None' }));
      await create(slices, slice('of-passing', {}, ownedBy(passing)));
      await remove(`${services}/passing`);
      await eventually(() => isGone(`${slices}/of-passing`), true);
    }

    it.each([
      { name: 'deletes its dependents', body: undefined },
      { name: 'deletes its dependents in the background', body: { propagationPolicy: 'Background' } },
      { name: 'deletes its dependents first', body: { propagationPolicy: 'Foreground' } },
    ])('$name, but keeps those with another owner', async ({ body }) => {
      const { a, slices, b } = await family();
      await remove(a, body);
      await eventually(async () => {
        const gone = await Promise.all([a, `${slices}/of-a`, `${slices}/of-slice`].map(isGone));
        return gone.every(Boolean);
      }, true);
      await eventually(async () => {
        const { metadata } = read(await server().send('GET', `${slices}/of-both`));
        return (metadata['ownerReferences'] as { uid: string }[]).every(({ uid }) => uid === b.metadata.uid);
      }, true);
      expect(await isGone(`${slices}/of-nobody`)).toBe(false);
    });

    it('keeps objects that no longer name it', async () => {
      const { a, b, slices } = await family();
      const { metadata } = read(await server().send('GET', `${slices}/of-a`));
      const moved = slice('of-a', {}, { ...ownedBy(b), resourceVersion: metadata.resourceVersion });
      expect((await server().send('PUT', `${slices}/of-a`, { body: moved })).status).toBe(200);
      await create(slices, slice('last', {}, ownedBy(read(await server().send('GET', a)))));
      await remove(a);
      await eventually(() => isGone(`${slices}/last`), true);
      expect(await isGone(`${slices}/of-a`)).toBe(false);
    });

    it('deletes those of other kinds, too, also if it deletes a collection', async () => {
      const namespace = await server().namespace();
      const path = `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`;
      const policy = (name: string, metadata = {}) =>
        object('networking.k8s.io/v1 NetworkPolicy', name, { spec: { podSelector: {} } }, metadata);
      const source = await create(path, policy('source', { labels: { app: 'x' } }));
      await create(path, policy('companion', ownedBy(source)));
      await create(paths.leases(namespace), lease('companion', {}, ownedBy(source)));
      await create(path, policy('other'));
      await remove(`${path}?labelSelector=app%3Dx`);
      await eventually(() => isGone(`${path}/companion`), true);
      await eventually(() => isGone(`${paths.leases(namespace)}/companion`), true);
      expect(await isGone(`${path}/other`)).toBe(false);
    });

    it('removes the owner reference with the policy Orphan', async () => {
      const { a, services, slices } = await family();
      await isNoticed({ services, slices });
      const { metadata: before } = read(await server().send('GET', `${slices}/of-a`));
      await remove(`${a}?propagationPolicy=Orphan`);
      await eventually(() => isGone(a), true);
      const { metadata } = read(await server().send('GET', `${slices}/of-a`));
      expect(metadata).not.toHaveProperty('ownerReferences');
      expect({ uid: metadata.uid, isOther: metadata.resourceVersion !== before.resourceVersion }).toEqual({
        uid: before.uid,
        isOther: true,
      });
    });
  },
  { controllerManager: true },
);
