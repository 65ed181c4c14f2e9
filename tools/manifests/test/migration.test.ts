import { describe, expect, it } from 'vitest';
import { render } from './support/render.ts';

describe('the base for a cluster whose Services are read', () => {
  it('keeps the Secret of the Go program under its name, as its token is in use', async () => {
    const secrets = (await render({ folder: 'service-mirror/remote' })).filter(({ kind }) => kind === 'Secret');
    const annotations = { 'kubernetes.io/service-account.name': 'semaphore-service-mirror-remote' };
    const type = 'kubernetes.io/service-account-token';
    expect(secrets).toMatchObject([
      { type, metadata: { name: 'semaphore-service-mirror-remote', namespace: 'kube-system', annotations } },
      { type, metadata: { name: 'semaphore-service-mirror-remote-token', namespace: 'kube-system', annotations } },
    ]);
  });
});
