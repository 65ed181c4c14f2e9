import { globalNetworkSetKind } from '@kube-semaphore/kube-objects';
import { expect, it } from 'vitest';
import { idOf } from './companion-index.ts';

it('knows a group without a namespace, as it is written and as it is read', () => {
  const resource = globalNetworkSetKind('crd.projectcalico.org/v1');
  const written = { resource, object: { metadata: { name: 'c2' } } };
  const read = { resource, object: { metadata: { name: 'c2', namespace: '' } } };
  expect(idOf(written)).toBe(idOf(read));
});
