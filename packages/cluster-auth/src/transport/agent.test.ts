import { once } from 'node:events';
import https from 'node:https';
import type { Socket } from 'node:net';
import { createAuthority } from '@kube-semaphore/embedded-apiserver';
import { describe, expect, it } from 'vitest';
import { createAgent, isBusy } from './agent.ts';

const authority = await createAuthority();

describe('createAgent', () => {
  it('names what OpenSSL refuses', async () => {
    const { certPem } = await authority.issue({ usage: 'client', commonName: 'jane' });
    const { keyPem } = await authority.issue({ usage: 'client', commonName: 'joe' });
    const make = () => createAgent({ ca: authority.caPem, keyPair: { certPem, keyPem } });
    expect(make).toThrow(expect.objectContaining({ code: 'CLUSTER_CERTIFICATE' }));
    expect(make).toThrow("the CA or the client certificate can't be used: ERR_OSSL_X509_KEY_VALUES_MISMATCH");
  });

  it('keeps the pool key short, which is built for each request', () => {
    const agent = createAgent({ ca: authority.caPem });
    expect(agent.getName({ host: 'api', port: 6443 })).not.toContain('BEGIN');
  });

  it('is busy while it opens a connection, and not afterwards', async () => {
    const opening = Promise.withResolvers<Socket>();
    const agent = createAgent({ ca: authority.caPem, tunnel: () => opening.promise });
    const request = https.get({ agent, host: 'api' });
    const failed = once(request, 'error');
    expect(isBusy(agent)).toBe(true);
    opening.reject(new Error('refused'));
    await failed.catch(() => undefined);
    expect(isBusy(agent)).toBe(false);
  });
});
