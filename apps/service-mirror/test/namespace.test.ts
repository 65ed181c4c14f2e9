import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { localRules } from './support/accounts.ts';
import { it } from './support/it.ts';

const nowhere = 'nowhere';
const names = ['a', 'b', 'c'];

describe('a mirror namespace that is not there', () => {
  it('is said once, and all Services come when it is', async ({ local, sources, start }) => {
    for (const name of names) await sources.add({ name });
    // In all namespaces, as what goes by a Role is told of that, and not of the namespace.
    const { kubeconfig } = await local.account('anywhere', localRules);
    const program = await start({ 'mirror-ns': nowhere, 'kube-config': kubeconfig });
    await eventually(() => program.metric('semaphore_service_mirror_remote_up', { remote: 'local' }), 0);
    await eventually(async () => {
      const retries = await program.metric('semaphore_service_mirror_queue_retries_total', { name: 'c2-service' });
      return (retries ?? 0) >= 2 * names.length;
    }, true);
    const complaints = program.log().filter(({ msg }) => msg === 'service not written, will try again');
    expect(complaints).toMatchObject([{ level: 'warn', error: { code: 'NO_NAMESPACE', message: expect.stringContaining(`there is no namespace ${nowhere}`) } }]);

    await local.admin.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: nowhere } });
    const services = async () => (await local.admin.list(`/api/v1/namespaces/${nowhere}/services`)).map(({ metadata }) => metadata.name).toSorted();
    // The pause between two tries is 10 s at most.
    await eventually(services, names.map((name) => `c2-default-73736d-${name}`));
    await program.logged('local writes work again');
    await eventually(() => program.metric('semaphore_service_mirror_remote_up', { remote: 'local' }), 1);
  });
});
