/** A page of `/status`, as semaphore-policy in c1 serves it of c2. */
export const policyPage = (remote: object = {}): string =>
  JSON.stringify({
    schemaVersion: '1',
    app: 'semaphore-policy',
    version: '0.1.0',
    leader: true,
    local: reached,
    config: {},
    remotes: [
      {
        name: 'c2',
        ...reached,
        objects: { pods: 12, sets: 3 },
        heldDeletions: 0,
        skipped: [],
        config: { allowedPodCIDRs: ['10.4.0.0/16'] },
        ...remote,
      },
    ],
  });

const reached = {
  up: true,
  synced: true,
  since: '2026-01-01T00:00:00.000Z',
  lastSync: '2026-01-01T00:00:00.000Z',
  lastError: null,
};
