import { ConnectionError, KubeApiError } from '@kube-semaphore/kube-client';
import { expect, it } from 'vitest';
import { refusalOf } from './refusal.ts';

const answer = (status: number, message: string, causes: readonly string[] = []) =>
  new KubeApiError(message, { status, causes });

it.each([
  { error: answer(422, 'invalid'), reason: 'refused', kind: 'problem' },
  { error: answer(403, 'services "web" is forbidden: exceeded quota: few'), reason: 'refused', kind: 'problem' },
  {
    error: answer(403, 'services "web" is forbidden: unable to create new content in namespace shop', [
      'NamespaceTerminating',
    ]),
    reason: 'namespace-terminating',
    kind: 'expected',
  },
])('names $reason, with the words of the API server', ({ error, ...wanted }) => {
  expect(refusalOf(error)).toEqual({ ...wanted, detail: error.message });
});

it.each([
  answer(403, 'services is forbidden: User "u" cannot create resource "services" in API group ""'),
  answer(404, 'namespaces "shop" not found'),
  answer(409, 'it exists'),
  answer(503, 'busy'),
  new ConnectionError('reset'),
  undefined,
])('names nothing else: %s', (error) => {
  expect(refusalOf(error)).toBeUndefined();
});
