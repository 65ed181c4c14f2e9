import type { KubeClient } from '@kube-semaphore/kube-client';
import { Codec, type Service, serviceKind } from '@kube-semaphore/kube-objects';
import { expect, it } from 'vitest';
import { listAll } from './list-all.ts';

const codec = new Codec(serviceKind);
const service = (name: string): Service =>
  codec.objectFromJson({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'ns', uid: 'u', resourceVersion: '1' },
  });

it('has the objects of all pages, in order, with the same selection for each', async () => {
  const asked: object[] = [];
  const pages = new Map([
    ['', { items: [service('a'), service('b')], next: 'x' }],
    ['x', { items: [], next: 'y' }],
    ['y', { items: [service('c')], next: '' }],
  ]);
  const list = (
    _: unknown,
    { limit, continue: token = '', labelSelector }: { limit?: number; continue?: string; labelSelector?: string },
  ) => {
    asked.push({ limit, token, labelSelector });
    const { items, next } = pages.get(token)!;
    return Promise.resolve({ items, continue: next, resourceVersion: '9' });
  };
  const client = { list } as unknown as Pick<KubeClient, 'list'>;
  const found = await listAll(client, codec, { labelSelector: 'a=b', signal: new AbortController().signal });
  expect(found.map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c']);
  expect(asked).toEqual(['', 'x', 'y'].map((token) => ({ limit: 500, token, labelSelector: 'a=b' })));
});
