import { fuzz, mutateJson } from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';
import { ClusterAuthError } from '../errors.ts';
import { readExecCredential } from './exec-credential.ts';

const apiVersion = 'client.authentication.k8s.io/v1';
const status = { token: 'a.token-1', expirationTimestamp: '2026-01-01T00:00:00Z' };
const seeds = [
  { apiVersion, kind: 'ExecCredential', status },
  { apiVersion, kind: 'ExecCredential', status: { clientCertificateData: '-----BEGIN', clientKeyData: '-----BEGIN' } },
].map((printed) => Buffer.from(JSON.stringify(printed)));

it('what a plugin prints is read or refused, in linear time and a bounded heap', async () => {
  const run = (bytes: Buffer): unknown => readExecCredential(bytes.toString('utf8'), apiVersion, 'the plugin');
  const isExpected = (error: unknown): boolean => error instanceof ClusterAuthError;
  expect(await fuzz({ seeds, mutate: mutateJson, run, isExpected })).toMatchObject({ runs: expect.any(Number) });
});
